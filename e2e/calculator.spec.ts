import {
  calculate,
  calculateButton,
  calculatorCase,
  card,
  fact,
  saveWhenCalculating,
  submitButton,
} from './calculator-screen.ts';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { closeDialog, dialog, expectToast, loadBelow, tableRow } from './screen.ts';
import { uniqueToken } from './unique.ts';

test.use({ serverEnv: DEVELOPMENT });

// Requirements: calculator-screen-and-cards-2, calculator-screen-and-cards-4
// Requirements: calculator-screen-and-cards-5, calculator-screen-and-cards-6
// Requirements: calculator-screen-and-cards-7, calculator-screen-and-cards-8
// Requirements: calculator-screen-and-cards-10, trading-messages-18
test('shows signal, price log and balance of the chosen user beside the settings', { tag: '@long' }, async ({
  page,
  operator,
}) => {
  const { path, signalId } = await calculatorCase(operator);
  await page.goto(path);
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
test('a signal without a price log uses the default stop; Technical Analysis refuses it', {
  tag: '@long',
}, async ({ page, operator }) => {
  const token = uniqueToken();
  const { id } = await operator.postSignal({ symbol: `${token}USDT`, price: '10' });
  const user = await operator.createUser();
  await page.goto(`/position-calculator?signalId=${id}&userId=${user.id}`);
  await expect(page.getByText('No matching price log exists for this signal')).toBeVisible();
  const methods = page.getByRole('table', { name: 'The three methods side by side' });
  await loadBelow(page, methods);
  await expect(methods).toContainText('ATR is required for Technical Analysis');
  await calculateButton(page).click();
  await expectToast(page, { title: 'Calculation Failed', text: 'ATR is required for Technical Analysis' });
  await expect(card(page, 'Calculation Error')).toContainText('ATR is required for Technical Analysis');
  await submitButton(page).click();
  await expectToast(page, { title: 'No Position Data', text: 'Please calculate position parameters first.' });

  await page.getByLabel('Position Sizing Method').selectOption('Portfolio Allocation');
  await calculate(page);
  await expect(card(page, 'Calculation Error')).toHaveCount(0);
  const parameters = card(page, 'Position Parameters');
  // A missing trend counts as opposed: the stop lies 2% of the reference price below it.
  await expect(fact(parameters, 'Stop Loss')).toHaveText('9.8000');
  await expect(fact(parameters, 'Leverage')).toContainText('5x');
});

// Requirements: calculator-screen-and-cards-4, calculator-screen-and-cards-9
// Requirements: trading-calculator-and-execution-3, trading-calculator-and-execution-16
// Requirements: trading-calculator-and-execution-17, trading-calculator-and-execution-18
// Requirements: trading-calculator-and-execution-19, trading-validation-7, trading-validation-8
// Requirements: trading-validation-10, trading-validation-18, trading-roles-3, trading-calls-17
// Requirements: trading-messages-8, trading-constants-12, additions-order-and-positions-1
test('each method shows its fixed fields, saves the settings first and calculates', { tag: '@long' }, async ({
  page,
  operator,
}) => {
  const { path } = await calculatorCase(operator);
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
  await saveWhenCalculating(page);
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
  const table = page.getByRole('table', { name: 'Calculation Hyperparameters' });
  for (const [name, value] of [
    ['Signal price', '65000.0000 USDT'],
    ['Live price', '65000.0000 USDT'],
    ['ATR', '300.00'],
  ] as const) {
    const row = table.getByRole('row').filter({ has: page.getByRole('cell', { name, exact: true }) });
    await expect(row.getByRole('cell').nth(1)).toHaveText(value);
  }

  // Risk Management: stop distance 1.5 × 300, target twice that; 0.5 BTC, cut by the 33% limit.
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

  // Portfolio Allocation: portion and risk are chosen from lists.
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
test('chart and comparison of methods follow unsaved settings', { tag: '@long' }, async ({
  page,
  operator,
}) => {
  const { path } = await calculatorCase(operator);
  await page.goto(path);
  const chart = card(page, 'Recent Candles');
  await expect(chart.getByRole('img')).toHaveAccessibleName(/Entry 65002\.5, Stop 64301, Target 66048\.5/);
  const table = 'The three methods side by side';
  await loadBelow(page, card(page, table));
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

test('the button to submit stands still from the calculation on, whatever loads later', {
  tag: '@long',
}, async ({ page, operator }) => {
  const { path } = await calculatorCase(operator);
  const plan = Promise.withResolvers<void>();
  await page.route('**/api/exit-plans/calculations/**', async (route) => {
    await plan.promise;
    await route.continue();
  });
  await page.goto(path);
  await expect(submitButton(page)).toBeVisible();
  // Where the button stands in each frame in which there is a calculation to submit.
  const places = await submitButton(page).evaluateHandle((button) => {
    const seen = new Set<number>();
    const look = () => {
      if (location.search.includes('calculation=')) {
        seen.add(Math.round(button.getBoundingClientRect().top + scrollY));
      }
      requestAnimationFrame(look);
    };
    look();
    return seen;
  });
  await calculate(page);
  const position = card(page, 'Position Parameters');
  await expect(position).toContainText('Loading the exit plan...');
  plan.resolve();
  await expect(position).toContainText('No exit plan');
  expect(await places.evaluate((seen) => [...seen])).toHaveLength(1);
});
