import { and, asc, eq } from 'drizzle-orm';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { paperOrders, paperPositions, paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import type { Db } from '#server/platform/db/database.ts';

/** What the exchanges themselves have in their books, read past their API: of one platform, or of whichever it is. */
export interface PaperLedger {
  /** The exchange's own ledger: every order that it ever took from the user. */
  exchangeOrders(userId: string, platform?: ExchangePlatform): Promise<(typeof paperOrders.$inferSelect)[]>;
  /** What the exchange holds for the user in the token: the open position, and the prices of its live stop and target. */
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
      const [position] = await db
        .select()
        .from(paperPositions)
        .where(
          and(
            eq(paperPositions.userId, userId),
            eq(paperPositions.token, token),
            platform && eq(paperPositions.platform, platform),
          ),
        );
      const triggers = await db
        .select()
        .from(paperTriggerOrders)
        .where(
          and(
            eq(paperTriggerOrders.userId, userId),
            eq(paperTriggerOrders.token, token),
            eq(paperTriggerOrders.state, 'live'),
            platform && eq(paperTriggerOrders.platform, platform),
          ),
        );
      const priceOf = (planType: string) =>
        triggers.find((trigger) => trigger.planType === planType)?.triggerPrice ?? null;
      return {
        position: position ?? null,
        stopLoss: priceOf('pos_loss'),
        takeProfit: priceOf('pos_profit'),
      };
    },
  };
}
