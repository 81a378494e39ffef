import type { SignalAction } from '#domain/exits/signal-action.ts';
import { DEFAULT_USER_SETTINGS, type TradingSettings } from '#domain/user-settings.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Db } from '#server/platform/db/database.ts';
import { priceLogs, signals, userSettings, users, workflows } from '#server/platform/db/schema.ts';
import { randomId, timeOrderedId } from '#server/platform/ids.ts';

export interface SignalFields {
  token?: string;
  action?: SignalAction;
  /** What the payload held besides. */
  parameters?: Record<string, unknown>;
  processor?: string;
  price?: string;
  ownerUserId?: string;
  receivedAt?: Date;
}

/** Writes the rows of users and deliveries directly, without the routes. */
export function testEngineRows(options: {
  db: Db;
  clock: Clock;
  /** Applies a new price at the exchange. */
  settle: (token: string) => Promise<void>;
}) {
  const { db, clock, settle } = options;
  return {
    async createUser(
      settings: Partial<TradingSettings> = {},
      user: { isActive?: boolean; username?: string } = {},
    ): Promise<string> {
      const id = randomId();
      const username = user.username ?? `${id.slice(0, 8)}@example.com`;
      const now = clock.now();
      await db.insert(users).values({
        id,
        username,
        usernameKey: username,
        passwordHash: 'none',
        isTestUser: true,
        isActive: user.isActive ?? true,
        createdAt: now,
        updatedAt: now,
      });
      await db.insert(userSettings).values({
        userId: id,
        ...DEFAULT_USER_SETTINGS,
        activeTrading: true,
        ...settings,
        updatedAt: now,
      });
      return id;
    },
    async storeCandle(candle: { token: string; price: string; atr?: string; matureTrend?: string }) {
      const { token, price, atr, matureTrend } = candle;
      const id = timeOrderedId();
      await db.insert(priceLogs).values({
        id,
        hookId: randomId(),
        ownerUserId: randomId(),
        fromAdmin: true,
        token,
        timeframe: '15',
        price,
        currency: 'USDT',
        processor: null,
        candleTimeTradingview: 'test',
        candleTimeServer: clock.now(),
        receivedAt: clock.now(),
        sourceIp: '127.0.0.1',
        hashValue: id,
        parameters: { close: price, ...(atr && { atr }), ...(matureTrend && { mature_trend: matureTrend }) },
      });
      await settle(token);
      return id;
    },
    /** Stores a signal with its pending automatic workflow, as ingest does. */
    async storeSignal(fields: SignalFields = {}) {
      const signalId = timeOrderedId();
      const workflowId = timeOrderedId();
      const { token = 'BTC', action = 'buy', price = '65000', processor = 'Tesla' } = fields;
      const receivedAt = fields.receivedAt ?? clock.now();
      await db.transaction(async (tx) => {
        await tx.insert(signals).values({
          id: signalId,
          hookId: randomId(),
          ownerUserId: fields.ownerUserId ?? randomId(),
          fromAdmin: fields.ownerUserId === undefined,
          token,
          action,
          price,
          currency: 'USDT',
          timeframe: '15',
          processor,
          receivedAt,
          sourceIp: '127.0.0.1',
          hashValue: signalId,
          parameters: fields.parameters ?? {},
        });
        await tx.insert(workflows).values({
          id: workflowId,
          signalId,
          trigger: 'automatic',
          isOwn: fields.ownerUserId !== undefined,
          status: 'pending',
          token,
          processor,
          createdAt: receivedAt,
        });
      });
      await settle(token);
      return { signalId, workflowId };
    },
  };
}
