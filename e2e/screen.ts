import { expect, type Locator, type Page } from '@playwright/test';

/** Expects the visible toast; there is never more than one. */
export async function expectToast(page: Page, toast: { title: string; text?: string | RegExp }) {
  const toasts = page.locator('.mantine-Notification-root').filter({ visible: true });
  await expect(toasts.locator('.mantine-Notification-title')).toHaveText([toast.title]);
  if (toast.text !== undefined) await expect(toasts).toContainText([toast.text]);
}

export const dialog = (page: Page, title: string): Locator => page.getByRole('dialog', { name: title });

export async function closeDialog(page: Page, title: string) {
  await dialog(page, title).getByRole('button', { name: 'Close dialog' }).click();
  await expect(dialog(page, title)).toBeHidden();
}

export const pageTitle = (page: Page, title: string | RegExp): Locator =>
  page.getByRole('heading', { level: 1, name: title });

/** The rows of a table's body without the skeletons shown while it loads. */
export const tableRows = (page: Page, table: string): Locator =>
  page.getByRole('table', { name: table }).locator('tbody tr:not([aria-hidden])');

export const tableRow = (page: Page, table: string, text: string): Locator =>
  tableRows(page, table).filter({ hasText: text });

export async function fillLogin(page: Page, credentials: { username: string; password: string }) {
  await page.getByLabel('Username').fill(credentials.username);
  await page.getByLabel('Password', { exact: true }).fill(credentials.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

export async function signOut(page: Page, username: string) {
  await page.getByRole('button', { name: username, exact: true }).click();
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
}

/** Scrolls down to a part whose code loads when it is near the screen. */
export async function loadBelow(page: Page, part: Locator) {
  await expect(async () => {
    // Less than a screen, so that no part is passed unseen.
    // Not with the wheel: the page would still be moving during the next click, which then misses.
    await page.evaluate(() => window.scrollBy({ top: 600, behavior: 'instant' }));
    await expect(part).toBeVisible({ timeout: 2_000 });
  }).toPass();
}

/** Never answers the stream of changes, so the page learns of no change made elsewhere. */
export const withoutLiveUpdates = (page: Page): Promise<unknown> => page.route('**/api/events', () => {});
