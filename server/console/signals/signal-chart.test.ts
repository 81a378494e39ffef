import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SignalChart } from '#contract/charts.ts';
import type { Signal } from '#contract/signals.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, TRADING, type World } from '#test/world.ts';

/** The time at this many minutes after midnight on 2 January 2026. */
const minuteOf = (minutes: number) => new Date(Date.parse('2026-01-02T00:00:00Z') + minutes * 60_000);
const dateTime = (minutes: number) => minuteOf(minutes).toISOString().slice(0, 16).replaceAll(/\D/g, '');

async function chart(board: World, signalId: string): Promise<SignalChart> {
  const answer = await board.admin.get(`/api/signals/${signalId}/chart`);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}

describe('the candles around a signal', () => {
  const clock = fakeClock('2026-01-02T12:00:00.000Z');
  let board: World;
  let admin: TestSender;
  let user: TestSender;

  beforeAll(async () => {
    board = await startWorld({ clock });
    admin = await createSender({ app: board.app, client: board.admin });
    user = await createSender({ app: board.app, client: (await board.createUser()).client });
  });
  afterAll(() => board.close());

  const candle = async (fields: Record<string, unknown>, from = admin) => {
    clock.advance(10);
    expect((await from.candle(fields)).statusCode).toBe(200);
  };
  const signal = async (fields: Record<string, unknown>, from = admin): Promise<string> =>
    (await from.signal(fields)).json().id;

  // Requirements: additions-charts-1
  test('are the 80 up to its time, including its own minute, and the 40 after it', async () => {
    for (let minute = 0; minute < 130; minute += 1) {
      await candle({ Symbol: 'AAAUSDT', Timeframe: '1', DateTime: dateTime(minute), Close: `${minute + 1}` });
    }
    const id = await signal({
      symbol: 'AAAUSDT',
      timeframe: '1m',
      price: '85.5',
      time: minuteOf(85).toISOString(),
    });
    const shown = await chart(board, id);
    expect(shown).toMatchObject({
      token: 'AAA',
      timeframe: '1m',
      signal: { time: '2026-01-02T01:25:00.000Z', price: '85.5', action: 'buy' },
      levels: null,
      fills: [],
    });
    expect(shown.candles.map(({ close }) => Number(close))).toEqual(
      Array.from({ length: 120 }, (_, index) => index + 7),
    );
  });

  test('end at its receipt if the signal has no time', async () => {
    await candle({ Symbol: 'BBBUSDT', DateTime: dateTime(700), Close: '1' });
    await candle({ Symbol: 'BBBUSDT', DateTime: dateTime(721), Close: '2' });
    const shown = await chart(board, await signal({ symbol: 'BBBUSDT', action: 'sell' }));
    expect(shown.signal).toEqual({ time: clock.now().toISOString(), price: '65000', action: 'sell' });
    expect(shown.candles.map(({ close }) => close)).toEqual(['1', '2']);
  });

  test('come from its own webhook and administrators, with its timeframe and processor', async () => {
    const own = { Symbol: 'CCCUSDT' };
    const other = await createSender({ app: board.app, client: (await board.createUser()).client });
    await candle({ ...own, DateTime: dateTime(0), Close: '1' });
    await candle({ ...own, DateTime: dateTime(15), Close: '2' }, user);
    await candle({ ...own, DateTime: dateTime(30), Close: '3' }, other);
    await candle({ ...own, DateTime: dateTime(45), Close: '4', Timeframe: '60' });
    await candle({ ...own, DateTime: dateTime(60), Close: '5', processor: 'UD Bot' });
    await candle({ ...own, DateTime: dateTime(75), Close: '6', processor: 'tesla' });
    const closes = async (from: TestSender) =>
      (await chart(board, await signal({ symbol: own.Symbol, timeframe: '15m' }, from))).candles.map(
        ({ close }) => close,
      );
    expect(await closes(admin)).toEqual(['1', '6']);
    expect(await closes(user)).toEqual(['1', '2', '6']);
  });
});

describe('the chart of a traded signal', () => {
  const soon = { timeout: 30_000, interval: 25 };
  let board: World;
  let sender: TestSender;
  const traders: string[] = [];

  beforeAll(async () => {
    board = await startWorld(TRADING);
    sender = await createSender({ app: board.app, client: board.admin });
    // Trade order differs from alphabetical order.
    for (const [tradeOrderSet, positionSizingMethod] of [
      ['B', 'Portfolio Allocation'],
      ['A', 'Technical Analysis'],
    ]) {
      const settings = { positionSizingMethod, signalProcessor: 'Any', tradeOrderSet };
      const { username } = await board.createTrader(settings);
      traders.push(username);
    }
  });
  afterAll(() => board.close());

  async function settled(id: string): Promise<Signal> {
    const read = async () => (await board.admin.get(`/api/signals/${id}`)).json<Signal>();
    await expect.poll(async () => (await read()).workflowStatus, soon).toBe('completed');
    return await read();
  }

  // Requirements: additions-charts-1
  test('has the levels of its row and a fill for each user', async () => {
    await sender.candle({
      ATR: '300',
      DateTime: new Date().toISOString().slice(0, 16).replaceAll(/\D/g, ''),
    });
    const id = (await sender.signal()).json().id;
    const row = await settled(id);
    const { levels, fills } = await chart(board, id);
    const { sltpData } = (await board.admin.get(`/api/signals/${id}/sltp`)).json();
    const first = sltpData.find((one: { username: string }) => one.username === traders[1]);
    const second = sltpData.find((one: { username: string }) => one.username === traders[0]);
    expect(first.stopLoss).not.toBe(second.stopLoss);
    expect(levels).toEqual({
      entryPrice: first.entryPrice,
      stopLoss: row.stopLoss,
      takeProfit: row.takeProfit,
    });
    expect(levels).toMatchObject({ stopLoss: first.stopLoss, takeProfit: first.takeProfit });

    const trades = (await board.admin.get(`/api/signals/${id}/trades`)).json();
    expect(fills.map(({ username }) => username).sort()).toEqual([...traders].sort());
    for (const fill of fills) {
      const trade = trades.find((one: { username: string }) => one.username === fill.username);
      expect(fill).toEqual({
        time: expect.stringMatching(/Z$/),
        averagePrice: trade.exchangeResponse.priceAvg,
        quantity: trade.exchangeResponse.size,
        side: 'buy',
        username: trade.username,
      });
      expect(Date.parse(fill.time)).toBeGreaterThanOrEqual(Date.parse(row.receivedAt));
    }
    expect(fills.map(({ time }) => time)).toEqual(fills.map(({ time }) => time).sort());
  });

  testEveryCase(
    'keeps the levels of the workflow that traded when a later one calculates nothing',
    async () => {
      const [{ id }] = (await board.admin.get('/api/signals')).json().signals;
      const before = await settled(id);
      // Everybody has traded the signal already, so the new workflow calculates nothing.
      await board.admin.post('/api/trigger-automation', { signalId: id });
      await expect
        .poll(
          async () => (await board.admin.get('/api/automation-workflows?status=completed')).json().total,
          soon,
        )
        .toBe(2);
      const row = await settled(id);
      expect([row.manualCount, row.stopLoss]).toEqual([1, before.stopLoss]);
      const shown = await chart(board, id);
      expect(shown.levels?.stopLoss).toBe(before.stopLoss);
      expect(shown.fills).toHaveLength(2);
    },
  );

  test('lists its trades, paged on request, with as few queries as a signal without trades', async () => {
    const [{ id }] = (await board.admin.get('/api/signals')).json().signals;
    // A user who does not trade.
    const owner = await createSender({ app: board.app, client: (await board.createUser()).client });
    const other = (await owner.signal()).json().id;
    let taken = 0;
    const count = () => {
      taken += 1;
    };
    const read = async (path: string) => {
      taken = 0;
      board.database.pool.on('acquire', count);
      const answer = await board.admin.get(path);
      board.database.pool.off('acquire', count);
      return { trades: answer.json(), taken };
    };
    const all = await read(`/api/signals/${id}/trades`);
    expect(all.trades).toMatchObject(
      [1, 2].map(() => ({
        success: true,
        orderPayload: { symbol: 'BTCUSDT', clientOid: expect.any(String) },
      })),
    );
    // Work in the background may take a connection meanwhile, so the fewest of several reads count.
    const fewest = async (path: string) => {
      const counts = [];
      for (let round = 0; round < 5; round += 1) counts.push((await read(path)).taken);
      return Math.min(...counts);
    };
    await settled(other);
    expect(await fewest(`/api/signals/${id}/trades`)).toBe(await fewest(`/api/signals/${other}/trades`));
    for (const page of [1, 2]) {
      const { trades } = await read(`/api/signals/${id}/trades?page=${page}&limit=1`);
      expect(trades).toEqual([all.trades[page - 1]]);
    }
    expect((await read(`/api/signals/${id}/trades?page=2`)).trades).toEqual([]);
    expect((await board.admin.get(`/api/signals/${id}/trades?limit=0`)).statusCode).toBe(400);
  });
});
