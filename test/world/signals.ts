import { eq } from 'drizzle-orm';
import { expect, vi } from 'vitest';
import { trades, users, workflows } from '#server/platform/db/schema.ts';
import { createSender } from '../app/test-sender.ts';
import type { ExchangeSite } from '../venues/test-exchange-site.ts';
import type { TestUser, World } from './programs.ts';

export interface SentSignal {
  token: string;
  action?: 'buy' | 'sell';
  price?: string;
  time?: string;
}

/** Signals of the administrator, and what came of them. */
export async function signalsOf(world: World, site: ExchangeSite) {
  const { db } = world;
  const sender = await createSender({ app: world.app, client: world.admin });

  /** Sends a signal through the webhook; returns its id. */
  async function signal({ token, action = 'buy', price = '100', time }: SentSignal): Promise<string> {
    const answer = await sender.signal({ symbol: `${token}USDT`, action, price, time });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json<{ id: string }>().id;
  }

  /** Waits until the signal's workflow has ended; returns its trades. */
  async function traded(signalId: string, { withinMs = 45_000 } = {}) {
    const hasEnded = async () => {
      const found = await db.select().from(workflows).where(eq(workflows.signalId, signalId));
      expect(
        found.some(({ completedAt }) => completedAt !== null),
        `the workflow of ${signalId} ended`,
      ).toBe(true);
    };
    await vi.waitFor(hasEnded, { timeout: withinMs, interval: 50 });
    return await db.select().from(trades).where(eq(trades.signalId, signalId));
  }

  return {
    sender,
    signal,
    traded,
    /** Sends another signal for the token, at what is its price at the exchange from now on; returns its id. */
    async send(token: string, price = '100'): Promise<string> {
      await site.push(token, price);
      return await signal({ token, price, time: new Date().toISOString() });
    },
    /** The decision of the signal's workflow about the trader. */
    async userOf(signalId: string, { user }: TestUser): Promise<Record<string, string> | undefined> {
      const answer = await world.admin.get(`/api/signals/${signalId}/users`);
      return answer.json<Record<string, string>[]>().find(({ id }) => id === user.id);
    },
    /** A trader with a filled position in the token, and no other active user. */
    async openPosition(
      token: string,
      {
        action = 'buy',
        price = '100',
        settings = {},
      }: Omit<SentSignal, 'token'> & { settings?: object } = {},
    ) {
      await db.update(users).set({ isActive: false }).where(eq(users.isAdmin, false));
      const trader = await world.createTrader(settings);
      await site.push(token, price);
      const [trade] = await traded(await signal({ token, action, price }));
      if (trade?.success !== true || trade.userId !== trader.id) throw new Error('nothing was traded');
      return { ...trader, token, trade };
    },
  };
}
