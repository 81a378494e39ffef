import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { dialog, pageTitle, tableRows } from './screen.ts';
import { uniqueToken } from './unique.ts';

test.use({ serverEnv: DEVELOPMENT });

test('price logs are listed with their parameters, and filtered', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  await platform.candle({
    Symbol: `${token}USDT`,
    Close: '1234.5',
    DateTime: '202601020304',
    Timeframe: '60',
  });
  await platform.candle({ Symbol: `${token}USDT`, Close: '1235.5', processor: 'Tesla' });
  await signIn(page);
  await page.goto('/price-logs');
  await expect(pageTitle(page, 'Price Logs')).toBeVisible();
  await page.getByLabel('Token').selectOption(token);
  await expect(page).toHaveURL(`${server.url}/price-logs?token=${token}`);
  const logs = tableRows(page, 'Price Logs');
  await expect(logs).toHaveCount(2);
  await page.getByLabel('Timeframe').selectOption('60m');
  await expect(logs).toHaveCount(1);
  // 03:04 in UTC is the evening before in Los Angeles.
  for (const text of ['$1,234.50', 'USDT', '202601020304', '2026/01/01 19:04:00', '127.0.0.1']) {
    await expect(logs).toContainText(text);
  }
  await expect(logs.getByRole('cell').nth(9)).toHaveText(/^[0-9a-f]{16}…$/);
  await logs.getByRole('button', { name: /^View, parameters of/ }).click();
  const parameters = dialog(page, `Parameters of ${token}`);
  await expect(parameters).toContainText('"mature_trend": "bullish"');
  await page.keyboard.press('Escape');
  await expect(parameters).toBeHidden();
  await expect(page.getByText('A delay of 15-30 minutes is expected')).toBeVisible();

  await page.getByRole('button', { name: 'Clear Filters' }).click();
  await expect(page).toHaveURL(`${server.url}/price-logs`);
  await page.goto('/price-logs?token=NOSUCHTOKEN');
  await expect(page.getByText('No price logs found')).toBeVisible();
});
