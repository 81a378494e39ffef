import type { Page } from '@playwright/test';
import { testsOnExchange } from './exchange-fixtures.ts';
import { SITE_CREDENTIALS } from './exchange-site.ts';
import { expect } from './fixtures.ts';
import { expectToast } from './screen.ts';
import { connectionCard, fillCredentials } from './settings-screen.ts';

/** The server trades on an exchange that it reaches over HTTP. */
const test = testsOnExchange();

const save = (page: Page) => connectionCard(page).getByRole('button', { name: 'Save Connection' }).click();

test('an accepted key shows the balance, at once and at every test', async ({ page, operator, signIn }) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  await fillCredentials(page, SITE_CREDENTIALS);
  await save(page);
  await expectToast(page, {
    title: 'Exchange Connection Saved',
    text: 'The API key for Bitget is stored.',
  });
  const outcome = card.getByRole('alert');
  await expect(outcome).toContainText('Bitget accepted the API key');
  await expect(outcome).toContainText('Futures balance $2,500.50, of which $2,500.50 is available (USDT)');
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
  await expect(card).toContainText('API key …0001, entered ');

  await page.reload();
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
  await expect(outcome).toHaveCount(0);
  await card.getByRole('button', { name: 'Test Connection' }).click();
  await expect(outcome).toContainText('Futures balance $2,500.50');
});

test("a refused key is not stored, and the exchange's own words say why", async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/api/user-settings/exchange-credentials', status: 400 });
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  await fillCredentials(page, { ...SITE_CREDENTIALS, apiSecret: 'another-secret' });
  await save(page);
  const words = /Bitget refused the API key: .*sign/i;
  await expectToast(page, { title: 'Error', text: words });
  await expect(card.getByRole('alert')).toContainText('Not saved');
  await expect(card.getByRole('alert')).toContainText(words);
  await expect(card.getByText('Not connected', { exact: true })).toBeVisible();
  await expect(card.getByLabel('API key', { exact: true })).toHaveValue(SITE_CREDENTIALS.apiKey);
});

test('a key is stored while the exchange is away, and the notice about it stays', async ({
  page,
  operator,
  signIn,
  exchange,
}) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  exchange.setAway(true);
  await fillCredentials(page, SITE_CREDENTIALS);
  await save(page);
  const outcome = card.getByRole('alert');
  await expect(outcome).toContainText('Saved, but not tested');
  await expect(outcome).toContainText('Bitget could not be reached: ');
  await expect(card.getByText('Not verified', { exact: true })).toBeVisible();
  await expect(card).toContainText('Bitget has not yet said what this key may do.');
  await page.getByRole('button', { name: 'Close notification' }).click();
  await expect(outcome).toBeVisible();

  await card.getByRole('button', { name: 'Test Connection' }).click();
  await expect(outcome).toContainText('Not tested');
  exchange.setAway(false);
  await card.getByRole('button', { name: 'Test Connection' }).click();
  await expect(outcome).toContainText('Bitget accepted the API key');
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
});

test('a key that may withdraw is refused with what to do, and is not stored', async ({
  page,
  operator,
  signIn,
  exchange,
  expectFailure,
}) => {
  expectFailure({ path: '/api/user-settings/exchange-credentials', status: 400 });
  exchange.setKey({ mayTrade: true, mayWithdraw: true });
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  await fillCredentials(page, SITE_CREDENTIALS);
  await save(page);
  await expect(card.getByRole('alert')).toContainText(
    'This Bitget API key may withdraw: enter one that may trade futures and may not withdraw',
  );
  await expect(card.getByText('Not connected', { exact: true })).toBeVisible();
});

test('a revoked key is shown as rejected with the exchange’s words, and a test that succeeds lifts that', async ({
  page,
  operator,
  signIn,
  exchange,
}) => {
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  const card = connectionCard(page);
  await fillCredentials(page, SITE_CREDENTIALS);
  await save(page);
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();

  exchange.setFaults([
    { kind: 'refuse', code: '40037', message: 'Apikey does not exist', on: { times: Infinity } },
  ]);
  await card.getByRole('button', { name: 'Test Connection' }).click();
  const problem = card.getByRole('alert').filter({ hasText: 'Nothing is traded with this key' });
  await expect(problem).toContainText(
    /The Bitget API key is not used since .*: Bitget refused it: Apikey does not exist \(40037\)/,
  );
  await expect(card.getByText('Rejected', { exact: true })).toBeVisible();

  exchange.setFaults([]);
  await card.getByRole('button', { name: 'Test Connection' }).click();
  await expect(problem).toHaveCount(0);
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
});

test('without a stored key there is nothing to test', async ({ page, operator, signIn, expectFailure }) => {
  expectFailure({ path: '/api/user-settings/exchange-credentials/test', status: 404 });
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  await card.getByRole('button', { name: 'Test Connection' }).click();
  await expectToast(page, { title: 'Error', text: 'No exchange credentials are stored' });
  await expect(card.getByRole('alert')).toContainText('Not tested');
});
