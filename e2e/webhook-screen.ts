import { expect, type Locator, type Page } from '@playwright/test';
import { dialog, expectToast } from './screen.ts';

export const keyField = (page: Page): Locator => page.getByLabel('Webhook Key', { exact: true });

export const clipboard = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

/** Creates a webhook and returns its full key from the response; the screen masks it. */
export async function createWebhook(page: Page): Promise<string> {
  const answer = page.waitForResponse(
    (response) => response.url().endsWith('/api/hooks') && response.request().method() === 'POST',
  );
  await page.getByRole('button', { name: 'Create Webhook' }).click();
  const { hookKey } = (await (await answer).json()) as { hookKey: string };
  await expectToast(page, { title: 'Webhook Created' });
  await expect(keyField(page)).toHaveValue(`${hookKey.slice(0, 4)}…`);
  return hookKey;
}

/** Reveals the key with the account's password. */
export async function revealKey(page: Page, password: string): Promise<void> {
  await page.getByRole('button', { name: 'Show key' }).click();
  await confirmPassword(page, { title: 'View Key', confirm: 'View Key', password });
  await expectToast(page, { title: 'Access Granted', text: 'Webhook key is now visible.' });
}

/** Fills the password dialog in and confirms. */
export async function confirmPassword(
  page: Page,
  options: { title: string; confirm: string; password: string },
) {
  const form = dialog(page, options.title);
  await form.getByLabel('Password', { exact: true }).fill(options.password);
  await form.getByRole('button', { name: options.confirm }).click();
}

export const deliveriesRefresh = (page: Page): Locator =>
  page
    .locator('section', { has: page.getByRole('heading', { name: 'Recent Deliveries' }) })
    .getByRole('button', { name: 'Refresh' });
