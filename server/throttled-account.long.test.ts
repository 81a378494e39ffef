import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ClosePositionAnswer } from '#contract/positions.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { trades } from '#server/platform/db/schema.ts';
import type { TestClient } from '#test/app/test-client.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { ALL_WORKERS, type ExchangeWorld, startWorld } from '#test/world.ts';

// Two instances on one database; the exchange is called over HTTP and throttles one account.

const OTHERS = 8;
const TOKENS = Array.from({ length: 12 }, (_, index) => `T${index + 1}`);
/** Tokens of the throttled user's own signals: workflows of one token run one after another. */
const OWN_TOKENS = ['OWN1', 'OWN2', 'OWN3'];

type Trader = Awaited<ReturnType<ExchangeWorld['createTrader']>>;

/** The endpoints of a balance, the list of positions and an order. */
const SOME_ENDPOINTS: Record<ExchangePlatform, string[]> = {
  Bitget: [
    'spot/account/assets',
    'mix/order/orders-plan-pending',
    'mix/account/account',
    'order/place-order',
  ],
  Bybit: ['v5/account/wallet-balance', 'v5/position/list', 'v5/account/info', 'v5/order/create'],
};

describe.each(['Bitget', 'Bybit'] as const)('one account that %s throttles', (platform) => {
  let board: ExchangeWorld;
  let throttled: Trader;
  let ownSignals: TestSender;
  let others: Trader[];
  let admins: TestClient[];
  let used = 0;
  const open = new Set<() => Promise<void>>();

  beforeAll(async () => {
    board = await startWorld({
      exchange: 'paper',
      engine: true,
      mostWorkers: ALL_WORKERS,
      instances: 2,
      background: 'all',
      tokens: [...TOKENS, ...OWN_TOKENS],
    });
    const create = () => board.createTrader({ exchangePlatform: platform });
    throttled = await create();
    others = [];
    for (let count = 0; count < OTHERS; count += 1) others.push(await create());
    admins = await Promise.all([board.adminAt(0), board.adminAt(1)]);
    ownSignals = await createSender({
      app: board.app,
      client: throttled.client,
    });
  });
  afterEach(async () => {
    for (const stop of open) await stop();
    board.site.setFaults([]);
    await board.db.$client.query('delete from exchange_slots');
  });
  afterAll(() => board.close());

  const nextToken = () => TOKENS[used++] ?? expect.fail('all tokens are used');

  const throttledEverywhere = ({ id }: Trader): VenueFault[] => [
    { kind: 'tooManyRequests', on: { userId: id, times: Number.POSITIVE_INFINITY } },
  ];
  const throttledAt = ({ id }: Trader, paths: string[]): VenueFault[] =>
    paths.map((path) => ({
      kind: 'tooManyRequests',
      on: { userId: id, path, times: Number.POSITIVE_INFINITY },
    }));

  /** The keys that are held back at the moment. */
  async function heldKeys(): Promise<string[]> {
    const text = 'select key from exchange_slots where hold_ms > 0 order by key';
    return (await board.db.$client.query<{ key: string }>(text)).rows.map(({ key }) => key);
  }

  /** Loads the throttled user's screens and signals at both instances without a pause; returns the keys held back. */
  function keepAsking(): () => Promise<{ messages: string[]; held: Set<string> }> {
    let isOver = false;
    const messages: string[] = [];
    const held = new Set<string>();
    const ask = async (admin: TestClient) => {
      for (let turn = 0; !isOver; turn += 1) {
        const answers = await Promise.all([
          admin.get(`/api/admin/account-balance/${throttled.id}`),
          admin.get(`/api/positions?userId=${throttled.id}`),
          ownSignals.signal({ symbol: `${OWN_TOKENS[turn % OWN_TOKENS.length]}USDT`, price: '100' }),
        ]);
        const [balance] = answers;
        if (balance.statusCode !== 200) messages.push(balance.json<{ message: string }>().message);
        for (const key of await heldKeys()) held.add(key);
        await sleep(20);
      }
    };
    const asking = admins.map(ask);
    const stop = async () => {
      isOver = true;
      await Promise.all(asking);
      open.delete(stop);
    };
    open.add(stop);
    return async () => {
      await stop();
      return { messages, held };
    };
  }

  const balanceOf = ({ id }: Trader, at = 0) =>
    (admins[at] ?? board.admin).get(`/api/admin/account-balance/${id}`);

  /** Sends a signal for all and waits for the trades of the others, but not for the throttled user's. */
  async function tradeAll(): Promise<string> {
    const token = nextToken();
    const signalId = await board.signal({ token, price: '100' });
    await vi.waitFor(
      async () => {
        const done = await board.db.select().from(trades).where(eq(trades.signalId, signalId));
        const traded = done.filter(({ success }) => success).map(({ userId }) => userId);
        expect(traded).toEqual(expect.arrayContaining(others.map(({ id }) => id)));
      },
      { timeout: 40_000, interval: 50 },
    );
    return token;
  }

  const expectClosed = async (trader: Trader, token: string, at: number): Promise<void> => {
    const answer = await admins[at]?.post('/api/positions/close', { userId: trader.id, token });
    expect(answer?.json<ClosePositionAnswer>()).toMatchObject({ success: true });
    expect((await board.site.holding(trader.id, token)).position).toBeNull();
  };

  test.each([
    ['some', SOME_ENDPOINTS[platform]],
    ['all', null],
  ])('on %s endpoints delays, skips and refuses nobody else', { timeout: 120_000 }, async (_, paths) => {
    const before = await tradeAll();
    board.site.setFaults(paths === null ? throttledEverywhere(throttled) : throttledAt(throttled, paths));
    const stop = keepAsking();
    // Long enough for several endpoints to be refused at both instances.
    await sleep(1_500);

    for (const [index, trader] of others.entries()) {
      expect((await balanceOf(trader, index % 2)).statusCode).toBe(200);
    }
    const tokens = [before, await tradeAll(), await tradeAll()];
    for (const [index, token] of tokens.entries()) {
      await expectClosed(others[index] ?? expect.fail(), token, index % 2);
    }
    const { messages, held } = await stop();

    expect(held.size).toBeGreaterThan(0);
    for (const key of held) expect(key).toContain(`${platform} ${throttled.id} `);

    // Some endpoints still let the balance be read.
    if (paths === null) {
      expect(messages.length).toBeGreaterThan(0);
      for (const message of messages) {
        expect(message).toMatch(/too many (requests|visits)|not sent: the exchange throttles this account/i);
      }
      expect(messages.join('\n')).toContain('throttles this account');
    }
  });

  test('three accounts that are throttled concurrently delay neither the closes of others nor, for long, their balances', {
    timeout: 120_000,
  }, async () => {
    const token = await tradeAll();
    const [first, second, closing, ...calm] = others;
    board.site.setFaults(
      [throttled, first, second].flatMap((trader) => throttledEverywhere(trader ?? expect.fail())),
    );
    const refused = await Promise.all(
      [throttled, first, second].map((trader) => balanceOf(trader ?? expect.fail())),
    );
    expect(refused.map(({ statusCode }) => statusCode)).toEqual([503, 503, 503]);
    const balances = Promise.all(calm.map((trader, index) => balanceOf(trader, index % 2)));
    await expectClosed(closing ?? expect.fail(), token, 1);
    expect((await balances).map(({ statusCode }) => statusCode)).toEqual(calm.map(() => 200));
  });
});

test('holds an address for all after a refusal that names it, and then lets a close leave first', {
  timeout: 120_000,
}, async () => {
  const board = await startWorld({
    exchange: 'paper',
    engine: true,
    mostWorkers: ALL_WORKERS,
    instances: 2,
    background: 'all',
    config: { exchangeTimeoutMs: 5_000 },
  });
  try {
    await board.site.push('BTC', '100');
    const traders = await Promise.all(
      [1, 2, 3, 4].map(() => board.createTrader({ exchangePlatform: 'Bybit' })),
    );
    const admins = [board.admin, await board.adminAt(1)];
    await board.traded(await board.signal({ token: 'BTC', price: '100' }));
    const [closing, named, ...others] = traders;
    const balanceOf = (userId = '', at = 0) => admins[at]?.get(`/api/admin/account-balance/${userId}`);
    board.site.setFaults([{ kind: 'tooManyRequests', ofAddress: true, on: { userId: named?.id ?? '' } }]);
    expect((await balanceOf(named?.id))?.statusCode).toBe(503);
    for (const at of [0, 1]) {
      const answer = await balanceOf(others[0]?.id, at);
      expect(answer?.statusCode).toBe(503);
      expect(answer?.json()).toMatchObject({
        message: expect.stringContaining('the exchange throttles all requests from this address'),
      });
    }

    // Leaves four seconds of the ten minutes: enough to send all requests below on a slow machine.
    await board.db.$client.query(
      `update exchange_slots set held_until_ms = extract(epoch from now()) * 1000 + 4000 where hold_ms > 0`,
    );
    board.site.requests.splice(0);
    const balances = others.map(({ id }, index) => balanceOf(id, index % 2));
    const close = admins[1]?.post('/api/positions/close', { userId: closing?.id, token: 'BTC' });
    expect((await close)?.json()).toMatchObject({ success: true });
    expect((await Promise.all(balances)).map((answer) => answer?.statusCode)).toEqual(others.map(() => 200));
    expect(board.site.requests[0]).toMatchObject({ path: '/v5/position/list', userId: closing?.id });
  } finally {
    await board.close();
  }
});
