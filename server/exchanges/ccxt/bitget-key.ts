import { ExchangeError, type KeyInspection } from '../exchange.ts';
import { currentScope } from './call-scope.ts';
import type { CcxtClient } from './dialect.ts';
import type { BitgetClient } from './library.ts';

/*
 * Permissions as Bitget's documentation of GET /api/v2/spot/account/info lists them. Its own example shows the older
 * words `trade` and `readonly`; neither was seen live. An unknown permission neither allows trading nor forbids the
 * key, unless its name speaks of withdrawing.
 */
const ORDERS = ['coow', 'trade'];
const POSITIONS = ['cpow', 'cpor', 'trade'];
const WITHDRAWAL = ['wwow'];
const PERMISSION_MISSING = '40014';

/** Reads the answer of the account information; the path is one of classic accounts alone. */
export function keyInspectionIn(answer: unknown): KeyInspection {
  const { data } = Object(answer) as { data?: unknown };
  const { userId, authorities } = Object(data) as { userId?: unknown; authorities?: unknown };
  if (!Array.isArray(authorities)) throw new RangeError('The exchange answered no list of permissions');
  const granted = authorities.map((one) => String(one).trim().toLowerCase());
  const grants = (names: readonly string[]) => granted.some((one) => names.includes(one));
  return {
    accountMode: 'classic',
    mayTrade: grants(ORDERS) && grants(POSITIONS),
    mayWithdraw: grants(WITHDRAWAL) || granted.some((one) => one.includes('withdraw')),
    accountId: typeof userId === 'string' || typeof userId === 'number' ? String(userId) || null : null,
  };
}

export async function inspectBitgetKey(client: CcxtClient): Promise<KeyInspection> {
  try {
    const answer: unknown = await (client as BitgetClient).privateSpotGetV2SpotAccountInfo();
    return keyInspectionIn(answer);
  } catch (error) {
    if (!currentScope().answer?.body.includes(`"${PERMISSION_MISSING}"`)) throw error;
    // Copies of the documentation differ on whether this needs the right to read spot.
    const message = `Bitget: the key may not read what it may do; give it the right to read spot, too (${PERMISSION_MISSING})`;
    throw new ExchangeError('credentials', message, { code: PERMISSION_MISSING, cause: error });
  }
}
