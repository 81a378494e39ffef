import { and, asc, eq } from 'drizzle-orm';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { paperOrders, paperPositions, paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import type { Db } from '#server/platform/db/database.ts';

/** The exchanges' own books, read directly instead of through their API: of one platform or of all. */
export interface PaperLedger {
  /** The exchange's own ledger: every order that it ever accepted from the user. */
  exchangeOrders(userId: string, platform?: ExchangePlatform): Promise<(typeof paperOrders.$inferSelect)[]>;
  /** The user's open position in the token, and the prices of its live stop and target. */
  holding(userId: string, token: string, platform?: ExchangePlatform): Promise<Holding>;
}

export interface Holding {
  position: typeof paperPositions.$inferSelect | null;
  stopLoss: string | null;
  takeProfit: string | null;
}

export function paperLedger(db: Db): PaperLedger {
  return {
    exchangeOrders: (userId, platform) =>
      db
        .select()
        .from(paperOrders)
        .where(and(eq(paperOrders.userId, userId), platform && eq(paperOrders.platform, platform)))
        .orderBy(asc(paperOrders.id)),
    async holding(userId, token, platform) {
      const isHere = (table: typeof paperPositions | typeof paperTriggerOrders) =>
        and(eq(table.userId, userId), eq(table.token, token), platform && eq(table.platform, platform));
      const [position] = await db.select().from(paperPositions).where(isHere(paperPositions));
      const triggers = await db
        .select()
        .from(paperTriggerOrders)
        .where(and(isHere(paperTriggerOrders), eq(paperTriggerOrders.state, 'live')));
      const priceOf = (planType: string) =>
        triggers.find((trigger) => trigger.planType === planType)?.triggerPrice ?? null;
      return {
        position: position ?? null,
        stopLoss: priceOf('pos_loss') ?? priceOf('loss_plan'),
        takeProfit: priceOf('pos_profit') ?? priceOf('profit_plan'),
      };
    },
  };
}
