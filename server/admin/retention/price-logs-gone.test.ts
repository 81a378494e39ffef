import { afterAll, expect, test } from 'vitest';
import type { PriceLogsAnswer } from '#contract/price-logs.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { systemClock } from '#server/platform/clock.ts';
import { addUpList } from '#server/platform/db/list-totals/add-up-list.ts';
import { readKeptSince } from '#server/platform/db/partitions.ts';
import { expectAnswer } from '#test/app/test-client.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld } from '#test/world.ts';
import { keepPartitions } from './keep-partitions.ts';

const DAY_MS = 24 * 3_600_000;

const minutesAgo = (minutes: number) =>
  new Date(Date.now() - minutes * 60_000).toISOString().replace(/\D/g, '').slice(0, 12);
const read = async <Body>(path: string) => (await board.admin.get(path)).json<Body>();
const signal = () => read<SignalDetail>(`/api/signals/${before.id}`);
const DateTime = minutesAgo(5);

/** Stores a candle and its signal, then drops rows older than a month, one year later. */
const board = await startWorld();
const sender = await createSender({ app: board.app, client: board.admin });
const candle = (await sender.candle({ DateTime })).json();
const { id } = (await sender.signal()).json<{ id: string }>();
const before = await read<SignalDetail>(`/api/signals/${id}`);
const hash = before.priceLogHash ?? '';
// Also count rows that have just arrived, so that dropping them must subtract them again.
await addUpList(board.database.db, 'price-logs', { marginMs: -60_000 });
await keepPartitions({
  deps: {
    ...board.deps,
    clock: { ...systemClock, now: () => new Date(Date.now() + 365 * DAY_MS) },
    config: { priceLogRetentionDays: 30, deliveryRetentionDays: 30 },
  },
  connection: board.database.connection,
});
afterAll(() => board.close());

test('a signal whose price log was dropped reports that it is no longer kept', async () => {
  expect(before).toMatchObject({ priceLogId: candle.id, priceLogsKept: true });
  expect(await signal()).toEqual({
    ...before,
    priceLogId: null,
    priceLogHash: null,
    priceLogsKept: false,
  });
  expect(await readKeptSince(board.database.db, 'price_logs')).toBeInstanceOf(Date);
});

test('a dropped price log is answered 404 and missing from list, total and chart', async () => {
  expect((await board.admin.get(`/api/price-logs/hash/${hash}`)).statusCode).toBe(404);
  const chart = `/api/price-logs/candles?token=BTC&timeframe=15&priceLogId=${candle.id}`;
  expect((await board.admin.get(chart)).statusCode).toBe(404);
  expect(await read<PriceLogsAnswer>('/api/price-logs')).toEqual({ priceLogs: [], total: 0 });
  expect(await read('/api/price-logs/tokens')).toEqual([]);
  expect((await board.admin.get(`/api/signals/${before.id}/chart`)).statusCode).toBe(200);
});

test('refuses a calculation with a dropped price log and gives the reason', async () => {
  const { user } = await read<{ user: { id: string } }>('/api/auth/user');
  const answer = await board.admin.post('/api/internal/position-generator/generate', {
    signalId: before.id,
    priceLogId: candle.id,
    userId: user.id,
  });
  expectAnswer(answer, 404, 'Price log not found');
});

test('the log of deliveries omits dropped rows and continues', async () => {
  const log = `/api/hooks/${sender.hook.id}/deliveries`;
  expect(await read(log)).toEqual([]);
  const again = (await sender.candle({ DateTime })).json();
  expect(again).toMatchObject({ duplicate: false });
  expect(await read(log)).toHaveLength(1);
  expect((await sender.candle({ DateTime })).json()).toMatchObject({ id: again.id, duplicate: true });
});
