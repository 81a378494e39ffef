import { z } from 'zod';
import { filterInstant, filterText, pagingQuery } from './paging.ts';

export const RESULT_GROUPS = [
  'user',
  'processor',
  'token',
  'timeframe',
  'sizingMethod',
  'side',
  'hour',
  'weekday',
] as const;
export type ResultGroup = (typeof RESULT_GROUPS)[number];

/** Which closed trades: closed at or after `from` and before `to`; orders: begun in it. Ordinary users get their own. */
const resultFilter = z.object({
  from: filterInstant,
  to: filterInstant,
  userId: z.uuid().optional(),
  processor: filterText,
  token: filterText,
  timeframe: filterText,
  sizingMethod: filterText,
});
export type ResultFilter = z.infer<typeof resultFilter>;

const isRange = ({ from, to }: { from?: Date | undefined; to?: Date | undefined }) =>
  from === undefined || to === undefined || from < to;
const RANGE = { error: 'from must be before to' };

export const performanceQuery = resultFilter
  .extend({
    groupBy: z.enum(RESULT_GROUPS, `groupBy must be one of ${RESULT_GROUPS.join(', ')}`).optional(),
  })
  .refine(isRange, RANGE);
export type PerformanceQuery = z.infer<typeof performanceQuery>;
export const calendarQuery = resultFilter.refine(isRange, RANGE);

const amount = z.string();
const slippage = z.object({ median: amount.nullable(), p95: amount.nullable() });

/** Decimal strings; docs/results.md has the formula of each. Null: not defined for these trades. */
export const resultFigures = z.object({
  trades: z.number(),
  wins: z.number(),
  losses: z.number(),
  /** Percent. */
  winRate: amount.nullable(),
  /** USDT. */
  net: amount,
  gross: amount,
  fees: amount,
  funding: amount,
  profitFactor: amount.nullable(),
  averageNet: amount.nullable(),
  expectancyR: amount.nullable(),
  averageR: amount.nullable(),
  best: amount.nullable(),
  worst: amount.nullable(),
  /** USDT, zero or above: the largest fall of the cumulative net from its highest value. */
  maxDrawdown: amount,
  averageHoldingMinutes: amount.nullable(),
  /** Of orders that were begun in the range and have ended: how many were filled, wholly or partly. Percent. */
  orders: z.number(),
  filled: z.number(),
  fillRate: amount.nullable(),
  /** Basis points; positive is worse. */
  slippageBps: z.object({ signal: slippage, entry: slippage }),
  /** How many trades each sum leaves out, because the exchange has not told it. */
  unknown: z.object({
    net: z.number(),
    gross: z.number(),
    fees: z.number(),
    funding: z.number(),
    r: z.number(),
    slippageSignal: z.number(),
    slippageEntry: z.number(),
  }),
});
export type ResultFiguresView = z.infer<typeof resultFigures>;

/** GET /api/performance */
export const performanceAnswer = z.object({
  timeZone: z.string(),
  totals: resultFigures.extend({
    /** By R to the nearest half; the first and last hold everything beyond. */
    distributionOfR: z.array(z.object({ r: amount, trades: z.number() })),
    /** By holding up to so many minutes; null: longer. */
    distributionOfHolding: z.array(z.object({ upToMinutes: amount.nullable(), trades: z.number() })),
  }),
  groupBy: z.enum(RESULT_GROUPS).nullable(),
  /** Highest net first; by hour (00 to 23) and weekday (1 is Monday) in their order. */
  groups: z.array(resultFigures.extend({ key: z.string(), label: z.string() })),
  at: z.string(),
});
export type PerformanceAnswer = z.infer<typeof performanceAnswer>;

/** GET /api/performance/calendar: days of the display zone with closed trades, oldest first, at most the newest 400. */
export const calendarAnswer = z.object({
  timeZone: z.string(),
  days: z.array(z.object({ day: z.string(), net: amount, trades: z.number(), unknown: z.number() })),
  daysUp: z.number(),
  daysDown: z.number(),
});
export type CalendarAnswer = z.infer<typeof calendarAnswer>;

export const equityQuery = z
  .object({ from: filterInstant, to: filterInstant, userId: z.uuid().optional() })
  .refine(isRange, RANGE);
export type EquityQuery = z.infer<typeof equityQuery>;

/** GET /api/performance/equity: what accounts were worth, recorded once an hour; a point a day over more than 8 days, a week over more than 100. */
export const equityAnswer = z.object({
  timeZone: z.string(),
  unit: z.enum(['hour', 'day', 'week']),
  /** Oldest first; without `to` the last one is of now. */
  points: z.array(
    z.object({
      at: z.string(),
      /** USDT, open profit included. An account that was not read then counts with what was recorded before. */
      equity: amount,
      /** Since the first point; an account that comes or goes changes nothing. */
      change: amount,
      accounts: z.number(),
      /** Every account was read then. */
      complete: z.boolean(),
    }),
  ),
  /** The largest fall: of `change` in USDT, and of the growth in percent (null: something began with nothing). */
  maxDrawdown: z.object({ amount, percent: amount.nullable() }),
  /** `unknown`: the exchanges do not report deposits and withdrawals with balances, so `change` may contain some. */
  deposits: z.enum(['none', 'unknown']),
  at: z.string(),
});
export type EquityAnswer = z.infer<typeof equityAnswer>;

/** GET /api/performance/equity/accounts: each account over the last 7 days, as recorded, every 6 hours. */
export const equityTrendsAnswer = z.object({
  accounts: z.array(
    z.object({
      userId: z.string(),
      exchangePlatform: z.string(),
      points: z.array(z.object({ at: z.string(), equity: amount })),
    }),
  ),
  at: z.string(),
});
export type EquityTrendsAnswer = z.infer<typeof equityTrendsAnswer>;

export const closedTradesQuery = resultFilter
  .extend({
    ...pagingQuery(50).shape,
    sort: z.enum(['time', 'net', 'r'], 'sort must be time, net or r').default('time'),
    order: z.enum(['asc', 'desc'], 'order must be asc or desc').default('desc'),
  })
  .refine(isRange, RANGE);
export type ClosedTradesQuery = z.infer<typeof closedTradesQuery>;

/** Null: unknown. */
export const closedTrade = z.object({
  id: z.string(),
  tradeId: z.string(),
  userId: z.string(),
  username: z.string(),
  processor: z.string(),
  token: z.string(),
  timeframe: z.string(),
  sizingMethod: z.string(),
  side: z.enum(['long', 'short']),
  openedAt: z.string(),
  closedAt: z.string(),
  net: amount.nullable(),
  gross: amount.nullable(),
  fees: amount.nullable(),
  funding: amount.nullable(),
  r: amount.nullable(),
  slippageSignal: amount.nullable(),
  slippageEntry: amount.nullable(),
  holdingMinutes: amount.nullable(),
});
export type ClosedTradeView = z.infer<typeof closedTrade>;

/** GET /api/performance/trades */
export const closedTradesAnswer = z.object({ trades: z.array(closedTrade), totalCount: z.number() });
export type ClosedTradesAnswer = z.infer<typeof closedTradesAnswer>;

/** GET /api/performance/choices: what there are closed trades of, by name. */
export const resultChoices = z.object({
  users: z.array(z.object({ id: z.string(), username: z.string() })),
  processors: z.array(z.string()),
  tokens: z.array(z.string()),
  timeframes: z.array(z.string()),
  sizingMethods: z.array(z.string()),
});
export type ResultChoices = z.infer<typeof resultChoices>;
