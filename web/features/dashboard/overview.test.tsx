// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { OverviewAccount, OverviewAnswer } from '#contract/overview.ts';
import {
  alertOf,
  dialog,
  eventually,
  expectToast,
  failure,
  findTitle,
  PENDING,
  page,
  recorded,
  renderApp,
  scopeOf,
} from '#test/web/render-app.tsx';

const OVERVIEW = 'GET /api/overview';
const OWN = 'GET /api/my-overview';

const account = (more: Partial<OverviewAccount> = {}): OverviewAccount => ({
  userId: '369facc9-2cce-4f28-8207-fafeba757fbb',
  username: 'ada@example.com',
  exchangePlatform: 'Bitget',
  state: 'trading',
  pausedUntil: null,
  reason: null,
  equity: '12486.31',
  equityAt: '2026-03-04T05:06:07.000Z',
  net7d: '318.42',
  exposure: '7491.786',
  exposureLimit: null,
  openPositions: 2,
  key: 'valid',
  unread: null,
  ...more,
});

const overview = (more: Partial<OverviewAnswer> = {}): OverviewAnswer => ({
  at: '2026-03-04T05:10:07.000Z',
  exchangeMode: 'paper',
  netToday: { amount: '364.88', gross: '400', trades: 8, unknown: 0 },
  net7d: { amount: '-12.5', gross: '20.25', trades: 48, unknown: 2 },
  open: {
    profit: '30.52',
    positions: 11,
    users: 4,
    riskToStops: '313.49',
    riskLimit: null,
    withoutStop: 0,
    unread: 0,
  },
  equity: '61206.83',
  wins: { won: 28, trades: 48 },
  fills: { filled: 159, orders: 169 },
  outcomesToday: { running: 1, filled: 9, partial: 2, not_filled: 1, skipped: 3, aborted: 0, failed: 0 },
  accounts: [account()],
  activity: [
    {
      id: 'a',
      at: '2026-03-04T05:08:07.000Z',
      kind: 'closed',
      who: 'ada@example.com',
      text: 'closed SOL Long at its target, net',
      amount: '64.2',
    },
    {
      id: 'b',
      at: '2026-03-04T04:10:07.000Z',
      kind: 'signal',
      who: 'BTC Sell',
      text: 'from Tesla filled for 3 of 4 users',
      amount: null,
    },
  ],
  ...more,
});

const tile = async (label: string) =>
  (await page().findByText(label, { selector: 'main dt' })).closest('div')?.textContent;
const inBar = async (label: string) =>
  (await page().findByText(label, { selector: 'header dt' })).closest('div')?.textContent;
const cards = async () =>
  scopeOf(await page().findByRole('list', { name: 'Accounts' })).getAllByRole('listitem');

// Requirements: additions-overview-5
test('shows the figures net of fees, with what they are of', async () => {
  renderApp('/', { [OVERVIEW]: overview() });
  expect(await tile('Net today')).toBe('Net today+$364.888 closed trades, after fees');
  expect(await tile('Net in 7 d')).toBe('Net in 7 d−$12.50gross $20.25 before fees, 2 results not known yet');
  expect(await tile('Open profit')).toBe('Open profit+$30.5211 positions of 4 users');
  expect(await tile('Risk to stops')).toBe('Risk to stops$313.490.51% of equity');
  expect(await tile('Win rate')).toBe('Win rate58.3%28 of 48 trades in 7 d');
  expect(await tile('Fill rate')).toBe('Fill rate94.1%159 of 169 orders in 7 d');
  const activity = scopeOf(page().getByRole('list', { name: 'Activity' }));
  expect(activity.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    'ada@example.com closed SOL Long at its target, net +$64.202 minutes ago',
    'BTC Sell from Tesla filled for 3 of 4 users1 hour ago',
  ]);
});

// Requirements: additions-overview-5
test('says what the figures leave out, and shows nothing that is not known as zero', async () => {
  renderApp('/', {
    [OVERVIEW]: overview({
      open: {
        profit: '0',
        positions: 1,
        users: 1,
        riskToStops: '0',
        riskLimit: null,
        withoutStop: 1,
        unread: 2,
      },
      wins: { won: 0, trades: 0 },
      fills: { filled: 0, orders: 0 },
      equity: null,
      accounts: [
        account({ equity: null, equityAt: null, exposure: null, unread: 'Bitget has not answered' }),
      ],
      activity: [],
    }),
  });
  expect(await tile('Open profit')).toContain(
    '1 position of 1 user, without 2 accounts that could not be read',
  );
  expect(await tile('Risk to stops')).toBe('Risk to stops$0.001 position without a stop');
  expect(await tile('Win rate')).toContain('–');
  const [card] = await cards();
  expect(card?.textContent).toContain('–');
  expect(card?.textContent).toContain('Exposure not known');
  expect(card?.textContent).toContain('Bitget has not answered');
  page().getByText('Nothing in the last seven days');
});

const EQUITY = 'GET /api/performance/equity';
const point = (hour: number, equity: string, change: string, complete = true) => ({
  ...{ at: `2026-03-03T${String(hour).padStart(2, '0')}:00:00.000Z`, equity, change, accounts: 1, complete },
});
const equityOf = (points: ReturnType<typeof point>[], deposits = 'none') => ({
  ...{ timeZone: 'America/Los_Angeles', unit: 'hour', points, deposits, at: '2026-03-04T05:10:07.000Z' },
});

// Requirements: additions-overview-7, results-equity-2
test('equity is drawn over a range that stands in the address, with a table, and says where it is incomplete', async () => {
  const points = [point(10, '1000', '0'), point(11, '1500', '10', false), point(12, '1490', '5')];
  const app = renderApp('/', {
    [OVERVIEW]: overview({ accounts: [account({ exposureLimit: '9364.7325' })] }),
    [EQUITY]: equityOf(points),
    'GET /api/performance/equity/accounts': {
      accounts: [{ userId: account().userId, exchangePlatform: 'Bitget', points }],
      at: points[0]?.at,
    },
  });
  await page().findByRole('img', {
    name: /^Equity from 2026\/03\/03 02:00.* ends at \$1,490.00, between \$1,000.00 and \$1,500.00$/,
  });
  const panel = (await page().findByText('Equity of 1 account')).closest('section');
  expect(panel?.textContent).toContain('$61,206.83+$5.00 (0.50%) in this range');
  expect(panel?.textContent).toContain('Incomplete: at 1 of 3 times an account was not read');
  page().getByRole('img', { name: 'Equity of ada@example.com over 7 days' });
  const [card] = await cards();
  expect(card?.textContent).toContain('Exposure 0.6× of 0.8×');
  expect(page().getByRole('meter', { name: 'Exposure of ada@example.com' }).dataset.level).toBe('near');
  page().getByText('Signals today: 9 filled, 2 partial, 1 not filled, 3 skipped, 1 running');
  await app.user.click(page().getByRole('button', { name: 'Show as table' }));
  const table = scopeOf(await page().findByRole('table', { name: 'Equity' }));
  expect(table.getAllByRole('row').map(({ textContent }) => textContent)).toEqual([
    'TimeEquityBelow the highest',
    expect.stringMatching(/^2026\/03\/03 04:00.*\$1,490.00−\$5.00$/),
    expect.stringMatching(/^2026\/03\/03 03:00.*\(incomplete\)\$1,500.00\$0.00$/),
    expect.stringMatching(/^2026\/03\/03 02:00.*\$1,000.00\$0.00$/),
  ]);
  app.answers[EQUITY] = equityOf([point(10, '1000', '0')], 'unknown');
  await app.user.click(page().getByRole('button', { name: 'All' }));
  await page().findByText(/^Equity is recorded once an hour/);
  expect(app.address()).toBe('/?range=all');
  expect(app.sent(EQUITY).at(-1)?.query).toEqual({});
});

// Requirements: additions-overview-5
test('net, win rate and fill rate follow the range, and say so while they cannot be read', async () => {
  const results = recorded['GET /api/performance'];
  const totals = {
    ...{ ...results.totals, net: '-1234.5', gross: '12', trades: 70, wins: 30, orders: 200, filled: 150 },
    unknown: { ...results.totals.unknown, net: 10 },
  };
  const app = renderApp('/?range=30d', {
    [OVERVIEW]: overview(),
    'GET /api/performance': failure(500, 'Away'),
  });
  await eventually(async () => expect(await tile('Net in 30 d')).toBe('Net in 30 d–could not be read'));
  expect(await tile('Win rate')).toBe('Win rate–could not be read');
  app.answers['GET /api/performance'] = { ...results, totals };
  await app.user.click(page().getByRole('button', { name: 'All' }));
  await eventually(async () =>
    expect(await tile('Net of all time')).toBe(
      'Net of all time−$1,234.50gross $12.00 before fees, 10 results not known yet',
    ),
  );
  expect(await tile('Win rate')).toBe('Win rate50.0%30 of 60 trades of all time');
  expect(await tile('Fill rate')).toBe('Fill rate75.0%150 of 200 orders of all time');
  const asked = app.sent('GET /api/performance').map(({ query }) => query);
  expect(asked[0]?.from).toMatch(/:00:00.000Z$/);
  expect(asked.at(-1)).toEqual({});
  await app.user.click(page().getByRole('button', { name: '7 d' }));
  expect(await tile('Net in 7 d')).toContain('−$12.50');
});

// Requirements: results-equity-2
test('equity that cannot be fetched says so, with a retry', async () => {
  const app = renderApp('/?range=today', { [OVERVIEW]: overview(), [EQUITY]: failure(500, 'Away') });
  const failed = await alertOf('Failed to fetch the equity');
  app.answers[EQUITY] = equityOf([point(10, '1000', '0'), point(11, '900', '-100')], 'unknown');
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await page().findByText('in this range, deposits and withdrawals included');
  expect(app.sent(EQUITY)[0]?.query.from).toMatch(/T0[78]:00:00.000Z$/);
});

// Requirements: additions-overview-5
test('an account is paused for 24 hours and resumed with one button', async () => {
  const path = `PUT /api/admin/user-settings/${account().userId}`;
  const app = renderApp('/', { [OVERVIEW]: overview() });
  const [card] = await cards();
  expect(card?.textContent).toContain('Exposure 0.6× · 2 positions');
  const until = '2999-01-02T12:00:00.000Z';
  app.answers[path] = () => {
    const accounts = [account({ state: 'paused', pausedUntil: until })];
    app.answers[OVERVIEW] = overview({ accounts });
    return { success: true, data: recorded['GET /api/user-settings'].data };
  };
  await app.user.click(page().getByRole('button', { name: 'Pause 24 h: ada@example.com' }));
  await expectToast('Trading paused', 'Nothing new is opened for ada@example.com for 24 h');
  const [sent] = app.sent(path) as unknown as [{ body: { tradingPausedUntil: string } }];
  const { tradingPausedUntil } = sent.body;
  expect(Math.abs(Date.parse(tradingPausedUntil) - Date.now() - 86_400_000)).toBeLessThan(60_000);
  await page().findByText('Paused until 2999/01/02 04:00');
  await app.user.click(page().getByRole('button', { name: 'Resume ada@example.com' }));
  await eventually(() => expect(app.sent(path).at(-1)?.body).toEqual({ tradingPausedUntil: null }));
  app.answers[path] = failure(403, 'Please confirm');
  await app.user.click(page().getByRole('button', { name: 'Resume ada@example.com' }));
  await expectToast('The pause was not changed', 'Please confirm');
});

// Requirements: additions-overview-5
test('an account that cannot trade leads to where that is fixed, and the twelve most urgent are shown first', async () => {
  const many = Array.from({ length: 14 }, (_, index) =>
    account({ userId: `u${index}`, username: `user${index}@example.com`, state: 'off' }),
  );
  const accounts = [
    account({ userId: 'h', state: 'halted', reason: 'No stop' }),
    account({ userId: 'k', state: 'key_refused', key: 'refused' }),
    ...many,
  ];
  const app = renderApp('/', { [OVERVIEW]: overview({ accounts }) });
  expect(await cards()).toHaveLength(12);
  const [halted, refused] = await cards();
  expect(halted?.querySelector('a[href="/positions"]')?.textContent).toBe('Check');
  expect(refused?.textContent).toContain('Bitget key refused');
  await app.user.click(page().getByRole('button', { name: 'Show 4 more' }));
  expect(await cards()).toHaveLength(16);
});

test('the bar of every screen shows the net of the day and the open risk, and what they leave out', async () => {
  const app = renderApp('/audit', { [OVERVIEW]: PENDING });
  expect(await inBar('Net today')).toBe('Net today–');
  expect(await inBar('Open risk to stops')).toBe('Open risk to stops–');
  app.answers[OVERVIEW] = overview();
  app.reload();
  await eventually(async () => expect(await inBar('Net today')).toBe('Net today+$364.88'));
  expect(await inBar('Open risk to stops')).toBe('Open risk to stops$313.49 0.51%');
  app.answers[OVERVIEW] = overview({
    netToday: { amount: '-3', gross: '0', trades: 8, unknown: 2 },
    open: {
      profit: '0',
      positions: 3,
      users: 1,
      riskToStops: '10',
      riskLimit: null,
      withoutStop: 1,
      unread: 2,
    },
  });
  app.reload();
  await eventually(async () => expect(await inBar('Net today')).toBe('Net today−$3.002 unknown'));
  expect(await inBar('Open risk to stops')).toBe('Open risk to stops$10.00 1 without a stop');
});

test('a failed overview offers a retry', async () => {
  const app = renderApp('/', { [OVERVIEW]: failure(500, 'Internal server error') });
  const failed = await alertOf('Failed to fetch the overview');
  app.answers[OVERVIEW] = overview();
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  expect(await tile('Net today')).toContain('+$364.88');
});

// Requirements: additions-overview-5, additions-overview-6
test('an ordinary user sees the own account, the last signals with their reasons, and all of them', async () => {
  const { id, username } = recorded['GET /api/auth/user'].user;
  const own = overview({ accounts: [account({ userId: id, username, state: 'off' })] });
  const app = renderApp('/', { [OWN]: own }, { user: { isAdmin: false } });
  await findTitle(/^Welcome, /);
  const { findByText } = scopeOf(page().getByRole('banner'));
  expect((await findByText('Paper')).dataset.tip).toContain('No real money is traded');
  expect(await tile('Equity')).toBe('Equity$61,206.83Open profit included');
  expect(await tile('Open profit')).toBe('Open profit+$30.5211 positions');
  const last = scopeOf(await page().findByRole('list', { name: 'Last signals' }));
  const [first] = last.getAllByRole('listitem');
  expect(first?.textContent).toContain('ETH');
  page().getByText('Off');
  page().getByRole('list', { name: 'Your last trades' });
  const csv = await page().findByRole('link', { name: 'CSV' });
  expect(csv.getAttribute('href')).toMatch(
    new RegExp(`^/api/statements/${id}\\?month=\\d{4}-\\d{2}&format=csv$`),
  );
  expect(page().queryByRole('button', { name: /Pause/ })).toBeNull();
  await app.user.click(page().getByRole('button', { name: 'All signals' }));
  const all = await dialog(`Decisions - ${username}`);
  await all.findByRole('table', { name: `Decisions on ${username}` });
  expect(all.queryByRole('link', { name: 'Explain' })).toBeNull();
  expect(app.calls.filter(({ key }) => key === OVERVIEW || key.includes('/admin/'))).toEqual([]);
});
