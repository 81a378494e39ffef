import { z } from 'zod';
import { STOP_KINDS } from '#domain/orders/trading-stop.ts';
import { instantText } from './paging.ts';
import { plainText } from './text.ts';

/** What a stop covers. `value`: the processor, the token or the user's id; null for everybody. */
export const stopScope = z.object({ kind: z.enum(STOP_KINDS), value: z.string().nullable() });

const text = (what: string, most: number) => plainText(what, most).trim().min(1, `${what} must not be empty`);
const nothing = z.null('value must be absent for everybody').optional();

export const stopScopeBody = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('all'), value: nothing }),
    z.strictObject({ kind: z.literal('strategy'), value: text('value', 100) }),
    z.strictObject({
      kind: z.literal('token'),
      value: z.string().regex(/^[A-Z0-9]{1,20}$/, 'value must be a token such as BTC'),
    }),
    z.strictObject({ kind: z.literal('user'), value: z.uuid('value must be the id of a user') }),
  ])
  .transform(({ kind, value = null }) => ({ kind, value }));

/** A stop of new entries. */
export const tradingStop = z.object({
  /** Of the pause in a user's settings: `pause-` and the user's id. */
  id: z.string(),
  scope: stopScope,
  reason: z.string().nullable(),
  /** Null for a pause: nobody has recorded when it was set. */
  createdAt: z.string().nullable(),
  /** The name of who made it; null for a pause, which the user or an administrator has set. */
  createdBy: z.string().nullable(),
  /** When it ends by itself; null: when it is lifted. */
  until: z.string().nullable(),
});
export type TradingStopView = z.infer<typeof tradingStop>;

/**
 * GET /api/trading-stops: the active stops and pauses, oldest first. An ordinary user sees those for everybody, for
 * strategies, for tokens and for themselves.
 */
export const tradingStopsAnswer = z.array(tradingStop);

/** POST /api/trading-stops: 201 when no further entry leaves. */
export const createTradingStopBody = z.strictObject({
  scope: stopScopeBody,
  reason: text('reason', 200).optional(),
  until: instantText.optional(),
});
export type CreateTradingStopBody = z.infer<typeof createTradingStopBody>;

export const tradingStopParams = z.object({ id: z.string().max(60) });

/** The id of the pause in a user's settings among the stops. */
export const PAUSE_PREFIX = 'pause-';
