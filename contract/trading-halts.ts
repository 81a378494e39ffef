import { z } from 'zod';
import { HALT_KINDS } from '#domain/orders/trading-halt.ts';

/** A user who opens nothing because of a position without a verified stop. */
export const tradingHalt = z.object({
  id: z.string(),
  userId: z.string(),
  username: z.string(),
  exchangePlatform: z.string(),
  token: z.string(),
  tradeId: z.string().nullable(),
  /** `unprotected` waits for an administrator; `unverified` ends by itself. */
  kind: z.enum(HALT_KINDS),
  reason: z.string(),
  since: z.string(),
  /** Since then the exchange shows the position closed or protected again, and how; null: not yet. */
  clearedAt: z.string().nullable(),
  clearedHow: z.string().nullable(),
  endedAt: z.string().nullable(),
  /** The administrator's name; null while it goes on, or when it ended by itself. */
  endedBy: z.string().nullable(),
});
export type TradingHaltView = z.infer<typeof tradingHalt>;

/** GET /api/admin/trading-halts: those that go on, oldest first, and the last ones that ended, newest first. */
export const tradingHaltsAnswer = z.object({ halts: z.array(tradingHalt), ended: z.array(tradingHalt) });
export type TradingHaltsAnswer = z.infer<typeof tradingHaltsAnswer>;

/** GET /api/my-trading-halts: one's own that go on. */
export const myTradingHaltsAnswer = tradingHaltsAnswer.pick({ halts: true });
export type MyTradingHaltsAnswer = z.infer<typeof myTradingHaltsAnswer>;
