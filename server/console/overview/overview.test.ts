import { afterAll, expect, test } from 'vitest';
import type { OverviewAnswer, TradingStatesAnswer } from '#contract/overview.ts';
import type { Signal } from '#contract/signals.ts';
import type { StrategiesAnswer } from '#contract/strategies.ts';
import { recordSnapshot } from '#server/engine/protection/account-figures.store.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { aheadClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld, type TestUser, TRADING } from '#test/world.ts';
import { createBalanceReader } from './balance-reader.ts';

const clock = aheadClock();
const board = await startWorld({ ...TRADING, clock });
const keys = await startWorld({ exchange: 'demo', config: { exchangeTimeoutMs: 700 }, clock });
/** For which a reading of the positions is used. */
const READING_MS = 5_000;
afterAll(async () => {
  await keys.close();
  await board.close();
});
const [ada, bob] = [
  await board.createTrader({ signalProcessor: 'Any' }),
  await board.createTrader({ signalProcessor: 'UD Bot' }),
];
const sender = await createSender({ app: board.app, client: board.admin });

const overview = async () => (await board.admin.get('/api/overview')).json<OverviewAnswer>();
const own = async ({ client }: TestUser) => (await client.get('/api/my-overview')).json<OverviewAnswer>();
const accountOf = ({ accounts }: OverviewAnswer, { username }: TestUser) =>
  accounts.find((account) => account.username === username);
const sentences = ({ activity }: OverviewAnswer) =>
  activity.map(({ kind, who, text, amount }) => [kind, `${who} ${text}`, amount]);

let minute = 0;
async function candle(token: string, Close: string): Promise<void> {
  minute += 1;
  const DateTime = new Date(Date.now() - 3_600_000 + minute * 60_000)
    .toISOString()
    .slice(0, 16)
    .replaceAll(/\D/g, '');
  const figures = { Open: Close, High: Close, Low: Close, Close };
  const answer = await sender.candle({
    Symbol: `${token}USDT`,
    ...figures,
    DateTime,
    ATR: '1',
    mature_trend: 'up',
  });
  expect(answer.statusCode, answer.body).toBe(200);
}

async function signal(token: string, price: string): Promise<void> {
  const time = new Date().toISOString();
  const { id } = (await sender.signal({ symbol: `${token}USDT`, price, time })).json<{ id: string }>();
  await expect
    .poll(async () => (await board.admin.get(`/api/signals/${id}`)).json<Signal>().workflowStatus, {
      timeout: 20_000,
    })
    .toBe('completed');
}

// Requirements: additions-overview-5
test('before the first trade the figures are zero, and every account is shown with its state', async () => {
  const answer = await overview();
  expect(answer).toMatchObject({
    netToday: { amount: '0', gross: '0', trades: 0, unknown: 0 },
    net7d: { amount: '0', trades: 0 },
    open: { profit: '0', positions: 0, users: 0, riskToStops: '0', withoutStop: 0, unread: 0 },
    equity: '30000',
    wins: { won: 0, trades: 0 },
    fills: { filled: 0, orders: 0 },
    activity: [],
  });
  expect(answer.accounts.map(({ username, state, equity, key }) => [username, state, equity, key])).toEqual([
    [ada.username, 'trading', '10000', 'paper'],
    [bob.username, 'trading', '10000', 'paper'],
    ['admin@example.com', 'off', '10000', 'paper'],
  ]);
});

// Requirements: additions-overview-5
test('an open position, its risk and its end are in the figures, for its user and for administrators', async () => {
  await candle('ETH', '100');
  await signal('ETH', '100');
  await candle('ETH', '101');
  clock.advance(READING_MS);
  const position = (await board.admin.get('/api/positions')).json().open[0];
  await expect.poll(async () => (await overview()).open.profit, { timeout: 15_000 }).not.toBe('0');
  const during = await overview();
  const quantity = Number(position.quantity);
  expect(Number(during.open.profit)).toBeCloseTo((101 - Number(position.entryPrice)) * quantity, 6);
  expect(Number(during.open.riskToStops)).toBeCloseTo((101 - Number(position.stopLoss)) * quantity, 6);
  expect(during.open).toMatchObject({ positions: 1, users: 1, withoutStop: 0 });
  expect(during.fills).toEqual({ filled: 1, orders: 1 });
  expect(Number(accountOf(during, ada)?.exposure)).toBeCloseTo(101 * quantity, 6);
  expect(accountOf(during, bob)).toMatchObject({ exposure: '0', openPositions: 0 });
  expect(sentences(during)).toEqual([['signal', 'ETH Buy from Tesla filled for 1 of 1 user', null]]);

  // Through its target.
  await candle('ETH', '110');
  clock.advance(READING_MS);
  await expect.poll(async () => (await overview()).netToday.trades, { timeout: 20_000 }).toBe(1);
  const [closed] = await board.query(
    'select realised_profit::text as gross, (realised_profit - fees)::text as net from closed_positions',
  );
  const after = await overview();
  const result = { gross: expect.any(String), trades: 1, unknown: 0 };
  for (const sums of [after.netToday, after.net7d]) {
    expect(sums).toMatchObject(result);
    expect([Number(sums.amount), Number(sums.gross)]).toEqual([Number(closed.net), Number(closed.gross)]);
  }
  expect(after.wins).toEqual({ won: 1, trades: 1 });
  const { strategies } = (await board.admin.get('/api/strategies')).json<StrategiesAnswer>();
  const [strategy] = strategies.filter(({ closed7d }) => closed7d > 0);
  expect(strategy).toMatchObject({ closed7d: 1, won7d: 1, unknown7d: 0 });
  // Every six hours; the trade was closed in the last of them.
  expect(strategy?.trend7d).toHaveLength(29);
  expect(strategy?.trend7d.map(({ net }) => Number(net)).slice(-2)).toEqual([0, Number(closed.net)]);
  expect(after.open).toMatchObject({ positions: 0, profit: '0', riskToStops: '0' });
  expect(Number(accountOf(after, ada)?.net7d)).toBe(Number(closed.net));
  expect(accountOf(after, bob)?.net7d).toBe('0');
  expect(after.activity[0]).toMatchObject({
    kind: 'closed',
    who: ada.username,
    text: 'closed ETH Long at its target, net',
  });
  expect(Number(after.activity[0]?.amount)).toBe(Number(closed.net));

  const mine = await own(ada);
  expect(mine.accounts.map(({ username }) => username)).toEqual([ada.username]);
  expect(mine.net7d.trades).toBe(1);
  expect(mine.activity.map(({ kind }) => kind)).toEqual(['closed', 'opened']);
  const others = await own(bob);
  expect(others).toMatchObject({ net7d: { trades: 0 }, fills: { orders: 0 }, activity: [] });
  expect(JSON.stringify(others)).not.toContain(ada.username);
});

// Requirements: additions-overview-5
test('results are of today in the display time zone, of seven days, and unknown ones are only counted', async () => {
  const before = await overview();
  await board.query("update closed_positions set closed_at = now() - interval '6 days'");
  const older = await overview();
  expect([older.netToday.trades, older.net7d.trades]).toEqual([0, 1]);
  expect(older.net7d.amount).toBe(before.net7d.amount);
  await board.query('update closed_positions set realised_profit = null');
  const unknown = await overview();
  expect(unknown.net7d).toMatchObject({ amount: '0', trades: 1, unknown: 1 });
  expect(unknown.wins).toEqual({ won: 0, trades: 0 });
  expect(sentences(unknown)).toContainEqual([
    'closed',
    `${ada.username} closed ETH Long at its target, the result is not known yet`,
    null,
  ]);
  await board.query("update closed_positions set closed_at = now() - interval '8 days'");
  expect((await overview()).net7d.trades).toBe(0);
});

// Requirements: additions-overview-7
test('the signals of today are counted by what came of them, and gauges have their limits', async () => {
  const before = await overview();
  const [{ signals }] = await board.query('select count(*)::int as signals from signal_outcomes');
  expect(before.outcomesToday).toEqual({
    ...{ running: 0, partial: 0, not_filled: 0, skipped: 0, aborted: 0, failed: 0 },
    filled: signals,
  });
  expect((await own(ada)).outcomesToday).toBeNull();
  expect([before.open.riskLimit, accountOf(before, ada)?.exposureLimit]).toEqual([null, null]);
  await board.admin.put('/api/risk-limits', { maxRisk: '4%' });
  await board.admin.put(`/api/risk-limits/users/${ada.user.id}`, { maxExposure: '3x', maxRisk: '2%' });
  const limited = await overview();
  expect(Number(limited.open.riskLimit)).toBeCloseTo(Number(limited.equity) * 0.04, 8);
  const { equity, exposureLimit } = accountOf(limited, ada) ?? {};
  expect(Number(exposureLimit)).toBeCloseTo(Number(equity) * 3, 8);
  expect(Number((await own(ada)).open.riskLimit)).toBeCloseTo(Number(equity) * 0.02, 8);
  await board.admin.put('/api/risk-limits', { maxRisk: null });
  await board.admin.put(`/api/risk-limits/users/${ada.user.id}`, { maxExposure: null, maxRisk: null });
});

// Requirements: additions-overview-7
test('the states of users have what each is worth, as recorded, and made lately', async () => {
  const at = board.deps.clock.now();
  await recordSnapshot(board.deps.db, {
    ...{ id: timeOrderedId(), userId: ada.user.id, exchangePlatform: 'Bitget', exchangeMode: 'paper', at },
    ...{ takenFor: 'hour', equity: '10250.5', walletBalance: '10250.5', openProfit: '0', positions: [] },
  });
  const { states } = (await board.admin.get('/api/trading-states')).json<TradingStatesAnswer>();
  const worth = states.map(({ userId, equity, equityAt }) => [userId, equity, equityAt]);
  expect(worth).toContainEqual([ada.user.id, '10250.5', at.toISOString()]);
  expect(worth).toContainEqual([bob.user.id, null, null]);
  const { accounts } = await overview();
  for (const { userId, net7d } of states) {
    const account = accounts.find((one) => one.userId === userId);
    if (account !== undefined) expect(net7d).toBe(account.net7d);
  }
});

// Requirements: additions-overview-5
test('each user has one state, and the accounts that need a look come first', async () => {
  const until = '2999-01-01T00:00:00.000Z';
  await board.admin.put(`/api/admin/user-settings/${ada.user.id}`, { tradingPausedUntil: until });
  await board.query(
    `insert into trading_halts (id, user_id, exchange_platform, token, kind, reason, since)
     values (gen_random_uuid(), $1, 'Bitget', 'XRP', 'unprotected', 'No stop', now())`,
    [bob.user.id],
  );
  const { accounts, activity } = await overview();
  expect(
    accounts.map(({ username, state, pausedUntil, reason }) => [username, state, pausedUntil, reason]),
  ).toEqual([
    [bob.username, 'halted', null, 'No stop'],
    [ada.username, 'paused', until, null],
    ['admin@example.com', 'off', null, null],
  ]);
  expect(activity[0]).toMatchObject({ kind: 'halted', who: bob.username, text: 'was halted: No stop' });
  await board.query('update trading_halts set ended_at = now()');
  expect((await overview()).activity[0]).toMatchObject({ kind: 'resumed', who: bob.username });
  const { states } = (await board.admin.get('/api/trading-states')).json<TradingStatesAnswer>();
  expect(states).toContainEqual(
    expect.objectContaining({ userId: ada.user.id, state: 'paused', pausedUntil: until, reason: null }),
  );
  await board.admin.put(`/api/admin/user-settings/${ada.user.id}`, { tradingPausedUntil: null });
  expect(accountOf(await overview(), ada)?.state).toBe('trading');
});

// Requirements: additions-limits-11
test('a user outside the own trading hours has that state, with the next opening', async () => {
  const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  const limits = `/api/risk-limits/users/${ada.user.id}`;
  const hours = (day: number) => [{ days: [days[day % 7]], from: '00:00', to: '24:00' }];
  const now = board.deps.clock.now();
  const states = async () =>
    (await board.admin.get('/api/trading-states')).json<TradingStatesAnswer>().states;
  const opensOn = now.getUTCDay() + 3;
  await board.admin.put(limits, { schedule: { zone: 'UTC', windows: hours(opensOn) } });
  const opening = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 3));
  const pausedUntil = opening.toISOString();
  expect(await states()).toContainEqual(
    expect.objectContaining({
      userId: ada.user.id,
      state: 'outside_hours',
      pausedUntil,
      reason: null,
    }),
  );
  await board.admin.put(limits, {});
  expect(accountOf(await overview(), ada)?.state).toBe('trading');
});

// Requirements: additions-overview-5
testEveryCase('an account that cannot be read is named, and its last known equity stays', async () => {
  const trader = await keys.createTrader();
  const key = keys.newKey();
  const read = async () => (await keys.admin.get('/api/overview')).json<OverviewAnswer>();
  expect(accountOf(await read(), trader)).toMatchObject({ state: 'no_key', key: 'missing', equity: null });
  expect((await keys.enter(trader, key)).statusCode).toBe(200);
  const balances = createBalanceReader(keys.deps);
  const account = { userId: trader.user.id, exchangePlatform: 'Bitget' };
  expect((await balances.read([account]))[0]?.equity).toBe('10000');
  keys.site.setFaults([{ kind: 'refuse', code: '40725', on: { times: Infinity } }]);
  clock.advance(READING_MS);
  const unread = async () => accountOf(await read(), trader)?.unread;
  await expect.poll(unread, { timeout: 15_000 }).toContain('Bitget');
  const away = accountOf(await read(), trader);
  expect(away).toMatchObject({ state: 'trading', key: 'valid', exposure: null });
  expect((await read()).open.unread).toBe(1);
  expect((await balances.read([account]))[0]?.equity).toBe('10000');
  keys.site.setFaults([]);
});

test('only administrators see all accounts', async () => {
  for (const path of ['/api/overview', '/api/trading-states']) {
    expect((await ada.client.get(path)).statusCode, path).toBe(403);
  }
  expect((await board.anonymous.get('/api/my-overview')).statusCode).toBe(401);
});
