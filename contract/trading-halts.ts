import { z } from 'zod';
import { HALT_KINDS } from '#domain/orders/trading-halt.ts';

/** A user whose trading is halted because a position has no verified stop, or is not what the orders filled. */
export const tradingHalt = z.object({
  id: z.string(),
  userId: z.string(),
  username: z.string(),
  exchangePlatform: z.string(),
  token: z.string(),
  tradeId: z.string().nullable(),
  /** `unprotected` and `surplus` wait for an administrator; `unverified` ends automatically. */
  kind: z.enum(HALT_KINDS),
  reason: z.string(),
  since: z.string(),
  /** When and how the exchange showed the position closed or protected again; null: not yet. */
  clearedAt: z.string().nullable(),
  clearedHow: z.string().nullable(),
  endedAt: z.string().nullable(),
  /** The administrator's name; null while the halt is open or if it ended automatically. */
  endedBy: z.string().nullable(),
});
export type TradingHaltView = z.infer<typeof tradingHalt>;

/** GET /api/admin/trading-halts: open halts, oldest first, and recently ended ones, newest first. */
export const tradingHaltsAnswer = z.object({ halts: z.array(tradingHalt), ended: z.array(tradingHalt) });
export type TradingHaltsAnswer = z.infer<typeof tradingHaltsAnswer>;

/** GET /api/my-trading-halts: the caller's open halts. */
export const myTradingHaltsAnswer = tradingHaltsAnswer.pick({ halts: true });
export type MyTradingHaltsAnswer = z.infer<typeof myTradingHaltsAnswer>;
