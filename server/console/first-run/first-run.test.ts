import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { DemoSignalAnswer, FirstRunAnswer } from '#contract/first-run.ts';
import type { TestDeliveryAnswer } from '#contract/hooks.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { expectAnswer } from '#test/app/test-client.ts';
import { startWorld, TRADING, type World } from '#test/world.ts';

const open: World[] = [];
afterAll(async () => {
  for (const board of open) await board.close();
});

async function start(options: Parameters<typeof startWorld>[0]) {
  const board = await startWorld(options);
  open.push(board);
  return board;
}

const read = async (board: World) => (await board.admin.get('/api/first-run')).json<FirstRunAnswer>();
const doneOf = ({ steps }: FirstRunAnswer) => steps.filter(({ done }) => done).map(({ step }) => step);
const detailOf = ({ steps }: FirstRunAnswer, name: string) =>
  steps.find(({ step }) => step === name)?.detail ?? '';
const adminId = async (board: World) => {
  const [row] = await board.query('select id from users where is_admin');
  return row.id as string;
};
const sendDemo = (board: World) => board.admin.post('/api/first-run/demo-signal', {});

describe('on paper', () => {
  // Requirements: additions-overview-1, additions-overview-2
  test('a fresh installation fills its first order in three calls, and each step shows as done', async () => {
    const board = await start(TRADING);
    const fresh = await read(board);
    expect(fresh).toMatchObject({
      filled: false,
      exchangeMode: 'paper',
      automatic: true,
      mayDemo: true,
      candle: false,
      signal: false,
    });
    expect(doneOf(fresh)).toEqual(['user']);
    expect(detailOf(fresh, 'user')).toBe(
      'admin@example.com: paper account with $10,000.00, Tesla, Technical Analysis',
    );
    expect(fresh.tradingUser?.username).toBe('admin@example.com');

    const hook = (await board.admin.post('/api/hooks', {})).json<{ hookKey: string }>();
    const withHook = await read(board);
    expect(doneOf(withHook)).toEqual(['webhook', 'user']);
    expect(detailOf(withHook, 'webhook')).toContain(`hkid=${hook.hookKey.slice(0, 4)}…`);
    expect(JSON.stringify(withHook)).not.toContain(hook.hookKey);

    await board.setTrading(fresh.tradingUser?.id ?? '', true);
    expect(doneOf(await read(board))).toEqual(['webhook', 'user', 'trading']);

    const sent = await sendDemo(board);
    expect(sent.statusCode, sent.body).toBe(200);
    expect(sent.json<DemoSignalAnswer>().message).toBe('BTC Buy at 97098.87 was sent with its candle');
    await expect.poll(async () => (await read(board)).filled, { timeout: 20_000 }).toBe(true);
    const ended = await read(board);
    expect(doneOf(ended)).toEqual(['webhook', 'user', 'trading', 'signal', 'fill']);
    expect(detailOf(ended, 'fill')).toMatch(/^Bought [\d.]+ BTC at [\d.]+ for admin@example\.com$/);
    // Sized by Technical Analysis, which needs the ATR of the candle.
    const [calculation] = await board.query('select position from position_generator_logs');
    expect(calculation.position).toMatchObject({ method: 'Technical Analysis', atr: '436.94' });
    const [trade] = await board.query('select fill_status, protection_status from trades');
    expect(trade).toEqual({ fill_status: 'filled', protection_status: 'verified' });
  });

  // Requirements: additions-overview-3
  testEveryCase(
    'the demo signal uses the last price, and one that follows the user’s own processor and timeframe',
    async () => {
      const board = await start(TRADING);
      await board.admin.post('/api/hooks', {});
      const id = await adminId(board);
      await board.admin.put('/api/user-settings', { signalProcessor: 'UD Bot', signalTimeframe: '1h' });
      await board.setTrading(id, true);
      const [hook] = (await board.admin.get('/api/hooks')).json<{ id: string }[]>();
      const payload = { Symbol: 'BTCUSDT', Timeframe: '5', DateTime: '202601020300', Close: '64000.5' };
      const stored = await board.admin.post(`/api/hooks/${hook?.id}/test-deliveries`, {
        kind: 'candle',
        payload,
      });
      expect(stored.json<TestDeliveryAnswer>().success).toBe(true);

      expect((await sendDemo(board)).statusCode).toBe(200);
      const [signal] = await board.query('select price, processor, timeframe, action from signals');
      expect(signal).toEqual({ price: '64000.5', processor: 'UD Bot', timeframe: '1h', action: 'buy' });
      await expect.poll(async () => (await read(board)).filled, { timeout: 20_000 }).toBe(true);
    },
  );

  testEveryCase('a signal that nobody may trade names the reason, and can be sent again', async () => {
    const board = await start(TRADING);
    await board.admin.post('/api/hooks', {});
    // A busy machine may answer 503: send again.
    const send = () => expect.poll(async () => (await sendDemo(board)).statusCode).toBe(200);
    for (const _ of [1, 2]) await send();
    expect((await board.query('select id from signals')).length).toBeGreaterThanOrEqual(2);
    await expect
      .poll(async () => detailOf(await read(board), 'fill'), { timeout: 20_000 })
      .toBe('BTC Buy has filled nobody yet. Nobody eligible: Active trading is off');
    expect(doneOf(await read(board))).toEqual(['webhook', 'user', 'signal']);
  });

  testEveryCase('says where trading is off for good, and that a pause keeps trading off', async () => {
    const board = await start({});
    const id = await adminId(board);
    expect(await read(board)).toMatchObject({ automatic: false });
    expect(detailOf(await read(board), 'fill')).toContain('trigger one under Signals');
    await board.setTrading(id, true);
    const tradingPausedUntil = '2999-01-01T00:00:00.000Z';
    await board.admin.put(`/api/admin/user-settings/${id}`, { tradingPausedUntil });
    const paused = await read(board);
    expect(doneOf(paused)).not.toContain('trading');
    expect(detailOf(paused, 'trading')).toContain('is paused');
    await board.admin.put(`/api/admin/user/${id}/status`, { isActive: true });
    await board.query('update users set is_test_user = false');
    expect(detailOf(await read(board), 'user')).toContain('an active test user');
    expect((await read(board)).tradingUser).toBeNull();
  });

  testEveryCase('a suspended webhook is not done, and a demo signal needs a webhook of its own', async () => {
    const board = await start({});
    expectAnswer(await sendDemo(board), 404, 'Webhook not found');
    const hook = (await board.admin.post('/api/hooks', {})).json<{ id: string }>();
    await board.admin.put(`/api/admin/hooks/${hook.id}`, { suspended: true });
    const answer = await read(board);
    expect(doneOf(answer)).not.toContain('webhook');
    expect(detailOf(answer, 'webhook')).toContain('suspended');
    expectAnswer(await sendDemo(board), 409, 'An administrator suspended this webhook');
  });
});

describe('where real money is traded', () => {
  let board: World;
  beforeEach(async () => {
    board ??= await start({
      config: {
        appEnv: 'production',
        exchangeMode: 'live',
        autoTrade: { enabled: true, configured: true },
        bitgetBaseUrl: 'http://127.0.0.1:9',
        bybitBaseUrl: 'http://127.0.0.1:9',
        exchangeTimeoutMs: 1000,
      },
    });
  });

  // Requirements: additions-overview-3
  test('no demo signal is sent, and a user needs a key', async () => {
    const answer = await read(board);
    expect(answer).toMatchObject({ exchangeMode: 'live', mayDemo: false, tradingUser: null });
    expect(detailOf(answer, 'user')).toContain('a key of the exchange');
    await board.admin.post('/api/hooks', {});
    const message = 'Test deliveries are refused while real money is traded automatically';
    expectAnswer(await sendDemo(board), 403, message);
    expect(await board.query('select id from signals')).toEqual([]);
  });
});

test('only administrators may read the steps or send the demo signal', async () => {
  const board = await start({});
  const { client } = await board.createUser();
  expect((await client.get('/api/first-run')).statusCode).toBe(403);
  expect((await client.post('/api/first-run/demo-signal', {})).statusCode).toBe(403);
});
