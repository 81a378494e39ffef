import type { Page } from '@playwright/test';
import {
  calculate,
  calculateButton,
  calculatorCase,
  card,
  confirmation,
  confirmButton,
  expectTip,
  fact,
  holdCalculation,
  result,
  submitButton,
} from './calculator-screen.ts';
import { expect, test } from './fixtures.ts';
import { closeDialog, tableRow } from './screen.ts';
import { uniqueToken } from './unique.ts';

test.use({ serverEnv: { APP_ENV: 'development' } });

const OUTDATED = 'Calculated with other settings (Technical Analysis): calculate again';
const METHODS = 'The three methods side by side';
const parameters = (page: Page) => card(page, 'Position Parameters');
const method = (page: Page) => page.getByLabel('Position Sizing Method');

// Requirements: trading-calculator-and-execution-6
test('a calculation with other settings than those on the screen is not submitted', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await calculate(page);
  await expect(fact(parameters(page), 'Sizing Method')).toHaveText('Technical Analysis');
  await expect(submitButton(page)).toBeEnabled();

  await method(page).selectOption('Risk Management');
  await expect(parameters(page).getByRole('alert')).toHaveText(OUTDATED);
  await expect(submitButton(page)).toBeDisabled();
  await expectTip(submitButton(page), OUTDATED);
  // Neither by an address that opens the confirmation.
  await page.evaluate(() => {
    const address = new URL(location.href);
    address.searchParams.set('dialog', 'order');
    history.pushState({}, '', address);
  });
  await expect(confirmation(page)).toContainText(OUTDATED);
  await expect(confirmButton(page)).toBeDisabled();
  await closeDialog(page, 'Position Maker - Order Confirmation');

  // What was calculated stands on the screen again, whether it is chosen or calculated.
  await method(page).selectOption('Technical Analysis');
  await expect(submitButton(page)).toBeEnabled();
  await expect(parameters(page)).not.toContainText(OUTDATED);
  await method(page).selectOption('Risk Management');
  await calculate(page);
  await expect(fact(parameters(page), 'Sizing Method')).toHaveText('Risk Management');
  await expect(submitButton(page)).toBeEnabled();
  await submitButton(page).click();
  await expect(fact(confirmation(page), 'Sizing Method')).toHaveText('Risk Management');
  await expect(confirmButton(page)).toBeEnabled();
});

// Requirements: trading-calculator-and-execution-6
test('a calculation that the page has forgotten is not submitted with other settings either', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await calculate(page);
  await page.reload();
  await expect(submitButton(page)).toBeEnabled();
  await method(page).selectOption('Risk Management');
  await expect(parameters(page)).toContainText('Calculated with other settings: calculate again');
  await expect(submitButton(page)).toBeDisabled();
});

// Requirements: trading-calculator-and-execution-5
test('what is changed while a calculation runs stays, and wants a calculation of its own', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  const portion = page.getByLabel('Investment Portion');
  const release = await holdCalculation(page);
  await calculateButton(page).click();
  await expect(calculateButton(page)).toHaveText('Calculating...');
  await portion.selectOption({ label: '20.0%' });
  release();
  await expect(fact(parameters(page), 'Entry Price')).toBeVisible();
  await expect(portion.locator('option:checked')).toHaveText('20.0%');
  await expect(parameters(page)).toContainText(OUTDATED);
  await expect(submitButton(page)).toBeDisabled();
  await calculateButton(page).click();
  await expect(submitButton(page)).toBeEnabled();
  await expect(portion.locator('option:checked')).toHaveText('20.0%');
});

// Requirements: additions-charts-5
test('the comparison of the methods follows the balance and the price: after an order, and when it is refreshed', async ({
  page,
  operator,
  signIn,
}) => {
  const token = uniqueToken();
  const { path } = await calculatorCase(operator, { token, price: '100', candle: { ATR: '1' } });
  await signIn(page);
  await page.goto(path);
  const portfolio = tableRow(page, METHODS, 'Portfolio Allocation');
  const chart = card(page, 'Recent Candles').getByRole('img');
  await expect(portfolio).toContainText('98.5000');
  await expect(chart).toHaveAccessibleName(/Entry 100\.5\b/);
  await (await operator.platform()).candle({ Symbol: `${token}USDT`, Close: '104', ATR: '1' });
  // The price service answers for a second from memory.
  await page.waitForTimeout(1_100);
  await page.getByRole('button', { name: 'Refresh balance' }).click();
  await expect(portfolio).toContainText('102.5000');
  await expect(chart).toHaveAccessibleName(/Entry 104\.52\b/);

  const investment = async () => /\$[\d,.]+/.exec((await portfolio.textContent()) ?? '')?.[0];
  const before = await investment();
  await calculate(page);
  await submitButton(page).click();
  await confirmButton(page).click();
  await expect(result(page)).toContainText('SUCCESS (ORDER FILLED)');
  await expect.poll(investment).not.toBe(before);
});
