import type { Page } from '@playwright/test';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { pageTitle, tableRows } from './screen.ts';
import { uniqueToken } from './unique.ts';

test.use({ serverEnv: DEVELOPMENT });

const rows = (page: Page) => tableRows(page, 'Price Logs');

/** Counts the page's calls to one path, ignoring the query. */
function countCalls(page: Page, path: string): () => number {
  let calls = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === path) calls += 1;
  });
  return () => calls;
}

// Requirements: price-logs-1, price-logs-2, trading-validation-14, trading-validation-16, trading-calls-29
test('lists and filters price logs', async ({ page, operator, server }) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  const older = { Close: '1234.5', DateTime: '202601020304', Timeframe: '60' };
  for (const fields of [older, { Close: '1235.5', processor: 'Tesla' }]) {
    expect((await platform.candle({ Symbol: `${token}USDT`, ...fields })).status).toBe(200);
  }
  await page.goto('/price-logs');
  await expect(pageTitle(page, 'Price Logs')).toBeVisible();
  await page.getByLabel('Token').selectOption(token);
  await expect(page).toHaveURL(`${server.url}/price-logs?token=${token}`);
  await expect(rows(page)).toHaveCount(2);
  await page.getByLabel('Timeframe').selectOption('60m');
  await expect(rows(page)).toHaveCount(1);
  // 03:04 UTC is the previous evening in Los Angeles.
  for (const text of ['$1,234.50', '202601020304', '2026/01/01 19:04:00', '127.0.0.1']) {
    await expect(rows(page)).toContainText(text);
  }
  await page.getByRole('button', { name: 'Clear Filters' }).click();
  await expect(page).toHaveURL(`${server.url}/price-logs`);
  await page.goto('/price-logs?token=NOSUCHTOKEN');
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByText('No price logs found')).toBeInViewport({ ratio: 1 });
});

test('equal timeframes in different notations are one choice that finds both', async ({ page, operator }) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  for (const Timeframe of ['45', '45m', '047']) {
    expect((await platform.candle({ Symbol: `${token}USDT`, Close: '1', Timeframe })).status).toBe(200);
    await platform.signal({ symbol: `${token}USDT`, price: '1', timeframe: Timeframe });
  }
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
    // Both notations in the URL select the same choice.
    for (const timeframe of ['45', '45m']) {
      await page.goto(`${path}?token=${token}&timeframe=${timeframe}`);
      await expect(tableRows(page, table)).toHaveCount(2);
      await expect(choice.locator('option:checked')).toHaveText('45m');
      await expect(choice.locator('option').filter({ hasText: /^45m$/ })).toHaveCount(1);
    }
  }
});

// Requirements: price-logs-12, trading-calls-15, trading-constants-2
test('the list and the environment status are refetched every 30 seconds', async ({ page, operator }) => {
  const token = uniqueToken();
  await (await operator.platform()).candle({ Symbol: `${token}USDT` });
  await page.clock.install();
  const [lists, statuses] = [
    countCalls(page, '/api/price-logs'),
    countCalls(page, '/api/environment/status'),
  ];
  await page.goto(`/price-logs?token=${token}`);
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByRole('banner').getByRole('button', { name: 'Dev Mode' })).toBeVisible();
  // Pause the page's clock: until now it also ran in real time.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000));
  const before = { lists: lists(), statuses: statuses() };
  await page.clock.runFor(30_000);
  await expect.poll(lists).toBe(before.lists + 1);
  await expect.poll(statuses).toBe(before.statuses + 1);
});
