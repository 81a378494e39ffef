import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CloseAllProgress } from '#contract/close-all.ts';
import { D } from '#domain/decimal.ts';
import { positionCloses, trades } from '#server/platform/db/schema.ts';
import { ALL_WORKERS, type ExchangeWorld, startWorld } from '#test/world.ts';
// Every point at which the process may die.
import './flatten.test.ts';

/** 50 users with four positions each, two programs, and an exchange that refuses, limits and half fills. */
const USERS = 50;
const TOKENS = ['LONGA', 'LONGB', 'LONGC', 'LONGD'];
const ALWAYS = Number.POSITIVE_INFINITY;

let board: ExchangeWorld;
const traders: { id: string }[] = [];
beforeAll(async () => {
  board = await startWorld({
    exchange: 'paper',
    engine: true,
    mostWorkers: ALL_WORKERS,
    instances: 2,
    background: ['flattener'],
    tokens: TOKENS,
  });
  for (let user = 0; user < USERS; user += 1) traders.push(await board.createTrader());
  for (const token of TOKENS)
    await board.traded(await board.signal({ token, price: '100' }), { withinMs: 120_000 });
}, 400_000);
afterAll(() => board.close());

// Requirements: additions-flatten-1, additions-flatten-2, additions-flatten-3
test('200 positions are closed by one order each or the rest of it, although the exchange gets in the way', async () => {
  const opened = await board.db.select().from(trades);
  expect(opened.filter(({ success }) => success)).toHaveLength(USERS * TOKENS.length);
  const [refused, limited, halved] = traders;
  board.site.setFaults([
    { kind: 'closeRefused', on: { userId: refused?.id ?? '', times: ALWAYS } },
    { kind: 'tooManyRequests', on: { userId: limited?.id ?? '', operation: 'close-position', times: 6 } },
    {
      kind: 'partialFill',
      fraction: '0.5',
      on: { userId: halved?.id ?? '', operation: 'close-position', times: 2 },
    },
  ]);
  const body = { scope: { kind: 'all' }, confirm: 'CLOSE' };
  const { id } = (await board.admin.post('/api/positions/close-all', body)).json<{ id: string }>();
  const other = await board.adminAt(1);
  const progress = async () => (await other.get(`/api/positions/close-all/${id}`)).json<CloseAllProgress>();
  await expect.poll(async () => (await progress()).closed, { timeout: 400_000, interval: 500 }).toBe(196);
  await expect.poll(async () => (await progress()).state, { timeout: 120_000, interval: 1_000 }).toBe('done');
  const { total, closed, failed, skipped } = await progress();
  expect([total, closed, skipped]).toEqual([200, 196, []]);
  expect(failed.map(({ userId, token }) => [userId, token])).toEqual(
    TOKENS.map((token) => [refused?.id, token]),
  );

  board.site.setFaults([]);
  await expect.poll(async () => (await progress()).closed, { timeout: 120_000, interval: 1_000 }).toBe(200);
  for (const { id: userId } of traders) {
    const orders = await board.site.exchangeOrders(userId);
    for (const token of TOKENS) {
      const sum = (reduceOnly: boolean) =>
        orders
          .filter((order) => order.token === token && order.reduceOnly === reduceOnly)
          .reduce((all, { filledSize }) => all.plus(filledSize), D(0))
          .toFixed();
      expect(sum(true)).toBe(sum(false));
    }
  }
  // The exchange's call that closes everything is never used.
  expect(board.site.requests.filter(({ path }) => /close-positions|flash/.test(path))).toEqual([]);
  expect((await board.db.select().from(positionCloses)).every(({ state }) => state !== 'sent')).toBe(true);
}, 800_000);
