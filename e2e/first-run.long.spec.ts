import type { Page } from '@playwright/test';
import type { PositionsAnswer } from '#contract/positions.ts';
import { expect, test } from './fixtures.ts';

/** A first start of its own: nothing is created before the operator signs in. */
const PASSWORD = 'four first words here';
test.use({ serverEnv: { ADMIN_PASSWORD: PASSWORD }, startsSignedIn: false });

const MOST_CLICKS = 8;

const steps = (page: Page) =>
  page.getByRole('list', { name: 'Steps to the first fill' }).getByRole('listitem');
/** The buttons and links of the checklist that look primary. */
const primary = (page: Page) =>
  page
    .getByRole('main')
    .locator('[data-variant="filled"], .mantine-Button-root:not([data-variant])')
    .filter({ visible: true });

// Requirements: additions-overview-1, additions-overview-2
test('a fresh start leads to a filled paper order with a few clicks', async ({ page, server, scan }) => {
  let clicks = 0;
  const click = async (name: string) => {
    clicks += 1;
    await page.getByRole('button', { name }).click();
  };
  await page.goto('/');
  await page.getByLabel('Username').fill(server.adminUsername);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await click('Sign In');

  await expect(page.getByRole('heading', { name: `Welcome, ${server.adminUsername}` })).toBeVisible();
  await expect(
    page.getByText('Everything runs on paper: prices come from your candles and signals, no money moves.'),
  ).toBeVisible();
  await expect(page.getByRole('status').filter({ hasText: 'of 5' })).toHaveText('1 of 5');
  await expect(primary(page)).toHaveText(['Create Webhook']);
  await expect(page.getByRole('button', { name: 'Send demo signal' })).toBeDisabled();
  await scan('the first steps');

  await click('Create Webhook');
  await expect(primary(page)).toHaveText(['Turn Trading On']);
  await click('Turn Trading On');
  await expect(primary(page)).toHaveText(['Send demo signal']);
  await expect(page.getByText('Candle: none yet')).toBeVisible();
  await click('Send demo signal');

  await expect(page.getByText('First order filled')).toBeVisible();
  await expect(page.getByText(/^Bought [\d.]+ BTC at 97098\.87 for /)).toBeVisible();
  await expect(steps(page)).toHaveCount(0);
  expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);

  const answer = await page.request.get('/api/positions');
  const { open } = (await answer.json()) as PositionsAnswer;
  expect(open).toHaveLength(1);
  expect(open[0]).toMatchObject({ token: 'BTC', side: 'long' });
  expect(open[0]?.stopLoss).not.toBeNull();
  expect(open[0]?.takeProfit).not.toBeNull();

  await page.reload();
  await expect(page.getByRole('list', { name: 'Accounts' }).getByRole('listitem')).toContainText(
    '1 position',
  );
  await expect(page.getByRole('list', { name: 'Activity' })).toContainText(
    'BTC Buy from Tesla filled for 1 of 1 user',
  );
  await scan('the overview');
  await expect(steps(page)).toHaveCount(0);
});
