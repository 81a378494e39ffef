import {
  card,
  confirmation,
  confirmButton,
  openConnected,
  result,
  submitButton,
} from './calculator-screen.ts';
import { testsOnExchange } from './exchange-fixtures.ts';
import { expect } from './fixtures.ts';

const test = testsOnExchange({ EXCHANGE_MODE: 'live', MANUAL_ORDERS: 'enabled' });

// Requirements: trading-calculator-and-execution-15
test('with MANUAL_ORDERS enabled the calculator names the exchange and mode, and submits orders', async ({
  page,
  operator,
  exchange,
}) => {
  const signalId = await openConnected(page, { operator, exchange });
  const target = 'The order goes to Bitget in live mode. Real money is traded.';
  await expect(card(page, 'Position Parameters').getByRole('alert')).toContainText(target);
  await page.setViewportSize({ width: 390, height: 844 });
  await submitButton(page).click();
  await expect(confirmation(page).getByRole('alert').filter({ hasText: target })).toBeVisible();
  await confirmButton(page).click();
  await expect(result(page)).toContainText('SUCCESS (ORDER FILLED)', { timeout: 20_000 });
  const trades = await (await page.request.get(`/api/signals/${signalId}/trades`)).json();
  expect(trades).toMatchObject([{ success: true }]);
});
