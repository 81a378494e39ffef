import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { dialog, expectToast } from './screen.ts';
import { createWebhook, keyField, revealKey } from './webhook-screen.ts';

async function expectHidden(page: Page) {
  await expect(keyField(page)).toHaveValue(/^.{4}…$/);
  for (const label of ['Signal Webhook URL', 'Price Data Webhook URL']) {
    await expect(page.getByLabel(label, { exact: true })).toHaveValue(/hkid=.{4}…$/);
  }
  await expect(page.getByRole('button', { name: 'Show key' })).toBeVisible();
}

// Requirements: webhook-deliveries-4, accounts-states-17, trading-constants-20
test('a key stays visible for five minutes while the screen is open; a copy is confirmed for two seconds', async ({
  page,
  user,
  context,
  server,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  await page.clock.install();
  await page.goto('/webhook');
  const hookKey = await createWebhook(page);
  await expectHidden(page);
  expect(await page.content()).not.toContain(hookKey);
  await revealKey(page, user.password);
  const button = page.getByRole('button', { name: 'Copy Webhook Key' });
  const done = button.locator('.tabler-icon-check');
  await expect(done).toHaveCount(0);
  await button.click();
  await expectToast(page, { title: 'Copied', text: 'Webhook Key copied to clipboard' });
  await expect(done).toHaveCount(1);
  await page.clock.fastForward(2000);
  await expect(done).toHaveCount(0);

  await page.clock.fastForward('04:45');
  await expect(keyField(page)).toHaveValue(hookKey);
  await page.clock.fastForward('00:14');
  await expectHidden(page);
  await button.click();
  await dialog(page, 'View Key').getByRole('button', { name: 'Cancel' }).click();

  await revealKey(page, user.password);
  await page.getByRole('link', { name: 'Dashboard' }).click();
  await expect(keyField(page)).toBeHidden();
  await page.goBack();
  await expectHidden(page);
});
