import { z } from 'zod';
import { CLOSED_BY } from '#domain/orders/closed-by.ts';
import { filterInstant, pagingQuery } from './paging.ts';
import { limitedText } from './text.ts';

/** How far a position's exit plan is. Prices in USDT, quantities in units of the token. */
const exitProgress = z.object({
  parts: z.array(z.object({ atR: z.string(), price: z.string(), quantity: z.string(), isDone: z.boolean() })),
  breakEven: z.object({ atPrice: z.string(), stopLoss: z.string(), isDone: z.boolean() }).nullable(),
  trail: z.union([z.object({ distance: z.string() }), z.object({ percent: z.string() })]).nullable(),
  /** When the rest is closed. */
  until: z.string().nullable(),
  /** Why its last step failed, which is tried again; null when none has since. */
  problem: z.string().nullable(),
  /** Why the plan is not followed any more; null while it is. */
  ended: z.string().nullable(),
});
export type ExitProgress = z.infer<typeof exitProgress>;

/** A position as the exchange reports it now, next to our record of it. Amounts and prices are decimal strings. */
export const openPosition = z.object({
  userId: z.string(),
  username: z.string(),
  exchangePlatform: z.string(),
  token: z.string(),
  side: z.enum(['long', 'short']),
  /** In units of the token. */
  quantity: z.string(),
  entryPrice: z.string(),
  markPrice: z.string().nullable(),
  leverage: z.number(),
  margin: z.string(),
  unrealisedProfit: z.string(),
  liquidationPrice: z.string().nullable(),
  openedAt: z.string().nullable(),
  /** Stop loss and take profit as set at the exchange. */
  stopLoss: z.string().nullable(),
  takeProfit: z.string().nullable(),
  /** Our trade that opened the position; null when it was not opened here. */
  tradeId: z.string().nullable(),
  /** The strategy whose signal opened it; null when it was not opened here. */
  processor: z.string().nullable(),
  /** That signal and its timeframe; null when it was not opened here. */
  signalId: z.string().nullable(),
  timeframe: z.string().nullable(),
  /** Where exchange and record disagree, in words; empty when they agree. */
  differences: z.array(z.string()),
  /** Absent: it follows no exit plan. */
  exits: exitProgress.optional(),
});
export type OpenPositionView = z.infer<typeof openPosition>;

export const closedPosition = z.object({
  tradeId: z.string(),
  userId: z.string(),
  username: z.string(),
  exchangePlatform: z.string(),
  token: z.string(),
  side: z.enum(['long', 'short']),
  quantity: z.string(),
  entryPrice: z.string(),
  stopLoss: z.string(),
  takeProfit: z.string(),
  closePrice: z.string().nullable(),
  /** Before fees; null until the exchange reports it. */
  realisedProfit: z.string().nullable(),
  fees: z.string().nullable(),
  closedBy: z.enum(CLOSED_BY),
  openedAt: z.string(),
  /** Until the exchange reports the time, when the position was first seen closed. */
  closedAt: z.string(),
  /** Where exchange and record disagree, in words; empty when they agree. */
  differences: z.array(z.string()),
});
export type ClosedPositionView = z.infer<typeof closedPosition>;

export const positionsTotals = z.object({
  openCount: z.number(),
  unrealisedProfit: z.string(),
  margin: z.string(),
  realisedProfit: z.string(),
  fees: z.string(),
});

/** A position as it was opened; whether it is still open is unknown. */
export const hiddenPosition = z.object({
  tradeId: z.string(),
  exchangePlatform: z.string(),
  token: z.string(),
  side: z.enum(['long', 'short']),
  quantity: z.string(),
});
export type HiddenPositionView = z.infer<typeof hiddenPosition>;

/** GET /api/positions (administrators, filters userId and token) and GET /api/my-positions (the caller's own). */
export const positionsAnswer = z.object({
  open: z.array(openPosition),
  /** Newest first, at most `limit`. */
  closed: z.array(closedPosition),
  /** All closed positions, shown or not; the totals and sums below cover all of them. */
  closedCount: z.number(),
  totals: positionsTotals,
  perUser: z.array(positionsTotals.extend({ userId: z.string(), username: z.string() })),
  perToken: z.array(positionsTotals.extend({ token: z.string() })),
  /** Running total of realised profit after fees since the first position; the newest 1,000 points, oldest first. */
  cumulativeProfit: z.array(z.object({ at: z.string(), profit: z.string() })),
  /** Accounts that could not be read, or only in part: some of their positions are missing in `open`. */
  unreachable: z.array(
    z.object({
      userId: z.string(),
      username: z.string(),
      message: z.string(),
      /** Positions that were opened here in an account that is no longer connected. */
      hidden: z.array(hiddenPosition),
    }),
  ),
  at: z.string(),
});
export type PositionsAnswer = z.infer<typeof positionsAnswer>;

export const positionsQuery = z.object({
  userId: z.uuid().optional(),
  token: z
    .string()
    .regex(/^[A-Z0-9]{1,20}$/)
    .optional(),
  /** Maximum number of closed positions, 1 to 1000. */
  limit: pagingQuery(100).shape.limit,
});
export type PositionsQuery = z.infer<typeof positionsQuery>;
/** Only the caller's own positions. */
export const myPositionsQuery = positionsQuery.omit({ userId: true });

/** GET /api/positions/closed (administrators): closed positions as recorded, newest first; asks no exchange. */
export const closedPositionsQuery = positionsQuery
  .pick({ userId: true, token: true })
  .extend({ ...pagingQuery(100).shape, until: filterInstant });
export type ClosedPositionsQuery = z.infer<typeof closedPositionsQuery>;
export const closedPositionsAnswer = z.object({
  closed: z.array(closedPosition),
  /** All that match the filters, on every page. */
  total: z.number(),
});
export type ClosedPositionsAnswer = z.infer<typeof closedPositionsAnswer>;

export const closePositionBody = z.object({
  userId: z.uuid(),
  token: z.string().regex(/^[A-Z0-9]{1,20}$/),
  /** How much of the position, rounded down to the exchange's step; 100 closes all of it. */
  percent: z
    .int('percent must be a whole number')
    .min(1, 'percent must be from 1 to 100')
    .max(100, 'percent must be from 1 to 100')
    .default(100),
});
/** 200 when all or the part asked for is confirmed closed; a refusal is 200 with success false. */
export const closePositionAnswer = z.object({ success: z.boolean(), message: z.string() });
export type ClosePositionAnswer = z.infer<typeof closePositionAnswer>;

/** POST /api/positions/write-off (administrators): a position that no connected account can show counts as closed from then on. */
export const writeOffPositionBody = z.object({ tradeId: z.uuid() });

const price = limitedText(40).regex(/^\d+(\.\d+)?$/, 'must be a price above 0, such as 67379.5');
/** PUT /api/positions/protection (administrators): moves the stop or target of an open position; what is absent stays. */
export const moveProtectionBody = z
  .object({
    userId: z.uuid(),
    token: z.string().regex(/^[A-Z0-9]{1,20}$/),
    /** A price on the contract's tick, on its own side of the mark price. Further away only with step-up. */
    stopLoss: price.optional(),
    takeProfit: price.optional(),
  })
  .refine(({ stopLoss, takeProfit }) => stopLoss !== undefined || takeProfit !== undefined, {
    path: ['stopLoss'],
    message: 'A stop loss or a take profit is needed',
  });
/**
 * 200 when the exchange shows the new prices; a move that failed is 200 with success false, and the old stop is in
 * place. `isPending`: the outcome is not known yet; the move is being completed.
 */
export const moveProtectionAnswer = z.object({
  success: z.boolean(),
  isPending: z.boolean(),
  message: z.string(),
});
export type MoveProtectionAnswer = z.infer<typeof moveProtectionAnswer>;

/** Query and answer of GET /api/positions/protection: what a new stop or target has to fit. */
export const protectionRulesQuery = z.object({
  userId: z.uuid(),
  token: z.string().regex(/^[A-Z0-9]{1,20}$/),
});
export const protectionRules = z.object({ tickSize: z.string() });
export type ProtectionRules = z.infer<typeof protectionRules>;
