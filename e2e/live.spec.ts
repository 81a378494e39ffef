import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { dialog, tableRows } from './screen.ts';
import { uniqueName, uniqueToken } from './unique.ts';

const signalRows = (page: Page) => tableRows(page, 'Signal History');
const status = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text });

// Requirements: live-updates-1
test('shows what another browser triggers', { tag: '@long' }, async ({
  page,
  openBrowser,
  operator,
  signIn,
}) => {
  const signal = await operator.postSignal({
    symbol: `${uniqueToken()}USDT`,
    processor: uniqueName('robot'),
  });
  const other = await openBrowser();
  await signIn(other);
  for (const one of [page, other]) {
    await one.goto(`/signals?token=${signal.token}`);
    await expect(status(one, 'Live')).toBeVisible();
    await expect(signalRows(one)).toContainText('1 , 0');
  }
  await page.getByRole('button', { name: /^Trigger the workflow of signal/ }).click();
  const answered = page.waitForResponse('**/api/trigger-automation');
  await dialog(page, 'Trigger Workflow').getByRole('button', { name: 'Trigger' }).click();
  expect((await answered).status()).toBe(200);
  await expect(signalRows(other)).toContainText('1 , 1');
});

// Requirements: live-updates-1, live-updates-3
test('shows a new signal and a new price log without a reload', async ({
  page,
  openBrowser,
  operator,
  signIn,
}) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  await page.goto('/signals');
  const prices = await openBrowser();
  await signIn(prices);
  await prices.goto('/price-logs');
  for (const one of [page, prices]) await expect(status(one, 'Live')).toBeVisible();
  const total = page.getByText('Total Signals').locator('..');
  const before = (await total.textContent()) ?? '';

  await platform.candle({ Symbol: `${token}USDT` });
  await expect(tableRows(prices, 'Price Logs').first()).toContainText(token);
  await platform.signal({ symbol: `${token}USDT` });
  await expect(signalRows(page).first()).toContainText(token);
  await expect(total).not.toHaveText(before);
  await expect(page.getByText(/^updated \d+ s ago$/)).toBeVisible();
});

// Requirements: live-updates-2
test('the steps of a workflow appear while it runs', { tag: '@long' }, async ({ page, operator }) => {
  const trader = await operator.createUser({ activeTrading: true });
  const platform = await operator.platform();
  const token = uniqueToken();
  await platform.candle({ Symbol: `${token}USDT` });
  await page.goto('/automation-workflows');
  await expect(status(page, 'Live')).toBeVisible();
  await platform.signal({ symbol: `${token}USDT` });
  const run = tableRows(page, 'Workflow Runs').filter({ hasText: token });
  await run.getByRole('button', { name: /steps/i }).first().click();
  const steps = dialog(page, 'Workflow Execution Steps');
  await expect(steps).toContainText('Process All Users');
  await expect(steps).toContainText(trader.username);
  await expect(steps).toContainText('Submit Order');
  await expect(run).toContainText('Completed');
});

// Requirements: live-updates-3
test('a paused screen stays unchanged, announces news and catches up', { tag: '@long' }, async ({
  page,
  operator,
}) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  await page.goto(`/signals?token=${token}`);
  // What a screen loads first comes while it is paused, too.
  await expect(page.getByText('No signals found')).toBeVisible();
  await expect(status(page, 'Live')).toBeVisible();
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(status(page, 'Paused')).toBeVisible();
  await platform.signal({ symbol: `${token}USDT` });
  await expect(status(page, 'Paused, there is something new')).toBeVisible();
  await expect(page.getByText('No signals found')).toBeVisible();
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(signalRows(page)).toContainText(token);
  await expect(status(page, 'Live')).toBeVisible();
});

// Requirements: live-updates-4
test('reports a lost stream and loads the missed changes when it returns', { tag: '@long' }, async ({
  page,
  operator,
  server,
  expectFailure,
}) => {
  expectFailure({ path: '/api/', status: 'network' });
  const token = uniqueToken();
  const platform = await operator.platform();
  await page.goto(`/signals?token=${token}`);
  await expect(status(page, 'Live')).toBeVisible();
  // The last part of a page to load its code.
  await expect(page.getByLabel('Figures of the day')).toBeVisible();
  await server.stop();
  await expect(status(page, 'Live updates are down, refreshing every 30 s')).toBeVisible();
  await server.start();
  await platform.signal({ symbol: `${token}USDT` });
  await expect(status(page, 'Live')).toBeVisible({ timeout: 20_000 });
  await expect(signalRows(page)).toContainText(token);
});
