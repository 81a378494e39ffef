import { expect, test } from './fixtures.ts';
import { dialog, expectToast, fillLogin, pageTitle, tableRow } from './screen.ts';
import { uniqueToken } from './unique.ts';

test.beforeEach(async ({ expectFailure }) => {
  expectFailure({ path: '/', status: 'network' });
});

test('a page whose code cannot be loaded reports it and loads on the next try', async ({ page }) => {
  await page.goto('/');
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await page.route('**/assets/price-logs-page-*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Price Logs', exact: true }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'This page could not be shown' });
  await expect(alert).toBeVisible();
  await page.unroute('**/assets/price-logs-page-*.js');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect(pageTitle(page, 'Price Logs')).toBeVisible();
});

// Requirements: accounts-messages-20, trading-messages-4
test('loaded data stays while the server is away and can be refreshed when it returns', async ({
  page,
  server,
  operator,
}) => {
  const signal = await operator.postSignal({ symbol: `${uniqueToken()}USDT` });
  await page.goto(`/signals?token=${signal.token}`);
  const row = tableRow(page, 'Signal History', signal.token);
  await expect(row).toBeVisible();
  const trigger = page.getByRole('button', { name: /^Trigger the workflow of signal/ });
  const question = dialog(page, 'Trigger Workflow');
  // Loads its code.
  await trigger.click();
  await question.getByRole('button', { name: 'Cancel' }).click();

  await server.stop();
  await page.getByRole('button', { name: 'Refresh' }).click();
  const banner = page.getByRole('alert').filter({ hasText: 'Failed to fetch signals' });
  await expect(banner).toBeVisible();
  await expect(row).toBeVisible();
  await trigger.click();
  await expect(question).toContainText('for the users who are eligible now');
  await question.getByRole('button', { name: 'Trigger' }).click();
  await expectToast(page, {
    title: 'Failed to Trigger Workflow',
    text: 'Failed to trigger automation workflow',
  });
  await question.getByRole('button', { name: 'Cancel' }).click();

  await server.start();
  await banner.getByRole('button', { name: 'Try again' }).click();
  await expect(banner).toBeHidden();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(page.getByRole('main').getByRole('alert')).toHaveCount(0);
  await expect(row).toBeVisible();
});

test('signing in after an update that removed the old code loads the new code', async ({ page, server }) => {
  await page.context().clearCookies();
  await page.goto('/');
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
  await page.route('**/assets/signed-in-*.js', (route) => route.abort());
  await fillLogin(page, { username: server.adminUsername, password: server.adminPassword });
  await expect(pageTitle(page, 'Signal Board cannot be reached')).toBeVisible();
  await page.unroute('**/assets/signed-in-*.js');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
});
