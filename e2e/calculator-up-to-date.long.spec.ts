import { calculate, calculatorCase, card, confirmOrder, result, submitButton } from './calculator-screen.ts';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { loadBelow, tableRow } from './screen.ts';
import { uniqueToken } from './unique.ts';

test.use({ serverEnv: DEVELOPMENT });

const METHODS = 'The three methods side by side';

// Requirements: additions-charts-5
test('the comparison of methods follows balance and price after an order and after a refresh', async ({
  page,
  operator,
  server,
}) => {
  const token = uniqueToken();
  const { path } = await calculatorCase(operator, { token, price: '100', candle: { ATR: '1' } });
  await page.goto(path);
  const portfolio = tableRow(page, METHODS, 'Portfolio Allocation');
  await loadBelow(page, portfolio);
  const chart = card(page, 'Recent Candles').getByRole('img');
  await expect(portfolio).toContainText('98.5000');
  await expect(chart).toHaveAccessibleName(/Entry 100\.5\b/);
  await (await operator.platform()).candle({ Symbol: `${token}USDT`, Close: '104', ATR: '1' });
  // The price service caches a price for one second.
  await page.waitForTimeout(1_100);
  await page.getByRole('button', { name: 'Refresh balance' }).click();
  await expect(portfolio).toContainText('102.5000');
  await expect(chart).toHaveAccessibleName(/Entry 104\.52\b/);

  const investment = async () => /\$[\d,.]+/.exec((await portfolio.textContent()) ?? '')?.[0];
  const before = await investment();
  await calculate(page);
  await submitButton(page).click();
  await confirmOrder(page, server);
  await expect(result(page)).toContainText('SUCCESS (ORDER FILLED)');
  await expect.poll(investment).not.toBe(before);
});
