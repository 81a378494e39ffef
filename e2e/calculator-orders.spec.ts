import type { Page } from '@playwright/test';
import type { Trade } from '#contract/signals.ts';
import {
  calculate,
  calculateButton,
  calculatorCase,
  card,
  confirmation,
  confirmButton,
  expectTip,
  fact,
  result,
  submitButton,
} from './calculator-screen.ts';
import { expect, test } from './fixtures.ts';
import { closeDialog, expectToast, pageTitle, tableRow } from './screen.ts';

// Long enough for a reload while the order runs.
test.use({ serverEnv: { APP_ENV: 'development', VERIFY_FIRST_MS: '4000' } });

const generatePath = '**/api/internal/position-generator/generate';
const preparePath = '**/api/position-maker/prepare';
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
test('an order by hand is prepared, confirmed, followed over a reload, and shown with its result', async ({
  page,
  operator,
  signIn,
}) => {
  const { path, signalId } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await calculate(page);
  await expect(page).toHaveURL(/calculation=[0-9a-f-]{36}/);
  await page.route(preparePath, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue();
  });
  await submitButton(page).click();
  await expect(page.getByText('Preparing order data...')).toBeVisible();
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
  await expect(order).toContainText('/api/v2/mix/order/place-order');
  const payload = order.getByRole('region', { name: 'Order Payload' });
  await expect(payload).toContainText('"presetStopLossPrice": "64301"');

  // The server computes the quantities of another entry price, and says when it lies too far away.
  const custom = order.getByLabel('Custom Entry Price (optional)');
  await expect(custom).toHaveAttribute('step', '0.00000001');
  await custom.fill('70000');
  await expect(order).toContainText('Custom entry price 70000 is 7.69% away from the live price 65000');
  await expect(confirmButton(page)).toBeDisabled();
  await expectTip(confirmButton(page), 'Order validation failed - check order parameters');
  await custom.fill('65400');
  await expect(fact(order, 'Entry Price')).toHaveText('65400.0000');
  await expect(fact(order, 'Asset Quantity')).toHaveText('0.040000 BTC');
  await expect(payload).toContainText('"price": "65400"');
  await expect(confirmButton(page)).toBeEnabled();

  await confirmButton(page).click();
  await expect(order.getByRole('button', { name: 'Submitting Order...' })).toBeDisabled();
  const first = order.getByRole('article', { name: 'First Attempt' });
  await expect(first).toContainText('Open, waiting for its fill');
  await expect(order.getByRole('list', { name: 'Timeline' })).toContainText('Attempt 1: accepted by Bitget');
  await expect(order).toContainText('leaving the page stops nothing');

  await page.reload();
  await expect(first).toContainText('Open, waiting for its fill');
  await expectToast(page, { title: 'Order Submitted Successfully', text: /Order ID: \d+/ });
  const done = result(page);
  await expect(done).toContainText('SUCCESS (ORDER FILLED)');
  await expect(done).toContainText('Order filled: 0.04 BTC at 65000');
  await expect(fact(done, 'Fill Status')).toHaveText('Filled');
  await expect(fact(done, 'Protection')).toHaveText('Stop loss and take profit verified');
  await expect(done.getByRole('article', { name: 'First Attempt' })).toContainText('Filled');
  await expect(done.getByRole('article', { name: 'Second Attempt' })).toContainText('NOT RUN');
  await expect(done.getByRole('list', { name: 'Timeline' })).toContainText('Done: filled 0.04 BTC at 65000');
  await expect(fact(done, 'First Order Filled')).toHaveText('Yes');
  await expect(fact(done, 'Second Attempt Executed')).toHaveText('No');
  await expect(fact(done, 'Execution Time')).toHaveText(/^\d+\.\ds$/);
  const placed = done.getByRole('listitem').filter({ hasText: 'place-order' }).first();
  await expect(placed).toContainText('POST');
  await expect(placed).toContainText('200 OK');
  await placed.locator('summary').click();
  await expect(placed.getByRole('region', { name: /^Request/ })).toContainText('"size": "0.04"');

  await page.reload();
  await expect(done).toContainText('SUCCESS (ORDER FILLED)');
  await closeDialog(page, 'Order Submission Result');
  await expect(submitButton(page)).toBeDisabled();
  await card(page, 'Order of This Calculation').getByRole('button', { name: 'Show result' }).click();
  await expect(done).toContainText('SUCCESS (ORDER FILLED)');
  expect(await tradesOf(page, signalId)).toHaveLength(1);

  // Another calculation of the same signal finds the position.
  await closeDialog(page, 'Order Submission Result');
  await calculate(page);
  await expect(submitButton(page)).toBeEnabled();
  await submitButton(page).click();
  await expect(order).toContainText('Pre-assessment failed');
  await expect(order).toContainText(/already (traded|open)/);
  await expect(confirmButton(page)).toBeDisabled();
});

// Requirements: order-execution-11, additions-order-and-positions-3
test('leaving while the order runs stops nothing, and the outcome is told elsewhere', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await calculate(page);
  await openConfirmation(page);
  await confirmButton(page).click();
  await expect(confirmation(page).getByRole('article', { name: 'First Attempt' })).toContainText('Open');
  await closeDialog(page, 'Position Maker - Order Confirmation');
  await expect(card(page, 'Order of This Calculation')).toContainText('Running');
  await page.getByRole('link', { name: 'Back to Signals' }).click();
  await expectToast(page, { title: 'Order Still Running', text: 'Leaving the calculator stops nothing' });
  await expect(pageTitle(page, 'Trading Signals')).toBeVisible();
  await expectToast(page, { title: 'Order Submitted Successfully', text: /Order ID: \d+/ });
  await page.goBack();
  await expect(card(page, 'Order of This Calculation')).toContainText('Filled');
  await expect(fact(card(page, 'Position Parameters'), 'Entry Price')).toHaveText('65002.5000');
});

// Requirements: order-execution-1
test('two tabs that submit at the same instant make one order', async ({
  page,
  context,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/api/position-maker/submit-order', status: 409 });
  const { path, signalId } = await calculatorCase(operator);
  await signIn(page);
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
  const statuses = await Promise.all(answers.map(async (answer) => (await answer).status()));
  expect(statuses.toSorted()).toEqual([200, 409]);
  for (const tab of [page, other]) await expect(result(tab)).toContainText('SUCCESS (ORDER FILLED)');
  const trades = await tradesOf(page, signalId);
  expect(trades).toHaveLength(1);
  const orderId = trades[0]?.orderId ?? 'none';
  for (const tab of [page, other]) await expect(fact(result(tab), 'Order ID').first()).toHaveText(orderId);
});

// Requirements: trading-calculator-and-execution-7, trading-validation-3
test('a calculation is not submitted without stop loss and take profit', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  // The server never calculates so.
  await page.route(generatePath, async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, position: { ...answer.position, takeProfit: '' } } });
  });
  await calculate(page);
  const parameters = card(page, 'Position Parameters');
  const button = parameters.getByRole('button', { name: 'Missing SL/TP - Cannot Submit' });
  await expect(button).toBeDisabled();
  await expect(parameters).toContainText('SAFETY RULE: Cannot submit without Stop Loss and Take Profit');
  await expectTip(button, 'Stop Loss and Take Profit are required for all trades');
});

// Requirements: trading-messages-8, trading-messages-15, trading-messages-17
test('a failed calculation shows its text, or the usual one', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  const refused = { success: false, positionGeneratorLogId: null, availableBalance: null };
  await page.route(generatePath, (route) =>
    route.fulfill({ json: { ...refused, error: '', message: '', details: 'Some detail' } }),
  );
  await calculateButton(page).click();
  await expectToast(page, { title: 'Calculation Failed', text: 'Failed to calculate position parameters.' });
  await expect(card(page, 'Calculation Error')).toContainText('Some detail');

  await page.route(generatePath, (route) => route.fulfill({ json: { success: false } }));
  await calculateButton(page).click();
  await expect(card(page, 'Calculation Error')).not.toContainText('Some detail');
  await expectToast(page, {
    title: 'Calculation Failed',
    text: 'Failed to calculate position parameters.',
  });
  await expect(card(page, 'Calculation Error')).toContainText('Failed to calculate position parameters.');

  await page.route(generatePath, (route) =>
    route.fulfill({ json: { ...refused, error: 'x', message: 'Bitget: rate limit exceeded', details: '' } }),
  );
  await calculateButton(page).click();
  await expectToast(page, {
    title: 'Rate Limiting Detected',
    text: 'Fallback calculations use the real account balance, and results remain accurate.',
  });
  await expect(card(page, 'Calculation Error')).toContainText('Signal prices are used as fallback');

  expectFailure({ path: '/api/internal/position-generator/generate', status: 503 });
  await page.route(generatePath, (route) =>
    route.fulfill({ status: 503, json: { message: 'The service is not available at the moment' } }),
  );
  await calculateButton(page).click();
  await expectToast(page, {
    title: 'Calculation Failed',
    text: 'The service is not available at the moment',
  });
  await expect(calculateButton(page)).toHaveText('Calculate');
});

// Requirements: trading-validation-2, trading-validation-3, trading-messages-9
test('a failed preparation keeps its titles, and can be tried again', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await calculate(page);
  const refused = { success: false, data: null, details: '' };
  const safety = 'Cannot prepare order without Stop Loss and Take Profit. This is a strict safety rule.';
  for (const [answer, toast] of [
    [
      { ...refused, error: 'SAFETY VIOLATION', message: safety },
      { title: 'SAFETY VIOLATION', text: safety },
    ],
    [
      { ...refused, error: 'Exchange Unavailable', message: '' },
      { title: 'Order Preparation Failed', text: 'Failed to prepare order data.' },
    ],
    [
      { success: true, message: '', data: null },
      { title: 'Order Preparation Failed', text: 'No order data prepared. Please try again.' },
    ],
  ] as const) {
    await page.route(preparePath, (route) => route.fulfill({ json: answer }));
    await submitButton(page).click();
    await expectToast(page, toast);
    await expect(confirmation(page).getByRole('alert').first()).toContainText(toast.text);
    await expect(confirmButton(page)).toBeDisabled();
    await closeDialog(page, 'Position Maker - Order Confirmation');
  }
  expectFailure({ path: '/api/position-maker/prepare', status: 500 });
  await page.route(preparePath, (route) =>
    route.fulfill({ status: 500, json: { message: 'Internal server error' } }),
  );
  await submitButton(page).click();
  await expectToast(page, { title: 'Order Preparation Failed', text: 'Internal server error' });
  await page.unrouteAll({ behavior: 'wait' });
  await confirmation(page).getByRole('button', { name: 'Try again' }).click();
  await expect(confirmation(page)).toContainText('Pre-assessment passed');

  // A calculation that was refused has nothing to prepare.
  const { path: tooLarge } = await calculatorCase(operator, {
    token: 'ETH',
    price: '4000000',
    candle: { ATR: '20000', mature_trend: 'bearish' },
  });
  await page.goto(tooLarge);
  const generated = page.waitForResponse(generatePath);
  await calculateButton(page).click();
  const { positionGeneratorLogId } = await (await generated).json();
  await page.goto(`${tooLarge}&calculation=${positionGeneratorLogId}&dialog=order`);
  await expectToast(page, { title: 'No Position Data', text: 'Please calculate position parameters first.' });
});

// Requirements: calculator-screen-and-cards-12, trading-calculator-and-execution-11, trading-messages-10
// Requirements: trading-messages-13
test('a failed submission opens the result dialog with its error', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  const { path, signalId } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await calculate(page);
  const refusal = { success: false, error: '', message: '', details: '' };
  const failures = [
    [
      { json: { ...refusal, error: 'Price Moved', message: 'The live price has moved' } },
      { title: 'Order Submission Failed', text: 'The live price has moved' },
    ],
    [{ json: refusal }, { title: 'Order Submission Failed', text: 'Unknown error occurred' }],
    [
      { json: { ...refusal, message: 'Maximum 2 requests per second' } },
      { title: 'Rate Limiting Detected', text: 'Maximum 2 requests per second' },
    ],
    [
      { json: { ...refusal, error: 'API Integration failed' } },
      { title: 'Rate Limiting Detected', text: 'API Integration failed' },
    ],
    [
      { status: 429, json: { message: 'Too many requests' } },
      { title: 'Rate Limiting Detected', text: 'Too many requests' },
    ],
    [
      { status: 502, body: 'bad gateway' },
      { title: 'Order Submission Failed', text: 'Failed to submit order to exchange.' },
    ],
    ['aborted', { title: 'Order Processing Error', text: 'The server cannot be reached' }],
  ] as const;
  expectFailure({ path: '/api/position-maker/submit-order', status: 429 });
  expectFailure({ path: '/api/position-maker/submit-order', status: 502 });
  expectFailure({ path: '/api/position-maker/submit-order', status: 'network' });
  for (const [answer, toast] of failures) {
    await page.route(submitPath, (route) => (answer === 'aborted' ? route.abort() : route.fulfill(answer)));
    await openConfirmation(page);
    await confirmButton(page).click();
    await expectToast(page, toast);
    await expect(result(page)).toContainText('FAILED (ORDER FAILED)');
    await expect(result(page)).toContainText(toast.text);
    await closeDialog(page, 'Order Submission Result');
    await page.unroute(submitPath);
  }
  expect(await tradesOf(page, signalId)).toEqual([]);
});

// Requirements: order-execution-11
test('an order whose answer was lost on the way is found again', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await calculate(page);
  expectFailure({ path: '/api/position-maker/submit-order', status: 'network' });
  // The page's own request is cut off; the server gets the same one, and nobody waits for its answer.
  let sent = Promise.resolve();
  await page.route(submitPath, async (route) => {
    const request = route.request();
    sent = new Promise((resolve) => setTimeout(resolve, 1_500)).then(async () => {
      await page.request.post(request.url(), {
        data: request.postDataJSON(),
        headers: { origin: new URL(request.url()).origin },
      });
    });
    await route.abort();
  });
  await openConfirmation(page);
  await confirmButton(page).click();
  await expectToast(page, { title: 'Order Processing Error' });
  await expect(result(page)).toContainText('The outcome is not known yet');
  const first = confirmation(page).getByRole('article', { name: 'First Attempt' });
  await expect(first).toContainText('Open, waiting for its fill');
  await expect(result(page)).toContainText('SUCCESS (ORDER FILLED)');
  await expectToast(page, { title: 'Order Submitted Successfully', text: /Order ID: \d+/ });
  await sent;
});

// Requirements: trading-messages-11
test('toasts of orders stay as long as the specification says', async ({ page, operator, signIn }) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await calculate(page);
  await page.route(submitPath, (route) =>
    route.fulfill({ json: { success: false, error: 'Not sent', message: 'Not sent', details: '' } }),
  );
  await openConfirmation(page);
  await confirmButton(page).click();
  await expectToast(page, { title: 'Order Submission Failed' });
  // Pointed at, a toast stays.
  await page.mouse.move(5, 5);
  const toast = page.locator('.mantine-Notification-root').filter({ visible: true });
  await page.waitForTimeout(8_500);
  await expect(toast).toHaveCount(1);
  await expect(toast).toHaveCount(0, { timeout: 4_000 });
});

// Requirements: calculator-screen-and-cards-6, trading-messages-18
test('a balance without figures is said to be unavailable', async ({ page, operator, signIn }) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.route('**/api/admin/account-balance/**', (route) => route.fulfill({ json: { success: false } }));
  await page.goto(path);
  await expect(card(page, 'Account Balance')).toContainText('Balance information unavailable');
  await expect(tableRow(page, 'The three methods side by side', 'chosen')).toBeVisible();
});
