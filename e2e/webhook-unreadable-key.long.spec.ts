import type { Page } from '@playwright/test';
import { chartingPlatform, webhookUrls } from './charting-platform.ts';
import { expect, test } from './fixtures.ts';
import type { ManagedServer } from './managed-server.ts';
import { dialog, expectToast } from './screen.ts';
import { confirmPassword, createWebhook, keyField } from './webhook-screen.ts';

const ANOTHER_SECRET_KEY = 'another secret key of this journey, long enough';
const CANDLE = { Symbol: 'ETHUSDT', Close: '3000' };

async function startWith(server: ManagedServer, env: Record<string, string>) {
  await server.stop();
  await server.start(env, ['--new-secret-key']);
}

const sendCandle = async (server: ManagedServer, key: string) =>
  (await chartingPlatform(webhookUrls(server.url, key)).candle(CANDLE)).status;

const unreadable = (page: Page) =>
  page.getByRole('main').getByRole('alert').filter({ hasText: 'The webhook key cannot be shown' });

// Requirements: webhook-deliveries-5
test('under another secret key the screen reports an unreadable key, and renewing fixes it', async ({
  page,
  user,
  server,
  expectFailure,
}) => {
  expectFailure({ path: '/api/', status: 'network' });
  await page.goto('/webhook');
  const oldKey = await createWebhook(page);
  await startWith(server, { SECRET_KEY: ANOTHER_SECRET_KEY });
  await page.reload();
  await expect(unreadable(page)).toContainText('It was sealed with another secret key');
  await expect(unreadable(page)).toContainText('Alerts that use it are refused. Renew the key');
  await expect(page.getByText('Key unreadable', { exact: true })).toBeVisible();
  await expect(keyField(page)).toBeHidden();
  for (const name of ['Show key', 'Copy Webhook Key', 'Send test signal', 'Send test candle']) {
    await expect(page.getByRole('button', { name })).toBeHidden();
  }
  expect(await sendCandle(server, oldKey)).toBe(401);

  await page.getByRole('button', { name: 'Renew Key' }).click();
  await dialog(page, 'Renew Webhook Key').getByRole('button', { name: 'Continue' }).click();
  await confirmPassword(page, {
    title: 'Confirm Renewal',
    confirm: 'Confirm Renewal',
    password: user.password,
  });
  await expectToast(page, { title: 'Webhook Renewed', text: 'The old key is no longer valid.' });
  await expect(unreadable(page)).toBeHidden();
  await expect(page.getByText('Active', { exact: true })).toBeVisible();
  await expect(keyField(page)).toHaveValue(/^[\w-]{43}$/);
  expect(await sendCandle(server, await keyField(page).inputValue())).toBe(200);

  // The key becomes unreadable again while its password is typed.
  await page.reload();
  await page.getByRole('button', { name: 'Show key' }).click();
  await expect(dialog(page, 'View Key')).toBeVisible();
  await startWith(server, {});
  await confirmPassword(page, { title: 'View Key', confirm: 'View Key', password: user.password });
  await expectToast(page, { title: 'Error', text: 'The webhook key cannot be shown' });
  await expect(unreadable(page)).toBeVisible();
});
