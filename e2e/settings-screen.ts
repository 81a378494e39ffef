import type { Locator, Page } from '@playwright/test';
import { loadBelow } from './screen.ts';

const card = (page: Page, title: string): Locator =>
  page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name: title, exact: true }) });

export const connectionCard = (page: Page): Locator => card(page, 'Exchange Connection');
export const automationCard = (page: Page): Locator => card(page, 'Automation');
export const accountStatusCard = (page: Page): Locator => card(page, 'Account status');

export async function fillCredentials(
  page: Page,
  credentials: { apiKey: string; apiSecret: string; passphrase?: string },
): Promise<void> {
  const form = connectionCard(page);
  await loadBelow(page, form);
  await form.getByLabel('API key', { exact: true }).fill(credentials.apiKey);
  await form.getByLabel('API secret', { exact: true }).fill(credentials.apiSecret);
  if (credentials.passphrase === undefined) return;
  await form.getByLabel('Passphrase', { exact: true }).fill(credentials.passphrase);
}
