import type { Page } from '@playwright/test';
import type { PriceLog, PriceLogsAnswer } from '#contract/price-logs.ts';
import { runStatements } from './database.ts';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { dialog, pageTitle, tableRows } from './screen.ts';
import { uniqueToken } from './unique.ts';

test.use({ serverEnv: { ...DEVELOPMENT, WEBHOOK_RATE_LIMIT: '0' } });

const rows = (page: Page) => tableRows(page, 'Price Logs');
const pager = (page: Page) => page.getByRole('navigation', { name: 'Pagination' });

async function postCandles(operator: Operator, count: number): Promise<string> {
  const token = uniqueToken();
  const platform = await operator.platform();
  const post = (close: number) => platform.candle({ Symbol: `${token}USDT`, Close: String(close) });
  for (let sent = 0; sent < count; sent += 100) {
    const closes = Array.from({ length: Math.min(100, count - sent) }, (_, index) => sent + index + 1);
    for (const answer of await Promise.all(closes.map(post))) expect(answer.status).toBe(200);
  }
  return token;
}

/** The calls of a page to one path, query left aside. */
function countCalls(page: Page, path: string): () => number {
  let calls = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === path) calls += 1;
  });
  return () => calls;
}

// Requirements: price-logs-1, price-logs-2, price-logs-4, price-logs-5, price-logs-8, price-logs-11
// Requirements: trading-validation-14, trading-validation-16, trading-calls-29
test('price logs are listed with their parameters, and filtered', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  await platform.candle({
    Symbol: `${token}USDT`,
    Close: '1234.5',
    DateTime: '202601020304',
    Timeframe: '60',
  });
  await platform.candle({ Symbol: `${token}USDT`, Close: '1235.5', processor: 'Tesla' });
  await signIn(page);
  await page.goto('/price-logs');
  await expect(pageTitle(page, 'Price Logs')).toBeVisible();
  await page.getByLabel('Token').selectOption(token);
  await expect(page).toHaveURL(`${server.url}/price-logs?token=${token}`);
  const logs = tableRows(page, 'Price Logs');
  await expect(logs).toHaveCount(2);
  await page.getByLabel('Timeframe').selectOption('60m');
  await expect(logs).toHaveCount(1);
  // 03:04 in UTC is the evening before in Los Angeles.
  for (const text of ['$1,234.50', 'USDT', '202601020304', '2026/01/01 19:04:00', '127.0.0.1']) {
    await expect(logs).toContainText(text);
  }
  await expect(logs.getByRole('cell').nth(9)).toHaveText(/^[0-9a-f]{16}…$/);
  await logs.getByRole('button', { name: /^View, parameters of/ }).click();
  const parameters = dialog(page, `Parameters of ${token}`);
  await expect(parameters).toContainText('"mature_trend": "bullish"');
  await page.keyboard.press('Escape');
  await expect(parameters).toBeHidden();
  await expect(page.getByText('A delay of 15-30 minutes is expected')).toBeVisible();

  await page.getByRole('button', { name: 'Clear Filters' }).click();
  await expect(page).toHaveURL(`${server.url}/price-logs`);
  await page.goto('/price-logs?token=NOSUCHTOKEN');
  await expect(page.getByText('No price logs found')).toBeVisible();
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByText('No price logs found')).toBeInViewport({ ratio: 1 });
});

// Requirements: price-logs-4, price-logs-6, price-logs-9, price-logs-11
test('eleven columns stand in their order, and a log without parameters says so', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const token = await postCandles(operator, 1);
  await runStatements(server, [
    { text: "update price_logs set parameters = '{}' where token = $1", values: [token] },
  ]);
  await signIn(page);
  await page.goto(`/price-logs?token=${token}`);
  await expect(rows(page)).toContainText('No parameters available');
  await expect(rows(page).getByRole('button', { name: /^View/ })).toHaveCount(0);
  await expect(page.getByRole('columnheader')).toHaveText([
    'ID',
    'Token',
    'Timeframe',
    'Price',
    'Currency',
    'Original Time (TradingView)',
    'Candle Time (Server TZ)',
    'Received At (Server TZ)',
    'Source',
    'Hash Value',
    'Parameters',
  ]);
  await expect(pager(page)).toHaveCount(0);
  const legend = page.getByRole('main');
  for (const text of [
    "The candle's time as the charting platform sent it",
    'The same moment in the display time zone',
    'When the webhook call arrived. A delay of 15-30 minutes is expected for webhook calls.',
  ]) {
    await expect(legend).toContainText(text);
  }
});

test('a log whose parameters are null or left out says so as well', async ({ page, operator, signIn }) => {
  const token = await postCandles(operator, 2);
  await signIn(page);
  await page.route('**/api/price-logs?*', async (route) => {
    const answer = (await (await route.fetch()).json()) as PriceLogsAnswer;
    const [{ parameters: _left, ...first } = {}, second] = answer.priceLogs as Partial<PriceLog>[];
    await route.fulfill({ json: { ...answer, priceLogs: [first, { ...second, parameters: null }] } });
  });
  await page.goto(`/price-logs?token=${token}`);
  await expect(rows(page)).toHaveCount(2);
  for (const row of await rows(page).all()) await expect(row).toContainText('No parameters available');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

// Requirements: price-logs-2, trading-validation-15
test('each filter has a choice that filters nothing', async ({ page, operator, signIn, server }) => {
  const token = await postCandles(operator, 1);
  await signIn(page);
  await page.goto(`/price-logs?token=${token}&timeframe=15&processor=Nobody&page=2`);
  for (const [label, all] of [
    ['Token', 'All tokens'],
    ['Timeframe', 'All timeframes'],
    ['Processor', 'All processors'],
  ] as const) {
    await expect(page.getByLabel(label).locator('option').first()).toHaveText(all);
  }
  await page.getByLabel('Processor').selectOption('All processors');
  await expect(page).toHaveURL(`${server.url}/price-logs?token=${token}&timeframe=15`);
  await expect(rows(page)).toHaveCount(1);
  await page.getByLabel('Timeframe').selectOption('All timeframes');
  await page.getByLabel('Token').selectOption('All tokens');
  await expect(page).toHaveURL(`${server.url}/price-logs`);
});

test('timeframes that mean the same are one choice, which finds both', async ({ page, operator, signIn }) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  for (const Timeframe of ['45', '45m', '047']) {
    expect((await platform.candle({ Symbol: `${token}USDT`, Close: '1', Timeframe })).status).toBe(200);
    await platform.signal({ symbol: `${token}USDT`, price: '1', timeframe: Timeframe });
  }
  await signIn(page);
  for (const [path, table] of [
    ['/price-logs', 'Price Logs'],
    ['/signals', 'Signal History'],
  ] as const) {
    await page.goto(`${path}?token=${token}`);
    await expect(tableRows(page, table)).toHaveCount(3);
    const choice = page.getByLabel('Timeframe');
    await expect(choice.locator('option').filter({ hasText: /^45m$/ })).toHaveCount(1);
    await choice.selectOption('45m');
    await expect(tableRows(page, table)).toHaveCount(2);
    // Either way of writing it in the address is the same choice.
    for (const timeframe of ['45', '45m']) {
      await page.goto(`${path}?token=${token}&timeframe=${timeframe}`);
      await expect(tableRows(page, table)).toHaveCount(2);
      await expect(choice.locator('option:checked')).toHaveText('45m');
      await expect(choice.locator('option').filter({ hasText: /^45m$/ })).toHaveCount(1);
    }
  }
});

// Requirements: price-logs-9, trading-validation-15, trading-constants-1
test('the numbered buttons are always pages 1 to 5, and a later page is named beside the entries', async ({
  page,
  operator,
  signIn,
}) => {
  test.setTimeout(120_000);
  const token = await postCandles(operator, 601);
  await signIn(page);
  await page.goto(`/price-logs?token=${token}`);
  await expect(pager(page)).toContainText('Showing 1 to 100 of 601 entries');
  const buttons = ['Previous', '1', '2', '3', '4', '5', 'Next'];
  await expect(pager(page).getByRole('button')).toHaveText(buttons);
  await expect(pager(page).getByRole('button', { name: 'Previous' })).toBeDisabled();
  const current = pager(page).locator('[aria-current="page"]');
  await expect(current).toHaveText('1');

  await pager(page).getByRole('button', { name: 'Page 5' }).click();
  await expect(pager(page)).toContainText('Showing 401 to 500 of 601 entries');
  await expect(current).toHaveText('5');
  await pager(page).getByRole('button', { name: 'Next' }).click();
  await expect(pager(page)).toContainText('Showing 501 to 600 of 601 entries');
  await expect(pager(page).getByRole('button')).toHaveText(buttons);
  await expect(current).toHaveText('Page 6 of 7');
  await pager(page).getByRole('button', { name: 'Next' }).click();
  await expect(pager(page)).toContainText('Showing 601 to 601 of 601 entries');
  await expect(rows(page)).toHaveCount(1);
  await expect(pager(page).getByRole('button', { name: 'Next' })).toBeDisabled();
  await page.reload();
  await expect(current).toHaveText('Page 7 of 7');
  await pager(page).getByRole('button', { name: 'Page 2' }).click();
  await expect(current).toHaveText('2');
  await expect(pager(page)).toContainText('Showing 101 to 200 of 601 entries');
});

// Requirements: price-logs-10
test('an address of a page beyond the last one leads to the last one, and back to where it came from', async ({
  page,
  operator,
  signIn,
}) => {
  const token = await postCandles(operator, 101);
  await signIn(page);
  await page.goto('/');
  await page.goto(`/price-logs?token=${token}&page=99`);
  await expect(page).toHaveURL(new RegExp(`token=${token}&page=2$`));
  await expect(pager(page)).toContainText('Showing 101 to 101 of 101 entries');
  await expect(rows(page)).toHaveCount(1);
  await page.goBack();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
});

// Requirements: price-logs-12, trading-calls-15, trading-constants-2
test('the list and the environment status are fetched again every 30 seconds', async ({
  page,
  operator,
  signIn,
}) => {
  const token = await postCandles(operator, 1);
  await signIn(page);
  await page.clock.install();
  const [lists, statuses] = [
    countCalls(page, '/api/price-logs'),
    countCalls(page, '/api/environment/status'),
  ];
  await page.goto(`/price-logs?token=${token}`);
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByRole('banner').getByRole('button', { name: 'Dev Mode' })).toBeVisible();
  // The clock of the page also runs by itself, by as much as a slow machine takes.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000));
  const before = { lists: lists(), statuses: statuses() };
  await page.clock.runFor(30_000);
  await expect.poll(lists).toBe(before.lists + 1);
  await expect.poll(statuses).toBe(before.statuses + 1);
});

// Requirements: price-logs-7
test('ten skeletons stand where the rows will be', async ({ page, operator, signIn }) => {
  const token = await postCandles(operator, 1);
  await signIn(page);
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/api/price-logs?*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`/price-logs?token=${token}`);
  await expect(page.getByRole('table', { name: 'Price Logs' }).locator('tbody tr[aria-hidden]')).toHaveCount(
    10,
  );
  answer();
  await expect(rows(page)).toHaveCount(1);
});

// Requirements: price-logs-3, trading-messages-3
test('a refresh that fails keeps what was loaded, and each list that fails says which', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/api/price-logs', status: 'network' });
  const token = await postCandles(operator, 1);
  await signIn(page);
  const lists = /\/api\/price-logs\/(tokens|timeframes|processors)$/;
  await page.route(lists, (route) => route.abort());
  await page.goto(`/price-logs?token=${token}`);
  await expect(rows(page)).toHaveCount(1);
  const alerts = page.getByRole('main').getByRole('alert');
  await expect(alerts).toContainText([
    'Failed to fetch tokens',
    'Failed to fetch timeframes',
    'Failed to fetch processors',
  ]);
  await page.unroute(lists);
  for (let left = 2; left >= 0; left -= 1) {
    await alerts.first().getByRole('button', { name: 'Try again' }).click();
    await expect(alerts).toHaveCount(left);
  }

  await page.route('**/api/price-logs?*', (route) => route.abort());
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(alerts).toContainText('Failed to fetch price logs');
  await expect(rows(page)).toHaveCount(1);
  await page.unroute('**/api/price-logs?*');
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(alerts).toHaveCount(0);
});
