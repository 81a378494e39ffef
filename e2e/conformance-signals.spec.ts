import type { Locator, Page } from '@playwright/test';
import type { WorkflowStep } from '#contract/automation.ts';
import type { SignalStats, SignalsAnswer, SignalWorkflows, StopLevelsAnswer } from '#contract/signals.ts';
import { expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { dialog, pageTitle, tableRow, tableRows } from './screen.ts';
import { uniqueName, uniqueToken } from './unique.ts';

/** The value that stands beside a name. */
const value = (scope: Locator, name: string) =>
  scope.getByText(name, { exact: true }).locator('xpath=following-sibling::dd');
const names = (scope: Locator) => scope.locator('dt').allTextContents();
const shortened = (id: string) => `${id.slice(0, 4)}...${id.slice(-4)}`;
const INSTANT = /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d$/;

/** A signal that one user alone follows, filled. */
async function traded(operator: Operator) {
  const [token, processor] = [uniqueToken(), uniqueName('robot')];
  const settings = { positionSizingMethod: 'Portfolio Allocation', signalProcessor: processor } as const;
  const user = await operator.createUser({ settings, activeTrading: true });
  await (await operator.platform()).candle({ Symbol: `${token}USDT`, Close: '3000', ATR: '20' });
  const signal = await operator.postSignal({ symbol: `${token}USDT`, price: '3000', processor });
  expect(signal.successfulTrades).toBe(1);
  return { token, processor, user, signal, workflowId: signal.workflowId ?? '' };
}

const answered = async <Answer>(page: Page, path: string) =>
  (await (await page.request.get(path)).json()) as Answer;

// Requirements: signals-the-table-4, signals-the-table-6, signals-the-table-8, signals-the-table-11
// Requirements: signals-the-table-12, signals-the-table-13, trading-workflows-and-eligibility-5
test('fourteen columns stand in their order, and each cell shows what the signal has', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const { token, processor, signal } = await traded(operator);
  const untraded = await operator.postSignal({
    symbol: `${uniqueToken()}USDT`,
    action: 'sell',
    processor: uniqueName('robot'),
  });
  await signIn(page);
  await page.goto('/signals');
  const columns = [
    'ID',
    'Token',
    'Position',
    'Price',
    'SL/TP',
    'Timeframe',
    'Receive Time',
    'Processor',
    'Triggers',
    'Status',
    'Success',
    'Trades',
    'Users',
    'Actions',
  ];
  await expect(page.getByRole('columnheader')).toHaveText(columns);
  const cell = (ofToken: string, name: string) =>
    tableRow(page, 'Signal History', ofToken).getByRole('cell').nth(columns.indexOf(name));
  const levels = [signal.stopLoss, signal.takeProfit].map((level) => Number(level).toFixed(4)).join(' / ');
  for (const [name, shown] of [
    ['ID', shortened(signal.id)],
    ['Token', token],
    ['Position', 'Buy'],
    ['Price', '$3,000.00'],
    ['SL/TP', levels],
    ['Timeframe', '15m'],
    ['Receive Time', INSTANT],
    ['Processor', processor],
    ['Triggers', '1 , 0'],
    ['Status', 'Completed'],
    ['Success', '100%'],
    ['Trades', '1/1'],
    ['Users', '1/1'],
  ] as const) {
    await expect(cell(token, name), name).toHaveText(shown);
  }
  for (const [name, shown] of [
    ['Position', 'Sell'],
    ['SL/TP', '– / –'],
    ['Success', '–'],
    ['Trades', '0/0'],
    ['Users', '0/0'],
  ] as const) {
    await expect(cell(untraded.token, name), name).toHaveText(shown);
  }
  await cell(token, 'Status').getByRole('button').hover();
  await expect(page.getByRole('tooltip')).toHaveText('1/1 users processed');
  await expect(cell(token, 'Actions').getByRole('button', { name: /^Trigger/ })).toBeEnabled();
  await cell(token, 'Actions')
    .getByRole('link', { name: /^Calculator/ })
    .click();
  await expect(page).toHaveURL(`${server.url}/position-calculator?signalId=${signal.id}`);
  await expect(pageTitle(page, 'Position Calculator')).toBeVisible();
});

// Requirements: signals-the-table-10, trading-workflows-and-eligibility-3
// Requirements: trading-workflows-and-eligibility-5
test('the tooltip of a workflow that waits and of one that failed says so', async ({
  page,
  operator,
  signIn,
}) => {
  const { id, token } = await operator.postSignal({
    symbol: `${uniqueToken()}USDT`,
    processor: uniqueName('robot'),
  });
  await signIn(page);
  const tip = page.getByRole('tooltip');
  let shown: Pick<SignalsAnswer['signals'][number], 'workflowStatus' | 'workflowError'>;
  // The engine leaves no workflow in these states for long enough to look at it.
  await page.route('**/api/signals?*', async (route) => {
    const answer = (await (await route.fetch()).json()) as SignalsAnswer;
    const signals = answer.signals.map((one) => (one.id === id ? { ...one, ...shown } : one));
    await route.fulfill({ json: { ...answer, signals } });
  });
  for (const [workflowStatus, workflowError, text] of [
    ['pending', null, 'Waiting to start processing'],
    ['failed', 'The price service did not answer', 'Workflow failed: The price service did not answer'],
    ['failed', null, 'Workflow failed: Processing stopped due to critical error'],
  ] as const) {
    shown = { workflowStatus, workflowError };
    await page.goto(`/signals?token=${token}`);
    await tableRows(page, 'Signal History')
      .getByRole('button', { name: /workflow execution of signal/ })
      .hover();
    await expect(tip).toHaveText(text);
  }
  // A list may be on its way at this moment: the screen fetches it again when it hears of news.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

// Requirements: signals-the-table-1, trading-messages-3
test('the cards count all signals, those of today, and each side, and say when they cannot', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  await operator.postSignal({ symbol: `${uniqueToken()}USDT`, processor: uniqueName('robot') });
  const sell = { symbol: `${uniqueToken()}USDT`, processor: uniqueName('robot'), action: 'sell' };
  await operator.postSignal(sell);
  await signIn(page);
  const stats = await answered<SignalStats>(page, '/api/signals/stats');
  expect(stats.sellSignals).toBeGreaterThan(0);
  expect(stats.buySignals).toBe(stats.totalSignals - stats.sellSignals);
  await page.goto('/signals');
  for (const [name, count] of [
    ['Total Signals', stats.totalSignals],
    ["Today's Signals", stats.todaySignals],
    ['Buy Signals', stats.buySignals],
    ['Sell Signals', stats.sellSignals],
  ] as const) {
    await expect(value(page.getByRole('main'), name)).toHaveText(String(count));
  }

  expectFailure({ path: '/api/signals/stats', status: 'network' });
  await page.route('**/api/signals/stats', (route) => route.abort());
  await page.reload();
  const failed = page.getByRole('main').getByRole('alert');
  await expect(failed).toContainText('Failed to fetch stats');
  await expect(value(page.getByRole('main'), 'Sell Signals')).toHaveText('–');
  await page.unroute('**/api/signals/stats');
  await failed.getByRole('button', { name: 'Try again' }).click();
  await expect(value(page.getByRole('main'), 'Sell Signals')).toHaveText(String(stats.sellSignals));
});

// Requirements: signals-the-dialogs-1, signals-the-dialogs-2, trading-validation-18
test('the details of a signal and its stop levels have every field', async ({ page, operator, signIn }) => {
  const { token, processor, signal, user } = await traded(operator);
  await signIn(page);
  await page.goto(`/signals?dialog=signal&signal=${signal.id}`);
  const details = dialog(page, 'Signal Details');
  await expect(details).toContainText(signal.id);
  for (const [name, shown] of [
    ['Token', token],
    ['Action', 'Buy'],
    ['Price', '$3,000.00'],
    ['Currency', 'USDT'],
    ['Timeframe', '15m'],
    ['Processor', processor],
    ['Original Time', INSTANT],
    ['Candle Time', INSTANT],
    ['Received Time', INSTANT],
  ] as const) {
    await expect(value(details, name), name).toHaveText(shown);
  }
  await value(details, 'Original Time').locator('[data-tip]').hover();
  await expect(page.getByRole('tooltip')).toHaveText(signal.signalTimeTradingview ?? '');
  await expect(details.getByRole('region', { name: 'Parameters' })).toContainText('"alert"');

  const { sltpData } = await answered<StopLevelsAnswer>(page, `/api/signals/${signal.id}/sltp`);
  const [record] = sltpData;
  if (!record) throw new Error('nothing was calculated');
  expect(Number(record.riskPercentage)).toBeLessThan(1);
  await page.goto(`/signals?dialog=sltp&signal=${signal.id}`);
  const levels = dialog(page, 'SL/TP Calculation Details').getByRole('article');
  await expect(levels).toHaveCount(1);
  for (const text of [user.username, 'Portfolio Allocation', record.calculationReason]) {
    await expect(levels).toContainText(text);
  }
  for (const [name, shown] of [
    ['Entry Price', Number(record.entryPrice).toFixed(4)],
    ['Stop Loss', Number(record.stopLoss).toFixed(4)],
    ['Take Profit', Number(record.takeProfit).toFixed(4)],
    ['Leverage', `${record.leverage}x`],
    ['Risk %', `${(Number(record.riskPercentage) * 100).toFixed(2)}%`],
  ] as const) {
    await expect(value(levels, name), name).toHaveText(shown);
  }
  await expect(value(levels, 'Investment')).toHaveText(/^\$\d+\.\d\d$/);
  expect(await names(levels)).toHaveLength(6);
  await levels.getByText('Calculation Detail').click();
  await expect(levels).toContainText(record.calculationDetail.split('\n')[0] ?? '');
});

// Requirements: signals-the-dialogs-5
test('each workflow of a signal is listed by its trigger with id, status, start, users and reason', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const { signal } = await traded(operator);
  await operator.trigger(signal.id);
  await signIn(page);
  const path = `/api/signals/${signal.id}/workflows`;
  const { automaticWorkflows, manualWorkflows } = await answered<SignalWorkflows>(page, path);
  const ids = [...automaticWorkflows, ...manualWorkflows].map(({ workflowId }) => workflowId);
  expect(ids).toHaveLength(2);
  await page.goto(`/signals?dialog=workflows&signal=${signal.id}`);
  const workflows = dialog(page, 'Workflows for Signal');
  for (const title of ['Automatic Triggers (1)', 'Manual Triggers (1)']) {
    await expect(workflows.getByRole('heading', { name: title })).toBeVisible();
  }
  const items = workflows.getByRole('article');
  await expect(items).toHaveText(ids.map((id) => new RegExp(shortened(id).replaceAll('.', '\\.'))));
  const started = /Started (now|\d+ (seconds?|minutes?) ago) \(\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d\)/;
  for (const item of await items.all()) {
    await expect(item).toContainText('Completed');
    await expect(item).toContainText(started);
  }
  await expect(items.first()).toContainText('1 of 1 users successful');
  await expect(items.last()).toContainText(`Reason: Manual trigger by ${server.adminUsername}`);
});

// Requirements: signals-the-dialogs-7, workflow-monitor-13
test('each step has its number, name, status, duration, data, user, times and processor', async ({
  page,
  operator,
  signIn,
}) => {
  const { workflowId, signal, user } = await traded(operator);
  await signIn(page);
  const steps = await answered<WorkflowStep[]>(page, `/api/automation-workflows/${workflowId}/steps`);
  const order = steps.find(({ stepType }) => stepType === 'order_submission');
  for (const [address, title] of [
    [`/signals?dialog=steps&signal=${signal.id}&workflow=${workflowId}`, 'Workflow Execution Details'],
    [`/automation-workflows?dialog=steps&workflow=${workflowId}`, 'Workflow Execution Steps'],
  ] as const) {
    await page.goto(address);
    const shown = dialog(page, title);
    await shown.locator('summary').filter({ hasText: user.username }).click();
    const item = shown.getByRole('listitem').filter({ hasText: 'Submit Order' });
    for (const text of [
      String(order?.stepNumber),
      'Completed',
      `User: ${user.username}`,
      'Type: order_submission',
      `Processor: ${order?.processorName}`,
    ]) {
      await expect(item).toContainText(text);
    }
    await expect(item).toContainText(/\d(ms|s)/);
    for (const name of ['Started', 'Completed']) {
      await expect(item).toContainText(new RegExp(`${name}: \\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d`));
    }
    for (const name of ['Input data', 'Output data']) {
      await expect(item.getByRole('region', { name })).toBeHidden();
      await item.getByText(name).click();
      await expect(item.getByRole('region', { name })).toContainText('"');
    }
  }
});

// Requirements: workflow-monitor-1, workflow-monitor-2, workflow-monitor-4, trading-constants-1
test('the monitor opens with fifty rows on a page and the columns of a run, and takes its filters from the server', async ({
  page,
  operator,
  signIn,
}) => {
  const { token, processor, workflowId, signal } = await traded(operator);
  await signIn(page);
  const asked = page.waitForRequest(/\/api\/automation-workflows\?/);
  await page.goto('/automation-workflows');
  expect(new URL((await asked).url()).searchParams.get('limit')).toBe('50');
  await expect(page.getByLabel('Page size')).toHaveValue('50');
  const statuses = await answered<string[]>(page, '/api/automation-workflows/statuses');
  await expect(page.getByLabel('Status').locator('option')).toHaveCount(statuses.length + 1);
  await page.getByLabel('Processor').selectOption(processor);
  const columns = [
    'Workflow ID',
    'Signal ID',
    'Token',
    'Processor',
    'Trigger',
    'Status',
    'Created',
    'Completed',
    'Duration',
    'Steps',
    'Trades',
    'Eligible Users',
    'Failure Reason',
    'Actions',
  ];
  await expect(page.getByRole('columnheader')).toHaveText(columns);
  const row = tableRows(page, 'Workflow Runs');
  await expect(row).toHaveCount(1);
  await expect(row.getByRole('cell')).toHaveText([
    shortened(workflowId),
    shortened(signal.id),
    token,
    processor,
    'Automatic',
    'Completed',
    INSTANT,
    INSTANT,
    /^\d+(\.\d)?m?s$/,
    '10',
    '1/1',
    '1',
    '–',
    '',
  ]);
});
