import { afterAll, expect, test } from 'vitest';
import type { AttentionAnswer } from '#contract/attention.ts';
import type { Signal } from '#contract/signals.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld, TRADING, type World } from '#test/world.ts';

const conditionsOf = async (board: World) =>
  (await board.admin.get('/api/attention')).json<AttentionAnswer>().conditions;

const board = await startWorld(TRADING);
const keys = await startWorld({ exchange: 'demo', engine: true, config: { exchangeTimeoutMs: 700 } });
afterAll(async () => {
  await keys.close();
  await board.close();
});
const trader = await board.createTrader({ signalProcessor: 'Any' });
const sender = await createSender({ app: board.app, client: board.admin });
const conditions = () => conditionsOf(board);

/** Sends a signal with its candle, and waits for the end of its workflow. */
async function trade(token: string): Promise<string> {
  const time = new Date().toISOString();
  const DateTime = time.slice(0, 16).replaceAll(/\D/g, '');
  await sender.candle({ Symbol: `${token}USDT`, Close: '100', DateTime, ATR: '1' });
  const { id } = (await sender.signal({ symbol: `${token}USDT`, price: '100', time })).json<{
    id: string;
  }>();
  await expect
    .poll(async () => (await board.admin.get(`/api/signals/${id}`)).json<Signal>().workflowStatus, {
      timeout: 20_000,
    })
    .toBe('completed');
  return id;
}

// Requirements: additions-overview-4
test('a webhook that refuses is named with its reason until a delivery is stored', async () => {
  expect(await conditions()).toEqual([]);
  await sender.signal({ symbol: 'ETHUSDT', price: 'x' });
  await sender.signal({ symbol: 'ETHUSDT', price: '{{close}}' });
  const [found, ...others] = await conditions();
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    code: 'webhook_refused',
    severity: 'warning',
    since: expect.stringMatching(/Z$/),
    link: '/configuration',
    action: 'Open webhooks',
  });
  expect(found?.text).toMatch(
    /^The last 2 deliveries to the webhook of admin@example\.com were refused \(signal\): price: is still the placeholder \{\{close\}\}\.$/,
  );
  const [{ first }] = await board.query('select min(received_at) as first from deliveries');
  expect(found?.since).toBe(first.toISOString());
  await sender.candle({ Symbol: 'ETHUSDT', Close: '100' });
  expect(await conditions()).toEqual([]);

  await sender.signal({ symbol: 'ETHUSDT', price: 'x' });
  expect((await conditions())[0]?.text).toContain('The last delivery to');
  // Forgotten after a day.
  await board.query("update deliveries set received_at = received_at - interval '25 hours'");
  expect(await conditions()).toEqual([]);
  await sender.candle({ Symbol: 'ETHUSDT', Close: '101', DateTime: '202601020315' });
});

// Requirements: additions-overview-4
test('a signal that filled nobody is named until a later one of its token does better', async () => {
  const id = await trade('ADA');
  expect(await conditions()).toEqual([]);
  const unfilled = `update workflows set outcome = 'not_filled', successful_users_count = 0,
      failed_users_count = 1, top_reason = 'Not filled within 5 s' where signal_id = $1`;
  await board.query(unfilled, [id]);
  expect(await conditions()).toEqual([
    {
      code: 'signal_unfilled',
      severity: 'warning',
      since: expect.any(String),
      text: 'ADA Buy from Tesla filled nobody. Not filled 0/1: Not filled within 5 s.',
      link: `/signals?dialog=users&signal=${id}`,
      action: 'Show why',
    },
  ]);
  // Skipped, because the position is open already: nothing failed.
  await trade('ADA');
  expect(await conditions()).toEqual([]);
});

// Requirements: additions-exits-8
test('a signal that should have closed something is critical until the position is closed', async () => {
  await trade('DOT');
  const order = { symbol: 'DOTUSDT', price: '100', time: new Date().toISOString() };
  const statusOf = async (id: string) =>
    (await board.admin.get(`/api/signals/${id}`)).json<Signal>().workflowStatus;
  // It does not say by how much.
  const reduce = { ...order, action: 'sell', prev_market_position: 'long', market_position: 'long' };
  const { id } = (await sender.signal(reduce)).json<{ id: string }>();
  await expect.poll(() => statusOf(id), { timeout: 20_000 }).toBe('failed');
  const [found, ...others] = await conditions();
  expect(others).toEqual([]);
  expect(found).toMatchObject({ code: 'signal_not_closed', severity: 'critical', action: 'Show why' });
  expect(found?.text).toMatch(
    /^A signal of Tesla to reduce DOT was not carried out, and 1 position is still open: .*reduce_percent/,
  );
  const close = (await sender.signal({ ...order, action: 'close' })).json<{ id: string }>();
  await expect.poll(() => statusOf(close.id), { timeout: 20_000 }).toBe('completed');
  expect(await conditions()).toEqual([]);
});

// Requirements: additions-overview-4
test('a position without a stop and a halt are named, the position not twice', async () => {
  await trade('XRP');
  const [{ id: tradeId }] = await board.query("select id from trades where token = 'XRP'");
  await board.query('update trades set unprotected_since = $2 where id = $1', [
    tradeId,
    '2026-03-04T05:06:07.000Z',
  ]);
  expect(await conditions()).toEqual([
    {
      code: 'position_without_stop',
      severity: 'critical',
      since: '2026-03-04T05:06:07.000Z',
      text: `The XRP position of ${trader.username} at Bitget has no verified stop. It is being protected or closed.`,
      link: '/positions',
      action: 'Show positions',
    },
  ]);
  await board.query(
    `insert into trading_halts (id, user_id, exchange_platform, token, trade_id, kind, reason, since)
       values (gen_random_uuid(), $1, 'Bitget', 'XRP', $2, 'unprotected', 'The XRP position has no stop', now())`,
    [trader.user.id, tradeId],
  );
  expect(await conditions()).toMatchObject([
    {
      code: 'trading_halted',
      severity: 'critical',
      text: `Trading of ${trader.username} is halted: The XRP position has no stop.`,
      link: '/positions',
    },
  ]);
  await board.query("update trading_halts set kind = 'unverified'");
  expect(await conditions()).toMatchObject([{ code: 'trading_halted', severity: 'warning' }]);
  await board.query('update trading_halts set ended_at = now()');
  await board.query('update trades set unprotected_since = null');
  expect(await conditions()).toEqual([]);
});

// Requirements: additions-overview-4
testEveryCase('a refused key and an order in doubt are named', async () => {
  const { site } = keys;
  await site.push('ETH', '100');
  const trader = await keys.createTrader();
  const key = keys.newKey();
  expect((await keys.enter(trader, key)).statusCode).toBe(200);
  expect(await conditionsOf(keys)).toEqual([]);
  site.setFaults([
    { kind: 'acceptThenTimeout', on: { path: '/place-order' } },
    { kind: 'refuse', code: '40725', on: { path: '/order/detail', times: Infinity } },
  ]);
  await keys.send('ETH');
  const inDoubt = () => keys.query("select id from order_attempts where state = 'unknown'");
  await expect.poll(async () => (await inDoubt()).length, { timeout: 10_000 }).toBe(1);
  site.replaceKey(key.accountId);
  site.setFaults([]);
  const codes = async () => (await conditionsOf(keys)).map(({ code }) => code);
  await expect.poll(codes, { timeout: 20_000 }).toEqual(['order_in_doubt', 'key_refused']);
  const [order, refused] = await conditionsOf(keys);
  expect(order).toMatchObject({ severity: 'critical', link: '/position-maker', action: 'Check order' });
  expect(order?.text).toContain(`The ETH buy order of ${trader.username} at Bitget is in doubt: `);
  expect(refused).toMatchObject({ severity: 'warning', link: `/settings?userId=${trader.user.id}` });
  expect(refused?.text).toContain(`Bitget refuses the API key of ${trader.username}: `);
  // Somebody who left needs no key.
  await keys.query('update users set is_active = false where id = $1', [trader.user.id]);
  expect(await codes()).toEqual(['order_in_doubt']);
});
