import { D } from '#domain/decimal.ts';
import { closedBy } from '#domain/orders/closed-by.ts';
import { openedApartMs } from '#domain/orders/held-position.ts';
import { plannedProtection } from '#domain/orders/protection.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { Deps } from '#server/deps.ts';
import {
  type AccountKey,
  closeTrade,
  findCloseReason,
  listKnownPositionIds,
  type NewClosedPosition,
  type OpenTrade,
  recordClosedPosition,
  recordGone,
} from '#server/engine/protection/positions.store.ts';
import {
  type ClosedPosition,
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
} from '#server/exchanges/exchange.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

type ClosingDeps = Pick<Deps, 'db' | 'clock' | 'log'>;

interface GonePositions {
  key: AccountKey;
  exchange: Exchange;
  account: ExchangeAccount;
  gone: OpenTrade[];
  /** Those of them that an earlier reading missed too: only they are recorded as gone without a word of the history. */
  missedAgain: ReadonlySet<string>;
}

/** An exchange may show a position a moment after the fill that opened it. */
const GONE_AFTER_MS = 5_000;
/** After this time the exchange's history will not report the closing any more. */
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;
/** How far the clocks of an exchange and of this machine may be apart when their times are compared all the same. */
export const CLOCK_DOUBT_MS = 30 * 60_000;
/** How far, as a part of it, two average prices of the same fills may be apart. */
const PRICE_ROUNDING = '0.00001';

/**
 * Records how the positions of these trades ended, from the exchange's history, before the exchange forgets it. If the
 * history reports nothing, a trade that two readings missed is recorded as gone. Any instance may do this at any time: a
 * position is recorded once.
 */
export async function recordClosings(
  deps: ClosingDeps,
  options: GonePositions & { askHistory: boolean },
): Promise<void> {
  const { key, exchange, account, gone, missedAgain, askHistory } = options;
  const told = askHistory ? await readHistory(deps, options) : [];
  const known = told.length === 0 ? new Set<string>() : await listKnownPositionIds(deps.db, key);
  const news = told.filter(({ positionId }) => !known.has(positionId));
  for (const trade of gone) {
    const own = closingsOf(trade, { gone, news, now: deps.clock.now(), aheadMs: exchange.clockAheadMs() });
    for (const position of own) {
      const order = await readClosingOrder(exchange, account, position);
      const closeReason =
        order === null
          ? null
          : await findCloseReason(deps.db, { userId: key.userId, clientOrderId: order.clientOrderId });
      await recordClosedPosition(deps.db, {
        ...rowOf(deps, key, trade),
        exchangePositionId: position.positionId,
        quantity: position.quantity,
        entryPrice: position.entryPrice,
        closePrice: position.closePrice,
        realisedProfit: position.realisedProfit,
        fees: position.fees,
        closedBy: closedBy({
          ...plannedProtection(trade),
          ...position,
          closeReason,
          source: order?.source ?? null,
        }),
        funding: position.funding,
        openedAt: position.openedAt,
        closedAt: position.closedAt,
      });
    }
    if (own.length === 0 && missedAgain.has(trade.id)) await noteGone(deps, key, trade);
  }
}

/**
 * The closed positions that were the trade's: those whose opening fits its time, else the only one that was opened within
 * the time that clocks may be apart and equals its fill. Any other may be its owner's: then the end is not known.
 */
function closingsOf(
  trade: OpenTrade,
  read: { gone: OpenTrade[]; news: ClosedPosition[]; now: Date; aheadMs: number | null },
): ClosedPosition[] {
  const { gone, news, ...clocks } = read;
  const near = news.filter((position) => nearestTrade(gone, position, clocks)?.id === trade.id);
  if (near.length > 0) return near;
  const equal = news
    .filter((position) => isFillOf(trade, position))
    .filter(
      (position) => nearestTrade(gone, position, { ...clocks, slackMs: CLOCK_DOUBT_MS })?.id === trade.id,
    );
  return equal.length === 1 ? equal : [];
}

/** Whether the position has the quantity of the trade's fill, and its price except for the exchange's rounding. */
function isFillOf({ filledQuantity, averagePrice }: OpenTrade, position: ClosedPosition): boolean {
  if (averagePrice === null || !D(position.quantity).eq(filledQuantity)) return false;
  return D(position.entryPrice).div(averagePrice).minus(1).abs().lte(PRICE_ROUNDING);
}

/**
 * Assigns a position to the nearest of several trades that are close to each other. Its time is compared as the exchange
 * said it and corrected by the difference of the clocks: one of them may have been set since.
 */
export function nearestTrade<Trade extends Pick<OpenTrade, 'token' | 'side' | 'createdAt' | 'completedAt'>>(
  candidates: readonly Trade[],
  position: { token: string; side: 'long' | 'short'; openedAt: Date | null },
  { aheadMs, ...limits }: { now: Date; aheadMs: number | null; slackMs?: number },
): Trade | null {
  const { openedAt } = position;
  const corrected = openedAt && new Date(openedAt.getTime() - (aheadMs ?? 0));
  const near = candidates
    .filter(({ token }) => token === position.token)
    .flatMap((trade) => {
      const apart = [openedAt, corrected].flatMap(
        (at) => openedApartMs({ trade, position: { ...position, openedAt: at }, ...limits }) ?? [],
      );
      return apart.length === 0 ? [] : [{ trade, apartMs: Math.min(...apart) }];
    })
    .sort((a, b) => a.apartMs - b.apartMs || b.trade.createdAt.getTime() - a.trade.createdAt.getTime());
  return near[0]?.trade ?? null;
}

async function readHistory(
  { log }: ClosingDeps,
  { key, exchange, account, gone }: GonePositions,
): Promise<ClosedPosition[]> {
  const oldest = Math.min(...gone.map(({ createdAt }) => createdAt.getTime()));
  try {
    return await exchange.fetchClosedPositions(account, { since: new Date(oldest - CLOCK_DOUBT_MS) });
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    log.warn({ err: error, userId: key.userId }, 'the history of positions could not be read');
    return [];
  }
}

/** Without the order, only the price can tell what ended the position. */
async function readClosingOrder(exchange: Exchange, account: ExchangeAccount, position: ClosedPosition) {
  try {
    return await exchange.findClosingOrder(account, position);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return null;
  }
}

async function noteGone(deps: ClosingDeps, key: AccountKey, trade: OpenTrade): Promise<void> {
  const now = deps.clock.now();
  const goneMs = (since: Date | null) => (since === null ? 0 : now.getTime() - since.getTime());
  if (trade.goneSince !== null) {
    if (goneMs(trade.goneSince) > GIVEN_UP_AFTER_MS) await closeTrade(deps.db, trade.id, trade.goneSince);
    return;
  }
  if (goneMs(trade.completedAt) < GONE_AFTER_MS) return;
  await recordGone(deps.db, goneRow(deps, { key, trade, since: now }));
}

const rowOf = (deps: Pick<ClosingDeps, 'clock'>, key: AccountKey, trade: OpenTrade) => ({
  id: timeOrderedId(),
  tradeId: trade.id,
  ...key,
  token: trade.token,
  side: sideOpenedBy(trade.side),
  recordedAt: deps.clock.now(),
});

/** The row of a position that counts as ended since `since`, with nothing else known. */
export function goneRow(
  deps: Pick<ClosingDeps, 'clock'>,
  { key, trade, since }: { key: AccountKey; trade: OpenTrade; since: Date },
): NewClosedPosition {
  return {
    ...rowOf(deps, key, trade),
    exchangePositionId: null,
    quantity: trade.filledQuantity,
    entryPrice: trade.averagePrice ?? trade.entryPrice,
    closedBy: 'unknown',
    openedAt: trade.createdAt,
    closedAt: since,
  };
}
