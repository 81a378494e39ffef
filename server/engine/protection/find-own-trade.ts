import { D, isPositive } from '#domain/decimal.ts';
import { openedApartMs } from '#domain/orders/held-position.ts';
import type { Deps } from '#server/deps.ts';
import type { TradeRow } from '#server/engine/records/trades.store.ts';
import {
  type ClosedPosition,
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
} from '#server/exchanges/exchange.ts';
import { listKnownPositionIds } from './positions.store.ts';
import { CLOCK_DOUBT_MS, nearestTrade } from './record-closings.ts';

type OwnerDeps = Pick<Deps, 'db' | 'clock' | 'log'>;

/**
 * The trade that opened a held position; null when it was opened elsewhere. `candidates`: the user's trades in this
 * account whose position is not known to be closed. Clocks may differ, so times that are up to half an hour apart do not
 * disown: a filled trade of the position's side is its owner unless the exchange's own history shows that the trade's
 * position was closed before this one was opened. Asks the exchange only when the times do not fit.
 */
export async function findOwnTrade<Trade extends TradeRow>(
  deps: OwnerDeps,
  options: {
    userId: string;
    exchange: Exchange;
    account: ExchangeAccount;
    candidates: readonly Trade[];
    position: { token: string; side: 'long' | 'short'; openedAt: Date | null };
  },
): Promise<Trade | null> {
  const { userId, exchange, account, candidates, position } = options;
  const now = deps.clock.now();
  const near = nearestTrade(candidates, position, { now, aheadMs: exchange.clockAheadMs() });
  if (near !== null) return near;
  const filled = candidates
    .filter(({ token }) => token === position.token)
    .filter((trade) => openedApartMs({ trade, position, now, slackMs: CLOCK_DOUBT_MS }) !== null)
    .filter(({ filledQuantity, protectedQuantity }) => isPositive(protectedQuantity ?? filledQuantity));
  const newest = filled.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()).at(-1);
  if (newest === undefined) return null;
  const since = new Date(newest.createdAt.getTime() - CLOCK_DOUBT_MS);
  const told = await readHistory(deps, { userId, exchange, account, since });
  const known =
    told.length === 0
      ? new Set<string>()
      : await listKnownPositionIds(deps.db, { userId, exchangePlatform: exchange.platform });
  const isEnd = (closed: ClosedPosition) =>
    closed.token === position.token &&
    closed.side === position.side &&
    !known.has(closed.positionId) &&
    D(closed.quantity).gte(newest.filledQuantity) &&
    // Both are the exchange's own times.
    (position.openedAt === null || closed.closedAt <= position.openedAt);
  return told.some(isEnd) ? null : newest;
}

/** A history that cannot be read is no evidence: the position stays ours. */
async function readHistory(
  { log }: OwnerDeps,
  of: { userId: string; exchange: Exchange; account: ExchangeAccount; since: Date },
): Promise<ClosedPosition[]> {
  const { userId, exchange, account, since } = of;
  try {
    return await exchange.fetchClosedPositions(account, { since });
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    log.warn({ err: error, userId }, 'the history of positions could not be read');
    return [];
  }
}
