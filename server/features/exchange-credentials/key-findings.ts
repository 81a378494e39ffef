import { type Denial, deny } from '#domain/denials.ts';
import { denyKey } from '#domain/exchange-key.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Deps } from '#server/deps.ts';
import {
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type KeyInspection,
} from '#server/exchanges/exchange.ts';
import { cutText } from '#server/platform/cut-text.ts';
import {
  type CredentialsOwner,
  type CredentialsRow,
  updateCredentials,
  wakeUnsettledTrades,
} from './exchange-credentials.store.ts';

type FindingDeps = Pick<Deps, 'clock' | 'config' | 'db' | 'jobs' | 'log'>;

/** Words of an exchange are kept up to this length. */
const LONGEST_REASON = 300;

/** What is stored of a key that was found to be good; it lifts an earlier rejection. */
export const findingsOfGoodKey = (
  deps: Pick<Deps, 'clock' | 'config'>,
  { accountMode, accountId }: KeyInspection,
) => ({
  accountMode,
  accountId,
  exchangeMode: deps.config.exchangeMode === 'paper' ? null : deps.config.exchangeMode,
  inspectedAt: deps.clock.now(),
  rejectedAt: null,
  rejectedReason: null,
});

/** The key may trade: from now on orders are placed with it, and those that waited for it go on. */
export async function acceptKey(
  deps: FindingDeps,
  row: CredentialsRow,
  inspection: KeyInspection,
): Promise<void> {
  const isNews = row.inspectedAt === null || row.rejectedAt !== null;
  await deps.db.transaction(async (tx) => {
    const isStill = await updateCredentials(tx, row, findingsOfGoodKey(deps, inspection));
    if (isStill && isNews) await wakeUnsettledTrades(tx, deps, ownerOf(row));
  });
}

/** From now on nothing is ordered with the key. */
export async function rejectKey(deps: FindingDeps, row: CredentialsRow, reason: string): Promise<void> {
  if (row.rejectedAt !== null) return;
  const changes = { rejectedAt: deps.clock.now(), rejectedReason: cutText(reason, LONGEST_REASON) };
  if (!(await updateCredentials(deps.db, row, changes))) return;
  const { userId, exchangePlatform } = row;
  deps.log.warn(
    { userId, exchangePlatform, reason: changes.rejectedReason },
    'exchange credentials rejected: nothing is traded with them',
  );
}

/** Asks the exchange what the stored key may do, and keeps the answer. Null: it may trade. */
export async function inspectStored(
  deps: FindingDeps,
  { row, account, exchange }: { row: CredentialsRow; account: ExchangeAccount; exchange: Exchange },
): Promise<Denial | null> {
  const { platform } = exchange;
  try {
    const key = await exchange.inspectKey(account);
    const problem = denyKey({ exchange: platform, wanted: exchange.accountMode, key });
    if (problem === null) await acceptKey(deps, row, key);
    else await rejectKey(deps, row, problem.reason);
    return problem;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    const { message } = error;
    if (error.kind === 'credentials') {
      // It has been marked where the answer arrived.
      const since = deps.clock.now().toISOString();
      return deny('exchange_key_rejected', { exchange: platform, since, reason: message });
    }
    return deny('exchange_key_not_inspected', { exchange: platform, message });
  }
}

const ownerOf = ({ userId, exchangePlatform }: CredentialsRow): CredentialsOwner => ({
  userId,
  platform: exchangePlatform as ExchangePlatform,
});
