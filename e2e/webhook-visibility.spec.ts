import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { NewUser } from './operator.ts';
import { dialog, expectToast } from './screen.ts';
import { createWebhook, keyField, revealKey } from './webhook-screen.ts';

let user: NewUser;

test.beforeEach(async ({ page, operator, signIn, context, server }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  user = await operator.createUser();
  await signIn(page, user);
  await page.clock.install();
  await page.goto('/webhook');
});

async function expectHidden(page: Page) {
  await expect(keyField(page)).toHaveValue(/^.{4}…$/);
  for (const label of ['Signal Webhook URL', 'Price Data Webhook URL']) {
    await expect(page.getByLabel(label, { exact: true })).toHaveValue(/hkid=.{4}…$/);
  }
  await expect(page.getByRole('button', { name: 'Show key' })).toBeVisible();
}

// Requirements: webhook-deliveries-4
test('five minutes after the password the key is hidden, and copying asks again', async ({ page }) => {
  const hookKey = await createWebhook(page);
  await revealKey(page, user.password);
  await page.clock.fastForward('04:50');
  await expect(keyField(page)).toHaveValue(hookKey);
  await page.clock.fastForward('00:11');
  await expectHidden(page);
  await page.getByRole('button', { name: 'Copy Webhook Key' }).click();
  await expect(dialog(page, 'View Key')).toBeVisible();
});

// Requirements: screens-webhook-configuration-5
test('a key that was just created is masked until the password was given, and the screen says so', async ({
  page,
}) => {
  const hint = page.getByText('Shown after your password', { exact: true });
  const hookKey = await createWebhook(page);
  await expectHidden(page);
  await expect(hint).toBeVisible();
  await page.getByRole('button', { name: 'Copy Webhook Key' }).click();
  const form = dialog(page, 'View Key');
  await expect(form.getByRole('button', { name: 'View Key' })).toBeDisabled();
  await form.getByRole('button', { name: 'Cancel' }).click();
  await expectHidden(page);
  expect(await page.content()).not.toContain(hookKey);

  await revealKey(page, user.password);
  await expect(keyField(page)).toHaveValue(hookKey);
  await expect(hint).toHaveCount(0);
  await page.getByRole('button', { name: 'Hide key' }).click();
  await expectHidden(page);
  await expect(hint).toBeVisible();
});

test('who leaves the screen leaves a hidden key behind', async ({ page }) => {
  await createWebhook(page);
  await revealKey(page, user.password);
  await page.getByRole('link', { name: 'Dashboard' }).click();
  await expect(keyField(page)).toBeHidden();
  await page.goBack();
  await expectHidden(page);
});

// Requirements: accounts-states-17, trading-constants-20
test('a copy button shows for two seconds that it copied', async ({ page }) => {
  await createWebhook(page);
  await revealKey(page, user.password);
  const button = page.getByRole('button', { name: 'Copy Webhook Key' });
  const done = button.locator('.tabler-icon-check');
  await expect(done).toHaveCount(0);
  await button.click();
  await expectToast(page, { title: 'Copied', text: 'Webhook Key copied to clipboard' });
  await expect(done).toHaveCount(1);
  await page.clock.fastForward(2000);
  await expect(done).toHaveCount(0);
});

test('a browser that does not let copy says so', async ({ page }) => {
  await createWebhook(page);
  await revealKey(page, user.password);
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'));
    document.execCommand = () => false;
  });
  await page.getByRole('button', { name: 'Copy Signal Webhook URL' }).click();
  await expectToast(page, { title: 'Error', text: 'Failed to copy to clipboard' });
});
