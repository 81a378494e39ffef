import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { trades } from '#server/platform/db/schema.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createSender } from '#test/app/test-sender.ts';
import { type ExchangeWorld, startWorld, type World } from '#test/world.ts';
import { readOpenWork } from './open-work.ts';

/** The value of one series; undefined when the series is missing. */
function seriesValue(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe('metrics of an idle program', () => {
  const TOKEN = 'a-token-of-the-scraper';
  let open: World;
  let guarded: World;
  beforeAll(async () => {
    open = await startWorld();
    guarded = await startWorld({ config: { metricsToken: TOKEN } });
  });
  afterAll(async () => {
    await open.close();
    await guarded.close();
  });

  const status = async (
    board: World,
    headers: Record<string, string> = {},
    remoteAddress = '127.0.0.1',
  ): Promise<number> => (await board.anonymous.get('/metrics', { headers, remoteAddress })).statusCode;

  test('can be read without a token only from this machine', async () => {
    expect(await status(open)).toBe(200);
    expect(await status(open, { host: '127.0.0.1:3000' })).toBe(200);
    expect(await status(open, { host: '[::1]:3000' }, '::1')).toBe(200);
    expect(await status(open, {}, '192.0.2.1')).toBe(401);
    expect(await status(open, {}, '10.0.0.1')).toBe(401);
    expect((await open.admin.get('/metrics', { remoteAddress: '192.0.2.1' })).statusCode).toBe(401);
  });

  test('cannot be read through a proxy on this machine', async () => {
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host']) {
      expect(await status(open, { [name]: '127.0.0.1' }), name).toBe(401);
    }
    expect(await status(open, { host: 'board.example.com' })).toBe(401);
  });

  test('can be read only with the token, if one is configured', async () => {
    expect(await status(guarded, { authorization: 'Bearer a token' }, '192.0.2.1')).toBe(401);
    expect(await status(guarded, { authorization: `Bearer ${TOKEN}` }, '192.0.2.1')).toBe(200);
    expect(await status(guarded)).toBe(401);
    expect(await status(guarded, { authorization: `Bearer ${TOKEN}x` })).toBe(401);
    expect(await status(guarded, { authorization: `Basic ${TOKEN}` })).toBe(401);
  });

  test('count events that never happened as 0, so that the first one shows', async () => {
    const { body } = await open.anonymous.get('/metrics');
    const series = [
      'signal_board_orders_total{platform="Bybit",trigger="manual",outcome="closed-unprotected"}',
      'signal_board_unprotected_closes_total{platform="Bitget"}',
      'signal_board_workflows_total{trigger="automatic",status="failed"}',
      'signal_board_workflows_total{trigger="manual",status="aborted"}',
    ];
    for (const one of series) expect(seriesValue(body, one), one).toBe(0);
    expect(body).not.toMatch(/status="processing"/);
  });

  test('report the connections of each pool', async () => {
    const { pool, engineDb, deliveryDb } = open.database;
    const held = await engineDb.$client.connect();
    const { body } = await open.anonymous.get('/metrics');
    held.release();
    const max = (name: string) => seriesValue(body, `signal_board_database_connections_max{pool="${name}"}`);
    expect(max('requests')).toBe(pool.options.max);
    expect(max('engine')).toBe(engineDb.$client.options.max);
    expect(max('deliveries')).toBe(deliveryDb.$client.options.max);
    const busy = 'signal_board_database_connections{pool="engine",state="busy"}';
    expect(seriesValue(body, busy)).toBeGreaterThan(0);
    expect(seriesValue(body, 'signal_board_database_waiting{pool="engine"}')).toBe(0);
  });

  test('use an error of the catalogue for a refusal', async () => {
    const answer = await guarded.anonymous.get('/metrics');
    expect(answer.json()).toEqual({ message: 'Metrics are read with their own token' });
  });
});

describe('metrics after a traded signal', () => {
  let board: ExchangeWorld;
  let text: string;
  let trader: { id: string; username: string };

  const read = async () => {
    const answer = await board.anonymous.get('/metrics');
    expect(answer.statusCode).toBe(200);
    return answer.body;
  };

  beforeAll(async () => {
    board = await startWorld({ exchange: 'paper', engine: true });
    trader = await board.createTrader();
    await board.site.push('BTC', '65000');
    await board.traded(await board.signal({ token: 'BTC', price: '65000' }));
    text = await read();
  });
  afterAll(() => board.close());

  test('count its delivery, workflow and order, and how long it took', () => {
    expect(seriesValue(text, 'signal_board_deliveries_total{kind="signal",result="stored"}')).toBe(1);
    expect(seriesValue(text, 'signal_board_delivery_acknowledgement_seconds_count{kind="signal"}')).toBe(1);
    expect(seriesValue(text, 'signal_board_workflows_total{trigger="automatic",status="completed"}')).toBe(1);
    const filled = 'signal_board_orders_total{platform="Bitget",trigger="automatic",outcome="filled"}';
    expect(seriesValue(text, filled)).toBe(1);
    expect(seriesValue(text, 'signal_board_signal_to_order_seconds_count')).toBe(1);
    expect(seriesValue(text, 'signal_board_signal_to_order_seconds_bucket{le="+Inf"}')).toBe(1);
    expect(seriesValue(text, 'signal_board_signal_to_order_seconds_sum')).toBeGreaterThan(0);
  });

  test('count exchange calls by operation and result', () => {
    const calls = (operation: string) =>
      seriesValue(
        text,
        `signal_board_exchange_calls_total{platform="Bitget",operation="${operation}",result="success"}`,
      );
    expect(calls('place-order')).toBe(1);
    expect(calls('contracts')).toBeGreaterThan(0);
    expect(seriesValue(text, 'signal_board_exchange_call_seconds_count{platform="Bitget"}')).toBeGreaterThan(
      5,
    );
  });

  test('report open positions and work', () => {
    for (const [series, value] of [
      ['positions_open', 1],
      ['positions_unprotected', 0],
      ['orders_unknown', 0],
      ['orders_unfinished', 0],
      ['instances', 1],
      ['database_up', 1],
      ['engine_running', 1],
      ['jobs_waiting{queue="run-workflow"}', 0],
      ['jobs_giving_way', 0],
      ['jobs_beside', 0],
    ] as const) {
      expect(seriesValue(text, `signal_board_${series}`), series).toBe(value);
    }
    expect(seriesValue(text, 'process_cpu_seconds_total')).toBeGreaterThan(0);
  });

  test('contain no user, key or token', () => {
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/);
    expect(text).not.toContain(trader.username);
    expect(text).not.toContain('BTC');
    expect(text).not.toContain('@');
  });

  test('read the database at most once in five seconds', async () => {
    await board.db.update(trades).set({ positionClosedAt: new Date() });
    for (const again of await Promise.all([read(), read(), read()])) {
      expect(seriesValue(again, 'signal_board_positions_open')).toBe(1);
    }
  });

  test('count a demo position only in demo mode, and a live one in any mode', async () => {
    const count = async (exchangeMode: 'demo' | 'live', mode: ExchangeMode) => {
      await board.db
        .update(trades)
        .set({ positionClosedAt: null, protectionStatus: 'missing', exchangeMode });
      const { figures } = await readOpenWork(board.db, mode);
      return [figures.positions_open, figures.positions_unprotected];
    };
    expect(await count('demo', 'paper')).toEqual([0, 0]);
    expect(await count('demo', 'demo')).toEqual([1, 1]);
    expect(await count('live', 'paper')).toEqual([1, 1]);
  });
});

test('counts deliveries by kind and result', async () => {
  const board = await startWorld({ config: { webhookRateLimit: 3 } });
  const sender = await createSender({ app: board.app, client: board.admin });
  await sender.signal();
  await sender.signal();
  await sender.send('trading_view_signal', 'not a signal');
  await sender.signal({ price: '66000' });
  await sender.signal({}, { query: '?hkid=unknown' });
  await sender.send('trading_view_candler', 'x'.repeat(100_000));
  const { body } = await board.anonymous.get('/metrics');
  const count = (kind: string, result: string) =>
    seriesValue(body, `signal_board_deliveries_total{kind="${kind}",result="${result}"}`);
  expect(
    ['stored', 'duplicate', 'refused', 'limited', 'unknown-key'].map((one) => count('signal', one)),
  ).toEqual([1, 1, 1, 1, 1]);
  expect(count('candle', 'refused')).toBe(1);
  expect(count('candle', 'stored')).toBe(0);
  await board.close();
});

testEveryCase('reports only the instance’s own metrics while the database is unavailable', async () => {
  const board = await startWorld();
  const { connection } = board.database;
  const name = 'database' in connection ? connection.database : '';
  const server = new pg.Client({ ...connection, database: 'postgres' });
  await server.connect();
  await server.query(`alter database ${name} allow_connections false`);
  await server.query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1', [
    name,
  ]);
  const { statusCode, body } = await board.anonymous.get('/metrics');
  expect(statusCode).toBe(200);
  expect(seriesValue(body, 'signal_board_database_up')).toBe(0);
  expect(seriesValue(body, 'signal_board_orders_unknown')).toBeUndefined();
  expect(seriesValue(body, 'signal_board_deliveries_total{kind="signal",result="stored"}')).toBe(0);
  await server.query(`alter database ${name} allow_connections true`);
  await server.end();
  await board.close();
});
