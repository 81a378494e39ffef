import type { Page } from '@playwright/test';
import {
  calculate,
  calculateButton,
  calculatorCase,
  card,
  confirmButton,
  connect,
  expectTip,
  fact,
  result,
  submitButton,
} from './calculator-screen.ts';
import { testsOnExchange } from './exchange-fixtures.ts';
import { expect } from './fixtures.ts';
import { expectToast, loadBelow } from './screen.ts';

interface ExchangeCase {
  token: string;
  price: string;
  atr: string;
}

/** The server trades on an exchange over HTTP whose faults the tests set. */
const test = testsOnExchange({ APP_ENV: 'development' }).extend<{
  open: (page: Page, wanted: ExchangeCase) => Promise<void>;
}>({
  /** Opens the calculator for a connected user. */
  open: async ({ operator, exchange }, use) => {
    await use(async (page, { token, price, atr }) => {
      await exchange.setPrice(token, price);
      const { user, path } = await calculatorCase(operator, { token, price, candle: { ATR: atr } });
      await connect(page, user.id);
      await page.goto(path);
    });
  },
});

async function submit(page: Page) {
  await calculate(page);
  await submitButton(page).click();
  await expect(confirmButton(page)).toBeEnabled();
  await confirmButton(page).click();
}

// Requirements: trading-calculator-and-execution-12
test('a first attempt that does not fill is cancelled, and the second one fills', async ({
  page,
  exchange,
  open,
}) => {
  await open(page, { token: 'ETH', price: '3000', atr: '20' });
  exchange.setFaults([{ kind: 'restFirst' }]);
  await submit(page);
  const done = result(page);
  await expect(done).toContainText('SUCCESS (ORDER FILLED)');
  await expectToast(page, { title: 'Order Submitted Successfully', text: /Order ID: \d+/ });
  const [first, second] = ['First Attempt', 'Second Attempt'].map((name) =>
    done.getByRole('article', { name }),
  ) as [ReturnType<typeof done.getByRole>, ReturnType<typeof done.getByRole>];
  await expect(first).toContainText('Not filled');
  await expect(fact(first, 'Price')).toHaveText('3001.5000');
  await expect(second).toContainText('Filled');
  // Twice the epsilon of 1.50.
  await expect(fact(second, 'Price')).toHaveText('3003.0000');
  await expect(fact(done, 'Second Attempt Executed')).toHaveText('Yes');
  await expect(fact(done, 'First Order Filled')).toHaveText('No');
  await expect(fact(done, 'Attempts')).toHaveText('2');
  await expect(done.getByRole('list', { name: 'API Call Sequence' })).toContainText('cancel-order');
});

test('a partly filled first attempt shows the filled quantity', async ({ page, exchange, open }) => {
  await open(page, { token: 'BTC', price: '2000', atr: '20' });
  exchange.setFaults([{ kind: 'partialFill', fraction: '0.5', on: { times: 1 } }]);
  await submit(page);
  const done = result(page);
  await expect(done).toContainText('SUCCESS (ORDER FILLED)');
  const first = done.getByRole('article', { name: 'First Attempt' });
  const [filled, planned] = [
    await fact(first, 'Filled Quantity').textContent(),
    await fact(first, 'Quantity').textContent(),
  ];
  expect(Number(filled)).toBeGreaterThan(0);
  expect(Number(filled)).toBeLessThan(Number(planned));
  await expect(first).toContainText(`Filled ${filled} of ${planned}`);
  await expect(first).not.toContainText('Not filled');
});

// Requirements: trading-calculator-and-execution-11, order-execution-10
test('an order that fills in neither attempt counts as failed', async ({ page, exchange, open }) => {
  await open(page, { token: 'SOL', price: '150', atr: '1.5' });
  exchange.setFaults([{ kind: 'restFirst', on: { times: Number.POSITIVE_INFINITY } }]);
  await submit(page);
  const done = result(page);
  await expect(done).toContainText('FAILED (ORDER FAILED)');
  await expectToast(page, { title: 'Order Submission Failed', text: /not filled|unfilled/i });
  await expect(done.getByRole('article', { name: 'Second Attempt' })).toContainText('Not filled');
  await expect(fact(done, 'Fill Status')).toHaveText('Not filled');
});

// Requirements: trading-calculator-and-execution-11
test("an order that the exchange refuses fails with the exchange's message and is not sent twice", async ({
  page,
  exchange,
  open,
}) => {
  await open(page, { token: 'XRP', price: '2', atr: '0.02' });
  exchange.setFaults([
    { kind: 'refuse', code: '40762', message: 'The order size is too large', on: { path: 'place-order' } },
  ]);
  await submit(page);
  const done = result(page);
  await expect(done).toContainText('FAILED (ORDER FAILED)');
  await expectToast(page, { title: 'Order Submission Failed', text: 'The order size is too large' });
  await expect(done.getByRole('article', { name: 'First Attempt' })).toContainText('Refused');
  await expect(done.getByRole('article', { name: 'Second Attempt' })).toContainText('NOT RUN');
  await expect(done.getByRole('listitem').filter({ hasText: 'place-order' })).toHaveCount(1);
});

// Requirements: trading-messages-16
test('the last real balance stays valid for a minute while the balance cannot be read', async ({
  page,
  exchange,
  open,
  expectFailure,
}) => {
  await open(page, { token: 'TON', price: '5', atr: '0.05' });
  const balance = card(page, 'Account Balance');
  await expect(fact(balance, 'Available')).toHaveText(/^\$2,\d/);
  await calculate(page);
  expectFailure({ path: '/api/admin/account-balance/', status: 503 });
  exchange.setFaults([
    { kind: 'badGatewayBefore', on: { path: 'account/accounts', times: Number.POSITIVE_INFINITY } },
    { kind: 'badGatewayBefore', on: { path: 'account/account', times: Number.POSITIVE_INFINITY } },
  ]);
  await calculateButton(page).click();
  await expectToast(page, {
    title: 'Rate Limiting Detected',
    text: 'Fallback calculations use the real account balance, and results remain accurate.',
  });
  await expect(card(page, 'Calculation Details')).toContainText('the real account balance that was read');
  await expect(submitButton(page)).toBeEnabled();
  await expect(balance).toContainText('Balance API Error', { timeout: 15_000 });
  await expect(balance).toContainText('Please check API connection');
});

// Requirements: trading-messages-16
test('without a real balance an estimate is shown, marked as such, and cannot be submitted', async ({
  page,
  operator,
  exchange,
  open,
  expectFailure,
}) => {
  await open(page, { token: 'SUI', price: '4', atr: '0.04' });
  // A second user, whose balance was never read.
  const { path, user } = await calculatorCase(operator, {
    token: 'SUI',
    price: '4',
    candle: { ATR: '0.04' },
  });
  expectFailure({ path: '/api/admin/account-balance/', status: 503 });
  await page.goto(path);
  const balance = card(page, 'Account Balance');
  await expect(balance).toContainText('Balance information unavailable', { timeout: 15_000 });
  await expect(balance).toContainText('No Bitget credentials are connected');

  exchange.setAway(true);
  await connect(page, user.id);
  await page.reload();
  const parameters = card(page, 'Position Parameters');
  await calculate(page);
  await expect(parameters.getByRole('alert').first()).toContainText('ESTIMATE - cannot be submitted');
  await expect(parameters).toContainText('an estimate with a fallback balance of 254.648 USDT');
  const methods = card(page, 'The three methods side by side');
  await loadBelow(page, methods);
  await expect(methods).toContainText('ESTIMATE - cannot be submitted');
  await expect(submitButton(page)).toBeDisabled();
  await expectTip(submitButton(page), 'An estimate cannot be submitted');
  await expect(fact(parameters, 'Reference Price')).toHaveText('4 (signal)');
});
