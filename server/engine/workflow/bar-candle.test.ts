import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PreviewAnswer } from '#contract/position-generator.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { CANDLE, createSender, SIGNAL, type TestSender } from '#test/app/test-sender.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { type Instance, startWorld, TRADING, type World } from '#test/world.ts';

// The clock stands still unless a test moves it, so that no wait ends by itself.
const clock = fakeClock('2026-01-02T00:00:01.000Z');
const BAR_MS = 15 * 60_000;
let board: World;
let sender: TestSender;
/** Another instance on the same database. */
let second: Instance;
let userId: string;

beforeAll(async () => {
  board = await startWorld({ ...TRADING, clock });
  sender = await createSender({ app: board.app, client: board.admin });
  userId = (await board.createTrader()).user.id;
  second = await board.startInstance({ clock });
});
afterAll(() => board.close());

const atSecond = (path: string, fields: object) =>
  second.app.inject({ method: 'POST', url: `/hooks/${path}?hkid=${sender.hook.hookKey}`, payload: fields });

const stampOf = (ms: number) => new Date(ms).toISOString().replaceAll(/\D/g, '').slice(0, 12);

interface Series {
  symbol: string;
  /** Sends the candle of the bar that closed last; returns its id. */
  candle: (more?: object) => Promise<string>;
  /** Sends a signal; returns its id. */
  signal: (more?: object) => Promise<string>;
  own: { candle: object; signal: object };
}

/** A series that has sent this many bars' candles with an ATR of 5, a second after the end of each, and a new bar's end. */
async function startSeries({ bars = 3, stampedAt = 'open' as 'open' | 'close' } = {}): Promise<Series> {
  const symbol = `${nextToken()}USDT`;
  const fields = (atr: string) => {
    const close = Math.floor(clock.now().getTime() / BAR_MS) * BAR_MS;
    const DateTime = stampOf(stampedAt === 'open' ? close - BAR_MS : close);
    return { Symbol: symbol, DateTime, Close: '100', ATR: atr };
  };
  for (let bar = 0; bar < bars; bar += 1) {
    clock.advance(BAR_MS);
    expect((await sender.candle(fields('5'))).statusCode).toBe(200);
  }
  clock.advance(BAR_MS);
  const idOf = async (sending: ReturnType<TestSender['candle']>) => {
    const answer = await sending;
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json<{ id: string }>().id;
  };
  const own = { candle: { ...CANDLE, ...fields('1.5') }, signal: { ...SIGNAL, symbol, price: '100' } };
  return {
    symbol,
    own,
    candle: (more) => idOf(sender.candle({ ...own.candle, ...more })),
    signal: (more) => idOf(sender.signal({ ...own.signal, ...more })),
  };
}

async function untilWaiting(signalId: string): Promise<string> {
  let workflowId = '';
  await expect
    .poll(async () => {
      const rows = await board.query(
        `select workflow_id, metadata from workflow_steps join workflows on workflows.id = workflow_id
         where signal_id = $1 and step_type = 'price_log_match' and workflow_steps.status = 'processing'`,
        [signalId],
      );
      workflowId = rows[0]?.workflow_id;
      return rows[0]?.metadata;
    })
    .toEqual({ waitingForCandle: true });
  return workflowId;
}

/** The signal's answer after the end of its workflow, with the stop losses of its trades. */
async function decided(signalId: string) {
  await expect
    .poll(
      async () => {
        const query = 'select status from workflows where signal_id = $1';
        return (await board.query(query, [signalId])).map(({ status }) => status);
      },
      { timeout: 20_000 },
    )
    .toEqual(['completed']);
  const detail = (await board.admin.get(`/api/signals/${signalId}`)).json<SignalDetail>();
  const trades = await board.query('select stop_loss::float8 as stop from trades where signal_id = $1', [
    signalId,
  ]);
  return { candle: detail.priceLogId, hash: detail.priceLogHash, stops: trades.map(({ stop }) => stop) };
}

describe.each(firstCases(['open', 'close']))('of a series stamped at the %s of its bars', (stampedAt) => {
  // Requirements: price-log-and-trend-4
  test('the candle of the signal’s bar decides, whichever comes first', async () => {
    const before = await startSeries({ stampedAt });
    const [first, after] = [await before.candle(), await before.signal()];
    expect(await decided(after)).toMatchObject({ candle: first, stops: [97] });

    const series = await startSeries({ stampedAt });
    const signal = await series.signal();
    await untilWaiting(signal);
    const candle = await series.candle();
    expect(await decided(signal)).toMatchObject({ candle, stops: [97] });
  });
});

// Requirements: price-log-and-trend-4
test('a signal decides with the newest candle 3 s after its receipt, and shows that one', async () => {
  const series = await startSeries();
  const signal = await series.signal();
  await untilWaiting(signal);
  clock.advance(3_000);
  const { candle, hash, stops } = await decided(signal);
  expect(stops).toEqual([90]);
  const late = await series.candle();
  expect(candle).not.toBe(late);
  expect(await decided(signal)).toEqual({ candle, hash, stops });
  const [row] = await board.query('select hash_value, parameters from price_logs where id = $1', [candle]);
  expect(row).toMatchObject({ hash_value: hash, parameters: { atr: '5' } });
  const preview = await board.admin.post('/api/internal/position-generator/preview', {
    signalId: signal,
    userId,
    settings: {},
  });
  expect(preview.json<PreviewAnswer>().chosen).toMatchObject({ position: { stopLoss: '90' } });
  const [decision] = await board.query(
    'select record from decisions join workflows on workflows.id = workflow_id where signal_id = $1 and user_id = $2',
    [signal, userId],
  );
  expect(decision.record.candle.id).toBe(candle);
});

// Requirements: price-log-and-trend-4
test('a candle that another instance stores wakes the workflow, which trades once', async () => {
  for (const isSignalAtFirst of firstCases([true, false, true, false], 2)) {
    const series = await startSeries();
    const signal = isSignalAtFirst
      ? await series.signal()
      : (await atSecond('trading_view_signal', series.own.signal)).json<{ id: string }>().id;
    const workflowId = await untilWaiting(signal);
    const candle = isSignalAtFirst
      ? (await atSecond('trading_view_candler', series.own.candle)).json<{ id: string }>().id
      : await series.candle();
    // The end of the wait at the same moment.
    const wakes = [board.deps, second.deps].map(({ jobs, db }) =>
      jobs.send(db, 'run-workflow', { workflowId }),
    );
    await Promise.all(wakes);
    expect(await decided(signal)).toMatchObject({ candle, stops: [97] });
  }
});

testEveryCase('a signal whose series is not regular is decided at once', async () => {
  const series = await startSeries({ bars: 2 });
  expect(await decided(await series.signal())).toMatchObject({ stops: [90] });
});

testEveryCase('a signal that leaves does not wait, nor does one that it would wait for', async () => {
  const series = await startSeries();
  const entry = await series.signal();
  await untilWaiting(entry);
  // Of another processor, whose close is no reason not to enter.
  const leave = await series.signal({ action: 'close', processor: 'UD Bot' });
  expect(await decided(entry)).toMatchObject({ stops: [90] });
  expect(await decided(leave)).toMatchObject({ stops: [] });
});
