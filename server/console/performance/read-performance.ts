import type { CurrentUser } from '#contract/auth.ts';
import type {
  CalendarAnswer,
  ClosedTradesAnswer,
  ClosedTradesQuery,
  PerformanceAnswer,
  PerformanceQuery,
  ResultFilter,
} from '#contract/performance.ts';
import { D, roundHalfUp, toPlain } from '#domain/decimal.ts';
import {
  addSums,
  distributionOfHolding,
  distributionOfR,
  figuresOf,
  fillRateOf,
  type OrderCounts,
  type ResultSums,
} from '#domain/results/figures.ts';
import type { Deps } from '#server/deps.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { countOrders } from './count-orders.ts';
import { hasWholeHours } from './cover-range.ts';
import {
  findDrawdowns,
  type Grouping,
  listClosedTrades,
  listUsernames,
  sumDays,
  sumResults,
  type Trades,
} from './performance.store.ts';

type ResultDeps = Pick<Deps, 'db' | 'clock' | 'config'>;

const MOST_DAYS = 400;

/** Of everybody for administrators, unless they name a user; others see only their own. */
function tradesFor(user: CurrentUser, { from, to, ...filter }: ResultFilter): Trades {
  if (!user.isAdmin && filter.userId !== undefined && filter.userId !== user.id) {
    throw new AppError('adminOnly');
  }
  const range = { from: from ?? null, to: to ?? null };
  return user.isAdmin ? { ...filter, ...range } : { ...filter, ...range, userId: user.id };
}

export async function readPerformance(
  deps: ResultDeps,
  user: CurrentUser,
  {
    groupBy = null,
    ...filter
  }: Omit<PerformanceQuery, 'groupBy'> & { groupBy?: PerformanceQuery['groupBy'] | null },
): Promise<PerformanceAnswer> {
  const trades = tradesFor(user, filter);
  const grouping = groupingBy(deps, trades, groupBy);
  const now = deps.clock.now();
  const [results, orders, falls, [fall], users] = await Promise.all([
    sumResults(deps.db, trades, grouping),
    countOrders(deps.db, trades, grouping),
    groupBy === null ? new Map<string, string>() : findDrawdowns(deps.db, trades, { ...grouping, now }),
    findDrawdowns(deps.db, trades, { ...grouping, by: null, now }).then((found) => [...found.values()]),
    groupBy === 'user' ? listUsernames(deps.db, trades.userId) : [],
  ]);
  const names = new Map(users.map(({ id, username }) => [id, username]));
  const sums = new Map(results.map((group) => [group.key, group.sums]));
  const totals = addSums([...sums.values()]);
  // A group may have orders and no closed trade, or the other way round.
  const keys = groupBy === null ? [] : [...new Set([...sums.keys(), ...orders.keys()])];
  const isInOrder = groupBy === 'hour' || groupBy === 'weekday';
  return {
    timeZone: deps.config.displayTimezone,
    totals: {
      ...toView(totals, addOrders([...orders.values()]), fall),
      distributionOfR: distributionOfR(totals.rHistogram),
      distributionOfHolding: distributionOfHolding(totals.holdingHistogram),
    },
    groupBy,
    groups: keys
      .map((key) => ({
        key,
        label: names.get(key) ?? key,
        ...toView(sums.get(key) ?? addSums([]), orders.get(key) ?? NO_ORDERS, falls.get(key)),
      }))
      .sort((a, b) =>
        isInOrder ? a.key.localeCompare(b.key) : D(b.net).cmp(a.net) || a.label.localeCompare(b.label),
      ),
    at: now.toISOString(),
  };
}

const NO_ORDERS: OrderCounts = { orders: 0, filled: 0 };

const addOrders = (parts: readonly OrderCounts[]): OrderCounts => ({
  orders: parts.reduce((total, { orders }) => total + orders, 0),
  filled: parts.reduce((total, { filled }) => total + filled, 0),
});

const toView = (sums: ResultSums, orders: OrderCounts, fall = '0') => ({
  ...figuresOf(sums),
  maxDrawdown: toPlain(fall),
  ...orders,
  fillRate: fillRateOf(orders),
});

function groupingBy({ config, clock }: ResultDeps, trades: Trades, by: Grouping['by']): Grouping {
  const timeZone = config.displayTimezone;
  return { by, timeZone, isWholeHours: hasWholeHours(timeZone, trades, clock.now()) };
}

export async function readCalendar(
  deps: ResultDeps,
  user: CurrentUser,
  filter: ResultFilter,
): Promise<CalendarAnswer> {
  const trades = tradesFor(user, filter);
  const { timeZone, isWholeHours } = groupingBy(deps, trades, null);
  const days = await sumDays(deps.db, trades, { timeZone, isWholeHours, limit: MOST_DAYS });
  return {
    timeZone,
    days: days.map((day) => ({ ...day, net: toPlain(day.net) })).reverse(),
    daysUp: days.filter(({ net }) => D(net).gt(0)).length,
    daysDown: days.filter(({ net }) => D(net).lt(0)).length,
  };
}

export async function readClosedTrades(
  deps: ResultDeps,
  user: CurrentUser,
  { sort, order, page, limit, ...filter }: ClosedTradesQuery,
): Promise<ClosedTradesAnswer> {
  const trades = tradesFor(user, filter);
  const [rows, [all]] = await Promise.all([
    listClosedTrades(deps.db, trades, { sort, order, page, limit }),
    sumResults(deps.db, trades, groupingBy(deps, trades, null)),
  ]);
  const plain = (value: string | null) => (value === null ? null : toPlain(value));
  const iso = (text: string) => new Date(text).toISOString();
  return {
    totalCount: all?.sums.trades ?? 0,
    trades: rows.map((row) => ({
      id: row.id,
      tradeId: row.trade_id,
      userId: row.user_id,
      username: row.username,
      processor: row.processor,
      token: row.token,
      timeframe: row.timeframe,
      sizingMethod: row.sizing_method,
      side: row.side,
      openedAt: iso(row.opened_at),
      closedAt: iso(row.closed_at),
      net: plain(row.net),
      gross: plain(row.gross),
      fees: plain(row.fees),
      funding: plain(row.funding),
      r: plain(row.r),
      slippageSignal: plain(row.slippage_signal),
      slippageEntry: plain(row.slippage_entry),
      holdingMinutes: row.holding_ms === null ? null : roundHalfUp(D(row.holding_ms).div(60_000), 2),
    })),
  };
}
