import type { Page } from '@playwright/test';
import type { Trade } from '#contract/signals.ts';
import {
  calculate,
  calculatorCase,
  card,
  confirmation,
  confirmButton,
  expectTip,
  fact,
  result,
  submitButton,
} from './calculator-screen.ts';
import { endWaits } from './database.ts';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { closeDialog, expectToast } from './screen.ts';

test.use({ serverEnv: DEVELOPMENT });

const submitPath = '**/api/position-maker/submit-order';

async function openConfirmation(page: Page) {
  await submitButton(page).click();
  await expect(confirmation(page)).toContainText('Pre-assessment');
}

const tradesOf = async (page: Page, signalId: string): Promise<Trade[]> =>
  (await page.request.get(`/api/signals/${signalId}/trades`)).json();

// Requirements: calculator-screen-and-cards-11, calculator-screen-and-cards-12
// Requirements: trading-calculator-and-execution-7, trading-calculator-and-execution-8
// Requirements: trading-calculator-and-execution-9, trading-calculator-and-execution-11
// Requirements: trading-calculator-and-execution-13, trading-validation-4, trading-validation-11
// Requirements: trading-messages-12, additions-order-and-positions-3
test('a manual order is prepared, confirmed, tracked across a reload and shown with its result', async ({
  page,
  operator,
}) => {
  const { path, signalId } = await calculatorCase(operator);
  await page.goto(path);
  await calculate(page);
  await expect(page).toHaveURL(/calculation=[0-9a-f-]{36}/);
  await submitButton(page).click();
  const order = confirmation(page);
  await expect(order).toContainText('Pre-assessment passed');
  for (const [name, value] of [
    ['Token', 'BTC'],
    ['Action', 'BUY'],
    ['Entry Price', '65002.5000'],
    ['Stop Loss', '64301.0000'],
    ['Take Profit', '66048.5000'],
    ['Leverage', '10x'],
    ['Asset Quantity', '0.070000 BTC'],
    ['Investment', '$455.02'],
    ['Risk %', '0.49%'],
    ['Exchange', 'Bitget'],
    ['Market Type', 'Futures'],
    ['Active Trading', 'On'],
  ] as const) {
    await expect(fact(order, name)).toHaveText(value);
  }
  await expect(order).toContainText(/Buy 0\.07 BTC for .+@example\.com/);
  await expect(order).toContainText('on Bitget (paper), limit at $65,002.50, 10x');
  await expect(order).toContainText('Loses at the stop−$49.11');
  await expect(order).toContainText('Wins at the target+$73.22');
  await expect(order.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await order.getByText('Technical details').click();
  await expect(order).toContainText('/api/v2/mix/order/place-order');
  const payload = order.getByRole('region', { name: 'Order Payload' });
  await expect(payload).toContainText('"presetStopLossPrice": "64301"');

  // The server recomputes quantities for a custom entry price and rejects one too far from the live price.
  const custom = order.getByLabel('Custom Entry Price (optional)');
  await expect(custom).toHaveAttribute('step', '0.00000001');
  await custom.fill('70000');
  await expect(order).toContainText('Custom entry price 70000 is 7.69% away from the live price 65000');
  await expect(confirmButton(page)).toBeDisabled();
  await expectTip(confirmButton(page), 'Order validation failed - check order parameters');
  await custom.fill('65400');
  await expect(fact(order, 'Entry Price')).toHaveText('65400.0000');
  await expect(fact(order, 'Asset Quantity')).toHaveText('0.040000 BTC');
  // Below the market: the order rests until the price comes down to it.
  await custom.fill('64900');
  await expect(fact(order, 'Entry Price')).toHaveText('64900.0000');
  await expect(fact(order, 'Asset Quantity')).toHaveText('0.070000 BTC');
  await expect(payload).toContainText('"price": "64900"');
  await expect(confirmButton(page)).toBeEnabled();

  await confirmButton(page).click();
  await expect(order.getByRole('button', { name: 'Submitting Order...' })).toBeDisabled();
  const first = order.getByRole('article', { name: 'First Attempt' });
  await expect(first).toContainText('Open, waiting for its fill');
  await expect(order.getByRole('list', { name: 'Timeline' })).toContainText('Attempt 1: accepted by Bitget');
  await expect(order).toContainText('leaving the page stops nothing');

  await page.reload();
  await expect(first).toContainText('Open, waiting for its fill');
  await (await operator.platform()).candle({ Symbol: 'BTCUSDT', Close: '64880' });
  await expectToast(page, { title: 'Order Submitted Successfully', text: /Order ID: \d+/ });
  const done = result(page);
  await expect(done).toContainText('SUCCESS (ORDER FILLED)');
  await expect(done).toContainText('Order filled: 0.07 BTC at 64880');
  await expect(fact(done, 'Fill Status')).toHaveText('Filled');
  await expect(fact(done, 'Protection')).toHaveText('Stop loss and take profit verified');
  await expect(done.getByRole('article', { name: 'First Attempt' })).toContainText('Filled');
  await expect(done.getByRole('article', { name: 'Second Attempt' })).toContainText('NOT RUN');
  await expect(done.getByRole('list', { name: 'Timeline' })).toContainText('Done: filled 0.07 BTC at 64880');
  await expect(fact(done, 'First Order Filled')).toHaveText('Yes');
  await expect(fact(done, 'Second Attempt Executed')).toHaveText('No');
  await expect(fact(done, 'Execution Time')).toHaveText(/^\d+\.\ds$/);
  const placed = done.getByRole('listitem').filter({ hasText: 'place-order' }).first();
  await expect(placed).toContainText('POST');
  await expect(placed).toContainText('200 OK');
  await placed.locator('summary').click();
  await expect(placed.getByRole('region', { name: /^Request/ })).toContainText('"size": "0.07"');

  await page.reload();
  await expect(done).toContainText('SUCCESS (ORDER FILLED)');
  await closeDialog(page, 'Order Submission Result');
  await expect(submitButton(page)).toBeDisabled();
  await card(page, 'Order of This Calculation').getByRole('button', { name: 'Show result' }).click();
  await expect(done).toContainText('SUCCESS (ORDER FILLED)');
  expect(await tradesOf(page, signalId)).toHaveLength(1);

  // The balance includes the margin of the position, so its figures add up to the cent.
  await closeDialog(page, 'Order Submission Result');
  const balance = card(page, 'Account Balance');
  await expect(fact(balance, 'In positions')).not.toHaveText('$0.00');
  const amounts = await Promise.all(
    ['Balance', 'Available', 'Frozen', 'In positions'].map(async (name) =>
      Math.round(Number(((await fact(balance, name).textContent()) ?? '').replaceAll(/[$,]/g, '')) * 100),
    ),
  );
  const [total = 0, ...parts] = amounts;
  expect(Math.abs(parts.reduce((sum, part) => sum + part, 0) - total)).toBeLessThanOrEqual(2);

  // A second calculation of the same signal finds the open position.
  await calculate(page);
  await expect(submitButton(page)).toBeEnabled();
  await submitButton(page).click();
  await expect(order).toContainText('Pre-assessment failed');
  await expect(order).toContainText(/already (traded|open)/);
  await expect(confirmButton(page)).toBeDisabled();
});

// Requirements: order-execution-1
test('two tabs that submit at the same instant create one order', { tag: '@long' }, async ({
  page,
  context,
  operator,
  expectFailure,
  server,
}) => {
  expectFailure({ path: '/api/position-maker/submit-order', status: 409 });
  const { path, signalId } = await calculatorCase(operator);
  await page.goto(path);
  await calculate(page);
  const other = await context.newPage();
  await other.goto(page.url());
  await Promise.all([openConfirmation(page), openConfirmation(other)]);
  await Promise.all([page, other].map((tab) => expect(confirmButton(tab)).toBeEnabled()));

  const waiting: (() => void)[] = [];
  await context.route(submitPath, async (route) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 2) for (const go of waiting) go();
    });
    await route.continue();
  });
  const answers = [page, other].map((tab) => tab.waitForResponse(/submit-order/));
  await Promise.all([page, other].map((tab) => confirmButton(tab).click()));
  await Promise.any(
    [page, other].map((tab) => expect(confirmation(tab)).toContainText('Open, waiting for its fill')),
  );
  await endWaits(page, server);
  const statuses = await Promise.all(answers.map(async (answer) => (await answer).status()));
  expect(statuses.toSorted()).toEqual([200, 409]);
  for (const tab of [page, other]) await expect(result(tab)).toContainText('SUCCESS (ORDER FILLED)');
  const trades = await tradesOf(page, signalId);
  expect(trades).toHaveLength(1);
  const orderId = trades[0]?.orderId ?? 'none';
  for (const tab of [page, other]) await expect(fact(result(tab), 'Order ID').first()).toHaveText(orderId);
});

// Requirements: trading-messages-11
test('order toasts stay as long as specified', { tag: '@long' }, async ({ page, operator }) => {
  const { path } = await calculatorCase(operator);
  await page.clock.install();
  await page.goto(path);
  await calculate(page);
  await page.route(submitPath, (route) =>
    route.fulfill({ json: { success: false, error: 'Not sent', message: 'Not sent', details: '' } }),
  );
  await openConfirmation(page);
  await expect(confirmButton(page)).toBeEnabled();
  // A toast stays while the pointer is over it, so the pointer moves away.
  await page.mouse.move(5, 5);
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));
  await confirmButton(page).press('Enter');
  await expectToast(page, { title: 'Order Submission Failed' });
  const toast = page.locator('.mantine-Notification-root').filter({ visible: true });
  await page.clock.runFor(9_900);
  await expect(toast).toHaveCount(1);
  await page.clock.runFor(600);
  await expect(toast).toHaveCount(0);
});
