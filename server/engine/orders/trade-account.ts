import { and, eq } from 'drizzle-orm';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { deny } from '#domain/workflow/denials.ts';
import type { EngineDeps, UserAccount } from '#server/deps.ts';
import type { TradePlace } from '#server/engine/records/trades.store.ts';
import type { CallRecord } from '#server/exchanges/exchange.ts';
import { tradeEvents } from '#server/platform/db/schema.ts';
import { record, type TradeWork } from './trade-work.ts';

/** How often to retry an order whose exchange cannot be asked about it. */
const OBSTRUCTED_WAIT_MS = 30_000;

interface TradeAccount {
  /** Where to ask about the order; null when nowhere. */
  account: UserAccount | null;
  /** Why the order cannot be asked about, or only with a key that the exchange refuses; null when it can. */
  problem: string | null;
}

/**
 * The account that holds the trade's orders. I6: another account or mode does not know orders that were placed, so it
 * is not asked.
 */
export async function openTradeAccount(
  deps: Pick<EngineDeps, 'accountGuard' | 'config' | 'findAccount'>,
  trade: TradePlace,
): Promise<TradeAccount> {
  const platform = trade.exchangePlatform as ExchangePlatform;
  const found = await deps.findAccount(trade.userId, platform, { evenRejected: true });
  if (found === null) {
    const denial = await deps.accountGuard.deny(trade.userId, platform);
    return {
      account: null,
      problem: (denial ?? deny('exchange_not_connected', { exchange: platform })).reason,
    };
  }
  const elsewhere = whyElsewhere(deps, { trade, account: found, what: 'order' });
  if (elsewhere !== null) return { account: null, problem: elsewhere };
  const isRejected = found.denial?.code === 'exchange_key_rejected';
  return { account: found, problem: isRejected ? (found.denial?.reason ?? null) : null };
}

/** A trade of paper or demo mode while the program runs in another mode: unreadable, and without real money. */
export const isPlayMoneyElsewhere = (
  { config }: Pick<EngineDeps, 'config'>,
  { exchangeMode }: Pick<TradePlace, 'exchangeMode'>,
): boolean => exchangeMode !== null && exchangeMode !== 'live' && exchangeMode !== config.exchangeMode;

/** Why the account does not know the trade's order or position; null when it is the trade's own account. */
export function whyElsewhere(
  { config }: Pick<EngineDeps, 'config'>,
  options: { trade: TradePlace; account: UserAccount; what: 'order' | 'position' },
): string | null {
  const { trade, account, what } = options;
  const { exchangeMode, exchangeAccountId } = trade;
  const { accountId = null } = account;
  if (exchangeMode !== null && exchangeMode !== config.exchangeMode) {
    return `The ${what} belongs to ${exchangeMode} mode, and the program runs in ${config.exchangeMode} mode`;
  }
  if (exchangeAccountId === null || exchangeAccountId === accountId) return null;
  const connected = accountId === null ? 'an account that is not known' : `account ${accountId}`;
  return `The ${what} is in account ${exchangeAccountId}, and the connected API key belongs to ${connected}`;
}

/**
 * When to continue: later while the account has a problem, which the timeline names once. A key that still works does
 * not delay the protection of a position.
 */
export async function slowDown(
  work: TradeWork,
  { at, calls }: { at: Date; calls: readonly Pick<CallRecord, 'success'>[] },
): Promise<Date> {
  const { deps, trade } = work;
  const isRefused = calls.length > 0 && calls.every(({ success }) => !success);
  if (work.account !== null && !isRefused) return at;
  const { account, problem } = await openTradeAccount(deps, trade);
  if (problem === null || (account !== null && !isRefused)) return at;
  const text = `The order cannot be followed, it is tried every ${OBSTRUCTED_WAIT_MS / 1_000} s: ${problem}`;
  const [known] = await deps.db
    .select({ id: tradeEvents.id })
    .from(tradeEvents)
    .where(
      and(eq(tradeEvents.tradeId, trade.id), eq(tradeEvents.kind, 'timeline'), eq(tradeEvents.text, text)),
    )
    .limit(1);
  if (known === undefined) await record(work, { lines: [text] });
  return new Date(Math.max(at.getTime(), deps.clock.now().getTime() + OBSTRUCTED_WAIT_MS));
}
