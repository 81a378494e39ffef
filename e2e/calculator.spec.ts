import {
  calculate,
  calculateButton,
  calculatorCase,
  card,
  confirmation,
  fact,
  holdCalculation,
  submitButton,
} from './calculator-screen.ts';
import { expect, test } from './fixtures.ts';
import { closeDialog, dialog, expectToast, pageTitle, tableRow, tableRows } from './screen.ts';
import { uniqueToken } from './unique.ts';

test.use({ serverEnv: { APP_ENV: 'development' } });

// Requirements: calculator-screen-and-cards-1, calculator-screen-and-cards-2
test('without a signal, and with one that does not exist, the calculator says so', async ({
  page,
  signIn,
  expectFailure,
}) => {
  await signIn(page);
  await page.goto('/position-calculator');
  await expect(pageTitle(page, 'Position Calculator')).toBeVisible();
  await expect(
    page.getByText('No signal ID provided. Please select a signal from the signals page.'),
  ).toBeVisible();
  await page.getByRole('link', { name: 'Back to Signals' }).click();
  await expect(pageTitle(page, 'Trading Signals')).toBeVisible();

  const unknown = '01890000-0000-7000-8000-000000000000';
  expectFailure({ path: `/api/signals/${unknown}`, status: 404 });
  await page.goto(`/position-calculator?signalId=${unknown}`);
  await expect(page.getByText('Failed to load signal data. Please try again.')).toBeVisible();
});

// Requirements: calculator-screen-and-cards-2, calculator-screen-and-cards-4
// Requirements: calculator-screen-and-cards-5, calculator-screen-and-cards-6
// Requirements: calculator-screen-and-cards-7, calculator-screen-and-cards-8
// Requirements: calculator-screen-and-cards-10, trading-messages-18
test('signal, price log and balance of the chosen user stand beside the settings', async ({
  page,
  operator,
  signIn,
}) => {
  const { path, signalId } = await calculatorCase(operator);
  await signIn(page);
  const signalSeen = Promise.withResolvers<void>();
  await page.route(`**/api/signals/${signalId}`, async (route) => {
    await signalSeen.promise;
    await route.continue();
  });
  const balanceSeen = Promise.withResolvers<void>();
  await page.route('**/api/admin/account-balance/**', async (route) => {
    await balanceSeen.promise;
    await route.continue();
  });
  await page.goto(path);
  await expect(page.getByText('Loading signal data...')).toBeVisible();
  signalSeen.resolve();
  await expect(page.getByText('Loading account balance...')).toBeVisible();
  balanceSeen.resolve();
  const balance = card(page, 'Account Balance');
  for (const [name, value] of [
    ['Account Type', 'Futures (USDT)'],
    ['Balance', '$10,000.00'],
    ['Available', '$10,000.00'],
    ['Frozen', '$0.00'],
  ] as const) {
    await expect(fact(balance, name)).toHaveText(value);
  }
  const signal = card(page, 'Signal Information');
  for (const [name, value] of [
    ['Token', 'BTC'],
    ['Action', 'BUY'],
    ['Price', '$65,000.00'],
    ['Timeframe', '15 minutes'],
    ['Processor', 'Tesla'],
  ] as const) {
    await expect(fact(signal, name)).toHaveText(value);
  }
  const original = fact(signal, 'Time (TradingView)');
  await expect(original).toHaveText(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d$/);
  await original.locator('[data-tip]').hover();
  await expect(page.getByRole('tooltip')).toHaveText(/^\d{4}-\d\d-\d\dT.*Z$/);
  await expect(fact(signal, 'Time (Server)')).toHaveText(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d$/);
  const log = card(page, 'Price Log Information');
  for (const [name, value] of [
    ['Price (Close)', '$65,000.00'],
    ['Symbol', 'BTCUSDT'],
    ['Immediate Trend', 'bullish'],
    ['Mature Trend', 'bullish'],
    ['ATR', '300.00'],
  ] as const) {
    await expect(fact(log, name)).toHaveText(value);
  }
  await expect(fact(log, 'Received At')).toHaveText(/^\d{4}\//);

  await signal.getByRole('button', { name: 'Signal raw data' }).click();
  await expect(dialog(page, 'Signal Raw Data')).toContainText(`"id": "${signalId}"`);
  await expect(page).toHaveURL(/dialog=signal/);
  await closeDialog(page, 'Signal Raw Data');
  await log.getByRole('button', { name: 'Price log raw data' }).click();
  await expect(dialog(page, 'Price Log Raw Data')).toContainText('"immediate_trend": "bullish"');
  await closeDialog(page, 'Price Log Raw Data');
});

// Requirements: calculator-screen-and-cards-8, trading-validation-2, trading-messages-8, position-sizing-4
test('a signal without a price log is calculated by the default stop, or refused by Technical Analysis', async ({
  page,
  operator,
  signIn,
}) => {
  const token = uniqueToken();
  const { id } = await operator.postSignal({ symbol: `${token}USDT`, price: '10' });
  const user = await operator.createUser();
  await signIn(page);
  await page.goto(`/position-calculator?signalId=${id}&userId=${user.id}`);
  await expect(page.getByText('No matching price log exists for this signal')).toBeVisible();
  const methods = page.getByRole('table', { name: 'The three methods side by side' });
  await expect(methods.locator('tbody tr').filter({ hasText: 'Technical Analysis' })).toContainText(
    'ATR is required for Technical Analysis',
  );
  await calculateButton(page).click();
  await expectToast(page, { title: 'Calculation Failed', text: 'ATR is required for Technical Analysis' });
  await expect(card(page, 'Calculation Error')).toContainText('ATR is required for Technical Analysis');
  await submitButton(page).click();
  await expectToast(page, { title: 'No Position Data', text: 'Please calculate position parameters first.' });

  await page.getByLabel('Position Sizing Method').selectOption('Portfolio Allocation');
  await calculate(page);
  await expect(card(page, 'Calculation Error')).toHaveCount(0);
  const parameters = card(page, 'Position Parameters');
  // Opposed for want of a trend; 2% of the reference price below it.
  await expect(fact(parameters, 'Stop Loss')).toHaveText('9.8000');
  await expect(fact(parameters, 'Leverage')).toContainText('5x');
});

// Requirements: calculator-screen-and-cards-3, calculator-screen-and-cards-4, trading-validation-6
// Requirements: trading-roles-3, trading-calls-16
test('any user is found by name, and stands in the address', async ({ page, operator, signIn, server }) => {
  const { path, user, signalId } = await calculatorCase(operator);
  const other = await operator.createUser();
  await operator.setActive(other.id, false);
  await signIn(page);
  await page.goto(`/position-calculator?signalId=${signalId}`);
  const users = card(page, 'Trading User');
  const chosen = users.getByRole('button', { name: /^Trading User:/ });
  await expect(chosen).toContainText(`${server.adminUsername} (You)`);
  await expect(chosen).toContainText('Active');
  await expect(chosen).toContainText('Trading Off');

  await chosen.press('Enter');
  const search = users.getByRole('combobox', { name: 'Search users' });
  await expect(search).toBeFocused();
  await search.fill(user.username.slice(0, -4));
  await expect(users.getByRole('option')).toHaveCount(1);
  await expect(users.getByRole('option', { name: `${user.username} Active Trading On` })).toBeVisible();
  await search.press('Enter');
  await expect(page).toHaveURL(new RegExp(`userId=${user.id}`));
  await expect(chosen).toContainText(user.username);
  await expect(chosen).toContainText('Trading On');
  await expect(card(page, 'Calculation Settings')).toContainText(
    `Saved as the settings of ${user.username} when you calculate`,
  );

  await page.reload();
  await expect(chosen).toContainText(user.username);
  await chosen.click();
  await search.fill('nobody is called so');
  await expect(users.getByRole('status')).toHaveText('No user matches');
  await search.fill(other.username);
  await users.getByRole('option', { name: `${other.username} Inactive Trading Off` }).click();
  await expect(chosen).toContainText('Inactive');
  await chosen.click();
  await search.press('Escape');
  await expect(search).toHaveCount(0);
  await expect(chosen).toBeFocused();

  await page.goto(path.replace(user.id, '01890000-0000-4000-8000-000000000000'));
  await expect(page.getByText('User ID not available - please log in or select a user')).toBeVisible();
});

// Requirements: calculator-screen-and-cards-3
test('the list of users closes when the focus leaves it, and where the focus is it stays', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  for (let created = 0; created < 8; created += 1) await operator.createUser();
  await signIn(page);
  await page.goto(path);
  const users = card(page, 'Trading User');
  const chosen = users.getByRole('button', { name: /^Trading User:/ });
  const list = users.getByRole('listbox');
  await chosen.press('Enter');
  await expect(users.getByRole('option').first()).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(list).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Refresh balance' })).toBeFocused();

  await chosen.press('Enter');
  await expect(list).toBeVisible();
  await page.keyboard.press('Shift+Tab');
  await expect(chosen).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(list).toHaveCount(0);
  await expect(chosen).toBeFocused();

  await chosen.click();
  await expect(list).toBeVisible();
  await chosen.click();
  await expect(list).toHaveCount(0);
});

// Requirements: calculator-screen-and-cards-4, calculator-screen-and-cards-9
// Requirements: trading-calculator-and-execution-3, trading-calculator-and-execution-16
// Requirements: trading-calculator-and-execution-17, trading-calculator-and-execution-18
// Requirements: trading-calculator-and-execution-19, trading-validation-7, trading-validation-8
// Requirements: trading-validation-10, trading-validation-18, trading-roles-3, trading-calls-17
// Requirements: trading-messages-8, trading-constants-12, additions-order-and-positions-1
test('all three methods: what they fix, what they calculate, and that it is saved before', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  const settings = card(page, 'Calculation Settings');
  const portion = settings.getByLabel('Investment Portion');
  const risk = settings.getByLabel('Maximum Risk per Trade');
  const method = settings.getByLabel('Position Sizing Method');
  await expect(settings.getByLabel('Calculation Behavior')).toBeDisabled();
  await expect(settings.getByLabel('Calculation Behavior')).toHaveValue('Futures_Limit_Classic');
  for (const text of ['Futures_Limit_Smart', 'Spot', 'Scalping', 'Smart Position']) {
    await expect(settings.locator('option', { hasText: `${text} (Coming Soon)` })).toBeDisabled();
  }
  const parameters = card(page, 'Position Parameters');
  const reasoning = card(page, 'Calculation Reasoning');

  // Technical Analysis: 65000 - 2.33 × 300 and + 1.5 × 699; 5% of 10000, rounded down to 0.07 BTC.
  await expect(method).toHaveValue('Technical Analysis');
  await expect(risk).toBeDisabled();
  await expect(risk).toHaveValue('auto');
  await expect(settings).toContainText('Calculated from the stop loss, capped at 15%');
  await calculate(page);
  await expectToast(page, { title: 'Position Calculated', text: 'BTC long at 65002.5' });
  for (const [name, value] of [
    ['Entry Price', '65002.5000'],
    ['Stop Loss', '64301.0000'],
    ['Take Profit', '66048.5000'],
    ['Asset Quantity', '0.070000 BTC'],
    ['Investment Portion', '4.6%'],
    ['Risk %', '0.49%'],
    ['ATR', '300.00'],
    ['Leverage', '10x (aligned with the trend)'],
  ] as const) {
    await expect(fact(parameters, name)).toHaveText(value);
  }
  await expect(reasoning).toContainText('Technical Analysis invests');
  await expect(card(page, 'Calculation Methodology')).toContainText(
    'ATR 300.00 × 2.33 (aligned with the trend)',
  );
  await expect(card(page, 'Calculation Details')).toContainText(
    'Stop distance = ATR 300.00 × 2.33 = 699.0000',
  );
  const figures = (name: string) => tableRow(page, 'Calculation Hyperparameters', name);
  await expect(figures('ATR multiplier, aligned')).toContainText('2.33 (in force)');
  await expect(figures('Quantity placeholder')).toContainText('1000 BTC');
  await expect(figures('Tick size')).toContainText('Built-in default');

  // Risk Management: 1.5 × 300 and twice that; half a bitcoin, which the 33% limit cuts.
  await method.selectOption('Risk Management');
  await expect(portion).toBeDisabled();
  await expect(portion).toHaveValue('Auto');
  await expect(settings).toContainText('Calculated from the risk limit, max 33%');
  await expect(risk).toBeEnabled();
  await calculate(page);
  await expect(fact(parameters, 'Stop Loss')).toHaveText('64550.0000');
  await expect(fact(parameters, 'Take Profit')).toHaveText('65900.0000');
  await expect(fact(parameters, 'Asset Quantity')).toHaveText('0.500000 BTC');
  await expect(fact(parameters, 'Investment Portion')).toHaveText('32.5%');
  await expect(reasoning).toContainText('Risk Management');

  // Portfolio Allocation: both from their lists.
  await method.selectOption('Portfolio Allocation');
  await expect(portion.locator('option')).toHaveText(['2.0%', '5.0%', '10.0%', '15.0%', '20.0%']);
  await expect(risk.locator('option')).toHaveText(['2.0%', '5.0%', '10.0%', '15.0%']);
  await portion.selectOption({ label: '20.0%' });
  await risk.selectOption({ label: '2.0%' });
  await calculate(page);
  await expect(fact(parameters, 'Asset Quantity')).toHaveText('0.300000 BTC');
  await expect(fact(parameters, 'Investment Portion')).toHaveText('19.5%');
  await expect(reasoning).toContainText('Portfolio Allocation');

  await page.reload();
  await expect(method).toHaveValue('Portfolio Allocation');
  await expect(portion.locator('option:checked')).toHaveText('20.0%');
  await expect(risk.locator('option:checked')).toHaveText('2.0%');
});

// Requirements: additions-charts-5
test('chart and comparison of the methods follow the settings before anything is saved', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  const chart = card(page, 'Recent Candles');
  await expect(chart.getByRole('img')).toHaveAccessibleName(/Entry 65002\.5, Stop 64301, Target 66048\.5/);
  const table = 'The three methods side by side';
  await expect(tableRow(page, table, 'Risk Management')).toContainText('64550.0000');
  await expect(tableRow(page, table, 'Portfolio Allocation')).toContainText('64550.0000');
  await expect(tableRow(page, table, 'Technical Analysis')).toContainText('64301.0000');
  await expect(tableRow(page, table, 'chosen')).toContainText('Technical Analysis');

  await page.getByLabel('Position Sizing Method').selectOption('Portfolio Allocation');
  await page.getByLabel('Investment Portion').selectOption({ label: '15.0%' });
  await expect(tableRow(page, table, 'chosen')).toContainText('Portfolio Allocation');
  await expect(tableRow(page, table, 'Portfolio Allocation')).toContainText('$1,495.06 (15.0%)');
  await expect(chart.getByRole('img')).toHaveAccessibleName(/Entry 65002\.5, Stop 64550, Target 65900/);
  await page.reload();
  await expect(page.getByLabel('Position Sizing Method')).toHaveValue('Technical Analysis');
});

// Requirements: trading-calculator-and-execution-1, trading-calculator-and-execution-4, trading-calls-20
// Requirements: trading-messages-14
test('the current price is compared with the signal price first', async ({ page, operator, signIn }) => {
  const token = uniqueToken();
  const { path } = await calculatorCase(operator, { token, price: '100', candle: { ATR: '1' } });
  await signIn(page);
  await page.goto(path);
  let release = await holdCalculation(page);
  await calculateButton(page).click();
  await expectToast(page, {
    title: 'Price Current',
    text: 'by 0.00%; the calculation uses the signal price.',
  });
  await expect(calculateButton(page)).toHaveText('Calculating...');
  await expect(calculateButton(page)).toBeDisabled();
  release();
  await expectToast(page, {
    title: 'Position Calculated',
    text: /at 100\.5000\. Price Current: .* by 0\.00%/,
  });
  await expect(card(page, 'Position Parameters')).toContainText('Price Current:');
  await expect(fact(card(page, 'Position Parameters'), 'Reference Price')).toHaveText('100 (signal)');

  await (await operator.platform()).candle({ Symbol: `${token}USDT`, Close: '102', ATR: '1' });
  await page.unrouteAll({ behavior: 'wait' });
  release = await holdCalculation(page);
  const asked = page.waitForRequest(/\/api\/current-price\//);
  // The price service answers for a second from memory.
  await expect(async () => {
    const answer = await page.request.get(`/api/current-price/${token}USDT`);
    expect(await answer.json()).toMatchObject({ data: { currentPrice: '102' } });
  }).toPass();
  await page.waitForTimeout(1_100);
  await calculateButton(page).click();
  await expectToast(page, {
    title: 'Price Updated',
    text: 'by 2.00%; the calculation uses the current price.',
  });
  const request = await asked;
  expect(request.url()).toMatch(/marketType=futures&.*timestamp=\d+/);
  expect(request.headers()['cache-control']).toBe('no-cache');
  release();
  await expectToast(page, { title: 'Position Calculated', text: /Price Updated: .* by 2\.00%/ });
  await expect(fact(card(page, 'Position Parameters'), 'Reference Price')).toHaveText('102 (live)');
});

// Requirements: trading-calculator-and-execution-2, trading-messages-14, trading-messages-15
test('a price service at its limit leaves the signal price, and says so', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator, {
    token: uniqueToken(),
    price: '100',
    candle: { ATR: '1' },
  });
  await signIn(page);
  await page.goto(path);
  await expect(tableRows(page, 'The three methods side by side')).toHaveCount(3);
  // The answer of a second ago does not count any more, and others take all that the limit gives.
  await page.waitForTimeout(1_200);
  let flooding = true;
  const flood = (async () => {
    while (flooding) {
      await Promise.all(
        Array.from({ length: 4 }, () => page.request.get(`/api/current-price/${uniqueToken()}USDT`)),
      );
    }
  })();
  await page.waitForTimeout(300);
  const release = await holdCalculation(page);
  await calculateButton(page).click();
  await expectToast(page, {
    title: 'Rate Limiting Detected',
    text: /Maximum 2 requests per second.*uses the signal price 100/,
  });
  release();
  await expectToast(page, {
    title: 'Rate Limiting Detected',
    text: 'Fallback calculations use the real account balance, and results remain accurate.',
  });
  flooding = false;
  await flood;
  await expect(card(page, 'Calculation Reasoning')).toContainText('so the signal price is used');
  await expect(fact(card(page, 'Position Parameters'), 'Reference Price')).toHaveText('100 (signal)');
});

// Requirements: trading-calculator-and-execution-2, trading-messages-14
test('a price service that does not answer leaves the signal price', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/api/current-price/', status: 'network' });
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await page.route('**/api/current-price/**', (route) => route.abort());
  const release = await holdCalculation(page);
  await calculateButton(page).click();
  await expectToast(page, {
    title: 'Using Signal Price',
    text: 'The server cannot be reached. The calculation uses the signal price 65000.',
  });
  release();
  await expectToast(page, { title: 'Position Calculated', text: 'Using Signal Price: The server cannot' });
});

test('a price service that answers 429 shows the same as the product’s own limit', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/api/current-price/', status: 429 });
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await page.route('**/api/current-price/**', (route) =>
    route.fulfill({ status: 429, json: { message: 'Slow down' } }),
  );
  const release = await holdCalculation(page);
  await calculateButton(page).click();
  await expectToast(page, {
    title: 'Rate Limiting Detected',
    text: 'Slow down. The calculation uses the signal price 65000.',
  });
  release();
  await expectToast(page, {
    title: 'Rate Limiting Detected',
    text: 'Fallback calculations use the real account balance, and results remain accurate.',
  });
  await expect(card(page, 'Position Parameters')).toContainText('Rate Limiting Detected: Slow down.');
});

test('the balance names the margin that positions hold, so that its figures add up', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  const balance = card(page, 'Account Balance');
  await expect(fact(balance, 'In positions')).toHaveText('$0.00');
  await calculate(page);
  await submitButton(page).click();
  await confirmation(page).getByRole('button', { name: 'Confirm & Submit Order' }).click();
  await expectToast(page, { title: 'Order Submitted Successfully' });
  await expect(fact(balance, 'In positions')).not.toHaveText('$0.00');
  const amounts = await Promise.all(
    ['Balance', 'Available', 'Frozen', 'In positions'].map(async (name) =>
      Math.round(Number(((await fact(balance, name).textContent()) ?? '').replaceAll(/[$,]/g, '')) * 100),
    ),
  );
  const [total = 0, ...parts] = amounts;
  // Each figure is rounded to the cent.
  expect(Math.abs(parts.reduce((sum, part) => sum + part, 0) - total)).toBeLessThanOrEqual(2);
  expect(amounts[3]).toBeGreaterThan(100);
});

test('prices keep their decimals in reasoning, methodology, details and hyperparameters', async ({
  page,
  operator,
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  await calculate(page);
  await expect(card(page, 'Calculation Reasoning')).toContainText('at 65002.5000 with leverage');
  await expect(card(page, 'Calculation Reasoning')).toContainText('stop loss at 64301.0000;');
  const details = card(page, 'Calculation Details');
  for (const line of [
    'at 65000.0000, live price 65000.0000',
    'Stop distance = ATR 300.00 × 2.33 = 699.0000',
    'distance = 64301.0000, on the tick 0.1',
    'distance = 66048.5000, on the tick 0.1',
    '= 65002.5000 (manual profile)',
  ]) {
    await expect(details).toContainText(line);
  }
  const methodology = card(page, 'Calculation Methodology');
  for (const text of ['ATR 300.00 ×', 'entry: 64301.0000.', 'entry: 66048.5000.', 'gives 65002.5000.']) {
    await expect(methodology).toContainText(text);
  }
  const figures = page.getByRole('table', { name: 'Calculation Hyperparameters' });
  for (const [name, value] of [
    ['Signal price', '65000.0000 USDT'],
    ['Live price', '65000.0000 USDT'],
    ['ATR', '300.00'],
  ] as const) {
    const row = figures.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
    await expect(row.getByRole('cell').first()).toHaveText(value);
  }
});

// Requirements: trading-messages-17
test('a balance that the minimum order would take too much of is explained', async ({
  page,
  operator,
  signIn,
}) => {
  // 0.01 ETH at a leverage of 5 takes 8000 of 10000 USDT.
  const { path } = await calculatorCase(operator, {
    token: 'ETH',
    price: '4000000',
    candle: { ATR: '20000', immediate_trend: 'bearish', mature_trend: 'bearish' },
  });
  await signIn(page);
  await page.goto(path);
  await calculateButton(page).click();
  await expectToast(page, { title: 'Calculation Failed', text: 'above the 33% limit' });
  await expect(card(page, 'Calculation Error')).toContainText('The current available balance is $10,000.00.');
  await expect(confirmation(page)).toHaveCount(0);
});
