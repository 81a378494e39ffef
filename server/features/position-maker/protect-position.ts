import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { PROTECTION_DEADLINE_MS } from '#domain/trading-constants.ts';
import { ExchangeError, type Protection } from '#server/exchanges/exchange.ts';
import { trades } from '#server/platform/database/schema.ts';
import { assertHeld } from '#server/platform/leases.ts';
import { protectionOrderId } from './client-order-id.ts';
import type { TradeWork } from './trade-work.ts';
import { addTimeline } from './trades.store.ts';

const RETRY_MS = 500;
/** So many tries are made even when the deadline passed while the program was down. */
const LEAST_TRIES = 2;
const MOST_TRIES = PROTECTION_DEADLINE_MS / RETRY_MS;

/**
 * I4: after a fill the stop is read back from the exchange; when it is not there it is placed, and when that fails
 * until the deadline, the caller closes the position.
 */
export async function protectPosition(work: TradeWork): Promise<'protected' | 'unprotected'> {
  const { deps, trade, attempt } = work;
  const seenAt = attempt.finishedAt ?? deps.clock.now();
  const deadline = seenAt.getTime() + PROTECTION_DEADLINE_MS;
  let problem = '';
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    if (tries > LEAST_TRIES && deps.clock.now().getTime() >= deadline) break;
    try {
      const status = await ensureProtection(work, tries);
      await recordProtection(work, status.status, status.text);
      return 'protected';
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error;
      problem = error.message;
      deps.log.error({ err: error, tradeId: trade.id }, 'a filled position has no verified stop yet');
      await sleep(RETRY_MS);
    }
  }
  await recordProtection(work, 'missing', `The stop loss could not be placed: ${problem}`);
  return 'unprotected';
}

async function ensureProtection(
  work: TradeWork,
  round: number,
): Promise<{ status: 'verified' | 'repaired'; text: string }> {
  const { account, exchange, trade, deps, onCall } = work;
  if (account === null) throw new ExchangeError('credentials', 'the exchange credentials are gone');
  const position = await exchange.fetchPosition(account, trade.token, { onCall });
  if (position === null)
    return { status: 'verified', text: 'The position is closed already, nothing to protect' };
  const before = await exchange.fetchProtection(account, trade.token, { onCall });
  if (isWhole(before)) {
    return {
      status: 'verified',
      text: `Protection read back: stop ${before.stopLoss}, target ${before.takeProfit}`,
    };
  }
  await exchange.placeProtection(
    account,
    {
      token: trade.token,
      side: position.side,
      quantity: position.quantity,
      stopLoss: before.stopLoss === null ? trade.stopLoss : null,
      takeProfit: before.takeProfit === null ? trade.takeProfit : null,
      clientOrderId: protectionOrderId(trade.id, round),
    },
    { onCall, notAfter: new Date(deps.clock.now().getTime() + PROTECTION_DEADLINE_MS) },
  );
  const after = await exchange.fetchProtection(account, trade.token, { onCall });
  if (after.stopLoss === null) throw new ExchangeError('unknown', 'the stop loss is still not there');
  return {
    status: 'repaired',
    text: `Protection was missing and is placed: stop ${after.stopLoss}, target ${after.takeProfit ?? 'none'}`,
  };
}

const isWhole = (protection: Protection): boolean =>
  protection.stopLoss !== null && protection.takeProfit !== null;

async function recordProtection(
  { deps, lease, trade }: TradeWork,
  status: 'verified' | 'repaired' | 'missing',
  text: string,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    await tx.update(trades).set({ protectionStatus: status }).where(eq(trades.id, trade.id));
    await addTimeline(tx, { tradeId: trade.id, at: deps.clock.now(), text });
  });
}
