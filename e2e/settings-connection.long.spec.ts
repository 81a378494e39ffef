import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { dialog, expectToast } from './screen.ts';
import { connectionCard, fillCredentials } from './settings-screen.ts';

const SECRETS = {
  apiKey: 'bg_canary_key_4711',
  apiSecret: 'canary-of-the-secret',
  passphrase: 'canary-phrase',
};

const field = (page: Page, label: string) => connectionCard(page).getByLabel(label, { exact: true });
const button = (page: Page, name: string) => connectionCard(page).getByRole('button', { name, exact: true });

// Requirements: users-5
test('credentials can be entered, replaced and removed, and are never shown again', async ({
  page,
  operator,
  signIn,
}) => {
  const answers: Promise<string>[] = [];
  page.on('response', (answer) => {
    // The event stream never ends, so its body cannot be read.
    const { pathname } = new URL(answer.url());
    if (pathname.startsWith('/api/') && pathname !== '/api/events')
      answers.push(answer.text().catch(() => ''));
  });
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  await expect(card.getByText('Not connected', { exact: true })).toBeVisible();
  await expect(card).toContainText('No API key is stored for this exchange.');
  await expect(card).toContainText('Never enter one that may withdraw.');
  await expect(button(page, 'Remove')).toHaveCount(0);

  await button(page, 'Save Connection').click();
  for (const text of ['API key is required', 'API secret is required', 'Passphrase is required for Bitget']) {
    await expect(card.getByText(text)).toBeVisible();
  }
  await fillCredentials(page, SECRETS);
  for (const label of ['API key', 'API secret', 'Passphrase']) {
    await expect(field(page, label)).toHaveAttribute('type', 'password');
    await expect(field(page, label)).toHaveAttribute('autocomplete', 'off');
  }
  await button(page, 'Save Connection').click();
  await expectToast(page, {
    title: 'Exchange Connection Saved',
    text: 'The API key for Bitget is stored.',
  });
  await expect(card.getByRole('alert')).toContainText('Paper trading needs no credentials');
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
  await expect(card).toContainText(/API key …4711, entered \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d/);
  for (const label of ['API key', 'API secret', 'Passphrase'])
    await expect(field(page, label)).toHaveValue('');

  await page.reload();
  await expect(card).toContainText('API key …4711');
  for (const label of ['API key', 'API secret', 'Passphrase'])
    await expect(field(page, label)).toHaveValue('');
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  const seen = [page.url(), await page.content(), kept, ...(await Promise.all(answers))].join('\n');
  for (const secret of Object.values(SECRETS)) expect(seen).not.toContain(secret);

  await fillCredentials(page, { ...SECRETS, apiKey: 'bg_another_key_0815' });
  await button(page, 'Save Connection').click();
  await expect(card).toContainText('API key …0815');

  await button(page, 'Remove').click();
  const question = dialog(page, 'Remove Exchange Connection');
  await expect(question).toContainText('The API key for Bitget is deleted.');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(card).toContainText('API key …0815');
  await button(page, 'Remove').click();
  await question.getByRole('button', { name: 'Remove', exact: true }).click();
  await expectToast(page, {
    title: 'Exchange Connection Removed',
    text: 'The API key for Bitget is deleted.',
  });
  await expect(card.getByText('Not connected', { exact: true })).toBeVisible();
  await expect(button(page, 'Remove')).toHaveCount(0);
});

test('the card follows the saved exchange; each exchange has separate credentials', async ({
  page,
  operator,
  signIn,
}) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  const note = 'Positions are opened on Bitget, the exchange of the saved trading settings.';
  await expect(field(page, 'Exchange')).toHaveValue('Bitget');
  await expect(card.getByText(note)).toHaveCount(0);
  await field(page, 'Exchange').selectOption('Bybit');
  await expect(card.getByText(note)).toBeVisible();
  await expect(field(page, 'Passphrase')).toHaveCount(0);
  await fillCredentials(page, { apiKey: 'by_canary_key_1234', apiSecret: SECRETS.apiSecret });
  await button(page, 'Save Connection').click();
  await expectToast(page, { title: 'Exchange Connection Saved', text: 'The API key for Bybit is stored.' });
  await expect(card).toContainText('API key …1234');
  await field(page, 'Exchange').selectOption('Bitget');
  await expect(card.getByText('Not connected', { exact: true })).toBeVisible();

  await page.getByLabel('Exchange platform').selectOption('Bybit');
  await expect(field(page, 'Exchange')).toHaveValue('Bitget');
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expect(field(page, 'Exchange')).toHaveValue('Bybit');
  await expect(card).toContainText('API key …1234');

  await field(page, 'API key').fill('typed for Bybit');
  await page.getByLabel('Exchange platform').selectOption('Bitget');
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expect(card.getByText('Positions are opened on Bitget')).toBeVisible();
  await expect(field(page, 'Exchange')).toHaveValue('Bybit');
  await expect(field(page, 'API key')).toHaveValue('typed for Bybit');
});

// Requirements: users-6
test("an administrator enters another user's credentials", async ({ page, operator }) => {
  const user = await operator.createUser();
  await page.goto(`/settings?userId=${user.id}`);
  await fillCredentials(page, SECRETS);
  await button(page, 'Save Connection').click();
  await expect(connectionCard(page)).toContainText('API key …4711');
  await page.goto('/settings');
  await expect(connectionCard(page).getByText('Not connected', { exact: true })).toBeVisible();
});
