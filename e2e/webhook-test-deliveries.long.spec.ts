import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { dialog, tableRows } from './screen.ts';
import { uniqueToken } from './unique.ts';

const SIGNAL = 'Send Test Signal';
const CANDLE = 'Send Test Candle';

const openTest = (page: Page, kind: 'signal' | 'candle') =>
  page.getByRole('button', { name: `Send test ${kind}` }).click();
const sendOf = (page: Page, title: string) => dialog(page, title).getByRole('button', { name: 'Send' });
const resultOf = (page: Page, title: string) => dialog(page, title).getByRole('alert');
const log = (page: Page) => tableRows(page, 'Recent deliveries');

test.beforeEach(async ({ page, operator }) => {
  await operator.platform();
  await page.goto('/configuration');
});

// Requirements: webhook-deliveries-27
test('a test signal is stored, can be opened and appears in the delivery log', async ({ page }) => {
  const token = uniqueToken();
  await openTest(page, 'signal');
  const form = dialog(page, SIGNAL);
  await expect(form).toContainText('for every eligible user');
  await expect(form).toContainText('positions are opened now, on the paper exchange, without real money');
  await form.getByLabel('Symbol').fill(`BITGET:${token}USDT.P`);
  await form.getByLabel('Action').selectOption('sell');
  const preview = form.getByRole('region', { name: 'What is sent' });
  await expect(preview).toContainText(`"symbol": "BITGET:${token}USDT.P"`);
  await expect(preview).toContainText('"action": "sell"');
  await form.getByLabel('Price').press('Enter');
  await expect(resultOf(page, SIGNAL)).toContainText('The signal was stored.');
  await expect(log(page).first()).toContainText('Signal');
  await expect(log(page).first()).toContainText('Stored');

  await form.getByRole('link', { name: 'Open the signal' }).click();
  await expect(dialog(page, 'Signal Details')).toContainText(token);
  await expect(page).toHaveURL(/\/signals\?dialog=signal&signal=/);
});

// Requirements: webhook-deliveries-27
test('a test candle of this minute is stored as a price log', async ({ page }) => {
  const token = uniqueToken();
  const minute = () => new Date().toISOString().slice(0, 16).replaceAll(/\D/g, '');
  const before = minute();
  await openTest(page, 'candle');
  const form = dialog(page, CANDLE);
  await expect(form).toContainText('for everybody');
  await expect(form).toContainText('It opens no position');
  await form.getByLabel('Symbol').fill(`${token}USDT`);
  await form.getByLabel('Mature trend').fill('');
  const dateTime = await form.getByLabel('DateTime').inputValue();
  expect([before, minute()]).toContain(dateTime);
  await expect(form.getByRole('region', { name: 'What is sent' })).not.toContainText('mature_trend');
  await sendOf(page, CANDLE).click();
  await expect(resultOf(page, CANDLE)).toContainText('The candle was stored.');
  const answer = await page.request.get(`/api/price-logs?token=${token}`);
  const { priceLogs } = (await answer.json()) as { priceLogs: object[] };
  expect(priceLogs).toMatchObject([{ token, price: '97098.87', parameters: { ATR: '420' } }]);
});
