import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { NewUser } from './operator.ts';
import { closeDialog, dialog, tableRow, tableRows } from './screen.ts';
import { uniqueToken } from './unique.ts';
import { createWebhook } from './webhook-screen.ts';

const SIGNAL = 'Send Test Signal';
const CANDLE = 'Send Test Candle';

const openTest = (page: Page, kind: 'signal' | 'candle') =>
  page.getByRole('button', { name: `Send test ${kind}` }).click();
const sendOf = (page: Page, title: string) => dialog(page, title).getByRole('button', { name: 'Send' });
const resultOf = (page: Page, title: string) => dialog(page, title).getByRole('alert');
const log = (page: Page) => tableRows(page, 'Recent deliveries');

test.describe('as an administrator', () => {
  test.beforeEach(async ({ page, operator, signIn }) => {
    await operator.platform();
    await signIn(page);
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
});

test.describe('as an ordinary user', () => {
  let user: NewUser;

  test.beforeEach(async ({ page, operator, signIn }) => {
    user = await operator.createUser();
    await signIn(page, user);
    await page.goto('/webhook');
    await createWebhook(page);
  });

  test('every send is a new delivery unless its time is kept', async ({ page }) => {
    await openTest(page, 'candle');
    for (const count of [1, 2, 3]) {
      await sendOf(page, CANDLE).click();
      await expect(log(page)).toHaveCount(count);
    }
    await expect(tableRow(page, 'Recent deliveries', 'Stored')).toHaveCount(3);
    await closeDialog(page, CANDLE);

    await openTest(page, 'signal');
    await dialog(page, SIGNAL).getByLabel('Time', { exact: true }).fill('2026-11-21T10:00:00Z');
    await sendOf(page, SIGNAL).click();
    await expect(resultOf(page, SIGNAL)).toContainText('The signal was stored.');
    await sendOf(page, SIGNAL).click();
    await expect(resultOf(page, SIGNAL)).toContainText('Duplicate');
    await expect(resultOf(page, SIGNAL)).toContainText('nothing was stored or traded again');
    await expect(tableRow(page, 'Recent deliveries', 'Duplicate')).toHaveCount(1);
  });

  test('refuses the same deliveries as for the charting platform, with every reason', async ({ page }) => {
    await openTest(page, 'signal');
    const form = dialog(page, SIGNAL);
    await form.getByLabel('Price').fill('{{close}}');
    await sendOf(page, SIGNAL).click();
    await expect(resultOf(page, SIGNAL)).toContainText('price: is still the placeholder {{close}}');

    await form.getByLabel('Price').fill('-1');
    await form.getByLabel('Timeframe').fill('');
    await sendOf(page, SIGNAL).click();
    const reasons = resultOf(page, SIGNAL).getByRole('listitem');
    await expect(reasons).toHaveText([
      'price must be digits with at most one point',
      'timeframe is required',
    ]);
    await expect(form.getByLabel('Price')).toHaveAttribute('aria-invalid', 'true');
    await expect(form.getByLabel('Timeframe')).toHaveAttribute('aria-invalid', 'true');
    await expect(form.getByLabel('Symbol')).not.toHaveAttribute('aria-invalid', 'true');
    await expect(tableRow(page, 'Recent deliveries', 'Refused')).toHaveCount(2);
    await expect(log(page).first()).toContainText('price must be digits with at most one point');

    await form.getByLabel('Price').fill('1.5');
    await form.getByLabel('Timeframe').fill('15');
    await sendOf(page, SIGNAL).click();
    await expect(resultOf(page, SIGNAL)).toContainText('The signal was stored.');
    await expect(form.getByLabel('Price')).not.toHaveAttribute('aria-invalid', 'true');
  });
});
