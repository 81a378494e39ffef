import { chartingPlatform, webhookUrls } from './charting-platform.ts';
import { expect, test } from './fixtures.ts';
import { dialog, expectToast, pageTitle, tableRow } from './screen.ts';
import { clipboard, createWebhook, deliveriesRefresh, keyField } from './webhook-screen.ts';

test.beforeEach(async ({ page, user, context, server }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  expect(user.username).not.toBe(server.adminUsername);
  await page.goto('/webhook');
});

// Requirements: screens-webhook-configuration-1, screens-webhook-configuration-3
// Requirements: screens-webhook-configuration-4, screens-webhook-configuration-6
// Requirements: screens-webhook-configuration-8, accounts-roles-2, webhook-deliveries-1
test('explains webhooks and offers to create one when there is none', async ({ page, server }) => {
  await expect(pageTitle(page, 'Webhook Configuration')).toBeVisible();
  const main = page.getByRole('main');
  for (const text of [
    'Manage your webhook endpoints for receiving TradingView signals and price data',
    'No Webhook Configured',
    'Create a webhook endpoint to start receiving TradingView signals',
    'API Endpoints',
    'Copy the webhook URL',
    'Create or edit an alert',
    "Set 'Webhook URL' to the copied URL",
    'Configure the alert message with the required fields',
    'Save the alert; data then appears in the dashboard',
    'Security Notice',
    'Both endpoints share the same key',
    'anyone holding it can send data to the dashboard',
  ]) {
    await expect(main).toContainText(text);
  }
  await expect(page.getByRole('region', { name: 'Signal example payload' })).toContainText('"processor"');
  await expect(page.getByRole('region', { name: 'Price data example payload' })).toContainText('"DateTime"');
  await createWebhook(page);
  await expect(main.getByText('Active', { exact: true })).toBeVisible();
  await expect(main).toContainText('For buy/sell alerts');
  await expect(main).toContainText('For sending price data to the monitoring system');
  await expect(main.getByText(/^Created \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d$/)).toBeVisible();

  await main.getByRole('link', { name: 'Price Logs' }).click();
  await expect(page).toHaveURL(`${server.url}/`);
});

// Requirements: screens-webhook-configuration-5, screens-webhook-configuration-11
// Requirements: screens-webhook-configuration-12, accounts-states-13, accounts-validation-9
// Requirements: accounts-roles-5, accounts-messages-8, accounts-messages-9, webhook-deliveries-6
test('the key stays masked until the password is verified', async ({ page, user, expectFailure, server }) => {
  const hookKey = await createWebhook(page);
  await expect(keyField(page)).toHaveValue(`${hookKey.slice(0, 4)}…`);
  const { signalUrl, priceUrl } = webhookUrls(server.url, `${hookKey.slice(0, 4)}…`);
  await expect(page.getByLabel('Signal Webhook URL', { exact: true })).toHaveValue(signalUrl);
  await expect(page.getByLabel('Price Data Webhook URL', { exact: true })).toHaveValue(priceUrl);

  await page.reload();
  await page.getByRole('button', { name: 'Show key' }).click();
  const form = dialog(page, 'View Key');
  const password = form.getByLabel('Password', { exact: true });
  const view = form.getByRole('button', { name: 'View Key' });
  await expect(view).toBeDisabled();
  await password.fill('   ');
  await expect(view).toBeDisabled();

  expectFailure({ path: '/api/auth/verify-password', status: 403 });
  await password.fill('not the password');
  await view.click();
  await expectToast(page, { title: 'Access Denied', text: 'Invalid password' });
  await expect(form).toBeVisible();
  await expect(keyField(page)).toHaveValue(/^.{4}…$/);

  await password.fill(user.password);
  await view.click();
  await expectToast(page, { title: 'Access Granted', text: 'Webhook key is now visible.' });
  await expect(form).toBeHidden();
  await expect(keyField(page)).toHaveValue(hookKey);

  await page.getByRole('button', { name: 'Hide key' }).click();
  await expect(keyField(page)).toHaveValue(`${hookKey.slice(0, 4)}…`);
});

// Requirements: screens-webhook-configuration-5, screens-webhook-configuration-6
// Requirements: screens-webhook-configuration-7, accounts-messages-9, webhook-deliveries-6
test('copying a hidden key asks for the password and copies the full URL', async ({ page, user, server }) => {
  const hookKey = await createWebhook(page);
  const { signalUrl, priceUrl } = webhookUrls(server.url, hookKey);
  await page.getByRole('button', { name: 'Copy Price Data Webhook URL' }).click();
  const form = dialog(page, 'View Key');
  await form.getByLabel('Password', { exact: true }).fill(user.password);
  await form.getByRole('button', { name: 'View Key' }).click();
  await expect(form).toBeHidden();
  await expect.poll(() => clipboard(page)).toBe(priceUrl);

  await page.getByRole('button', { name: 'Copy Signal Webhook URL' }).click();
  await expectToast(page, { title: 'Copied', text: 'Signal Webhook URL copied to clipboard' });
  expect(await clipboard(page)).toBe(signalUrl);
  await page.getByRole('button', { name: 'Copy Webhook Key' }).click();
  await expectToast(page, { title: 'Copied', text: 'Webhook Key copied to clipboard' });
  expect(await clipboard(page)).toBe(hookKey);
});

// Requirements: screens-webhook-configuration-9, accounts-states-12, accounts-roles-5, accounts-messages-9
test('renewing invalidates the old key immediately', async ({ page, user, expectFailure, server }) => {
  const oldKey = await createWebhook(page);
  await page.getByRole('button', { name: 'Renew Key' }).click();
  const warning = dialog(page, 'Renew Webhook Key');
  await expect(warning).toContainText('generates a new key and invalidates the old one at once');
  await expect(warning).toContainText('Existing alerts stop working');
  await expect(warning).toContainText('cannot be undone');
  await warning.getByRole('button', { name: 'Continue' }).click();

  expectFailure({ path: '/api/hooks/', status: 403 });
  const form = dialog(page, 'Confirm Renewal');
  const confirm = form.getByRole('button', { name: 'Confirm Renewal' });
  await expect(confirm).toBeDisabled();
  await form.getByLabel('Password', { exact: true }).fill('not the password');
  await confirm.click();
  await expectToast(page, { title: 'Error', text: 'Invalid password' });
  await form.getByLabel('Password', { exact: true }).fill(user.password);
  await confirm.click();
  await expectToast(page, { title: 'Webhook Renewed', text: 'The old key is no longer valid.' });
  await expect(keyField(page)).not.toHaveValue(oldKey);
  const newKey = await keyField(page).inputValue();

  const candle = { Symbol: 'ETHUSDT', Close: '3000' };
  expect((await chartingPlatform(webhookUrls(server.url, oldKey)).candle(candle)).status).toBe(401);
  expect((await chartingPlatform(webhookUrls(server.url, newKey)).candle(candle)).status).toBe(200);
});

// Requirements: screens-webhook-configuration-10, accounts-states-12, accounts-roles-5
// Requirements: accounts-messages-9
test('deleting needs a confirmation and the password, and invalidates the key', async ({
  page,
  user,
  server,
}) => {
  const hookKey = await createWebhook(page);
  await page.getByRole('button', { name: 'Delete' }).click();
  const warning = dialog(page, 'Delete Webhook');
  await expect(warning).toContainText('Permanent and irreversible');
  await expect(warning).toContainText('a new webhook must be created');
  await warning.getByRole('button', { name: 'Continue' }).click();
  const form = dialog(page, 'Confirm Deletion');
  await expect(form.getByRole('button', { name: 'Confirm Deletion' })).toBeDisabled();
  await form.getByLabel('Password', { exact: true }).fill(user.password);
  await form.getByRole('button', { name: 'Confirm Deletion' }).click();
  await expectToast(page, { title: 'Webhook Deleted' });
  await expect(page.getByText('No Webhook Configured')).toBeVisible();
  const candle = await chartingPlatform(webhookUrls(server.url, hookKey)).candle({ Symbol: 'ETHUSDT' });
  expect(candle.status).toBe(401);
});

// Requirements: webhook-deliveries-29
test('the delivery log shows stored, repeated and refused deliveries with the reason', async ({
  page,
  server,
}) => {
  const platform = chartingPlatform(webhookUrls(server.url, await createWebhook(page)));
  await expect(page.getByText('No deliveries yet')).toBeVisible();
  const candle = { Symbol: 'ETHUSDT', Close: '3000' };
  expect((await platform.candle(candle)).status).toBe(200);
  expect((await platform.candle(candle)).status).toBe(200);
  const refused = await platform.signal({ symbol: 'ETHUSDT', price: '{{close}}' });
  expect(refused.status).toBe(400);

  const log = page.getByRole('table', { name: 'Recent deliveries' });
  await deliveriesRefresh(page).click();
  await expect(log.locator('tbody tr')).toHaveCount(3);
  await expect(tableRow(page, 'Recent deliveries', 'Refused')).toContainText('Signal');
  await expect(tableRow(page, 'Recent deliveries', 'Refused')).toContainText('price');
  await expect(tableRow(page, 'Recent deliveries', 'Refused')).toContainText('{{close}}');
  await expect(tableRow(page, 'Recent deliveries', 'Duplicate')).toContainText('Candle');
  await expect(tableRow(page, 'Recent deliveries', 'Stored')).toContainText('127.0.0.1');
});
