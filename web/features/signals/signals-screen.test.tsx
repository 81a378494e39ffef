// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import {
  type Answers,
  alertOf,
  dialog,
  eventually,
  expectGone,
  expectToast,
  failure,
  findTitle,
  ids,
  page,
  recorded,
  renderApp,
  rowsOf,
  type Scope,
  scopeOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const SIGNALS = 'GET /api/signals';
const STATS = 'GET /api/signals/stats';
const TRIGGER = 'POST /api/trigger-automation';
const [signal] = recorded[SIGNALS].signals;
const shortened = (id: string) => `${id.slice(0, 4)}...${id.slice(-4)}`;
const INSTANT = /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d$/;
const listOf = (...signals: object[]) => ({ ...recorded[SIGNALS], signals, total: signals.length });
const value = (scope: Scope, name: string) => scope.getByText(name).nextElementSibling;
const cells = (row: HTMLElement | undefined) =>
  [...(row?.querySelectorAll('td') ?? [])].map((cell) => cell.textContent);
const expectTexts = (texts: (string | null)[], expected: readonly (string | RegExp)[]) => {
  expect(texts).toHaveLength(expected.length);
  for (const [at, text] of expected.entries()) {
    if (typeof text === 'string') expect(texts[at]).toBe(text);
    else expect(texts[at]).toMatch(text);
  }
};

describe('the table of signals', () => {
  // Requirements: signals-the-table-4, signals-the-table-6, signals-the-table-8, signals-the-table-11
  // Requirements: signals-the-table-12, signals-the-table-13, trading-workflows-and-eligibility-5
  test("has fourteen columns in order, and each cell shows the signal's value", async () => {
    const untraded = {
      ...signal,
      id: 'untraded',
      action: 'sell',
      stopLoss: null,
      takeProfit: null,
      eligibleUsersCount: 0,
      successfulUsersCount: 0,
      totalTrades: 0,
      successfulTrades: 0,
    };
    const app = renderApp('/signals', { [SIGNALS]: listOf({ ...signal }, untraded) });
    await eventually(() => expect(rowsOf('Signal History')).toHaveLength(2));
    expect(
      page()
        .getAllByRole('columnheader')
        .map((header) => header.textContent),
    ).toEqual([
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
    ]);
    const [first, second] = rowsOf('Signal History');
    expectTexts(cells(first).slice(0, -1), [
      shortened(ids.signal),
      'ETH',
      'Buy',
      '$3,000.00',
      '2955.0000 / 3090.0000',
      '15m',
      INSTANT,
      'Tesla',
      '1 , 1',
      'Completed',
      '100%',
      '2/2',
      '1/1',
    ]);
    const other = cells(second);
    expect([2, 4, 10, 11, 12].map((at) => other[at])).toEqual(['Sell', '– / –', '–', '0/0', '0/0']);
    await app.user.hover(scopeOf(first ?? document.body).getByRole('button', { name: /^Completed/ }));
    expect((await page().findByRole('tooltip')).textContent).toBe('1/1 users processed');
    await app.user.click(scopeOf(first ?? document.body).getByRole('link', { name: /^Calculator/ }));
    await findTitle('Position Calculator');
    expect(app.address()).toBe(`/position-calculator?signalId=${ids.signal}`);
  });

  // Requirements: signals-the-table-10, trading-workflows-and-eligibility-3
  // Requirements: trading-workflows-and-eligibility-5
  test.for([
    ['pending', null, 'Waiting to start processing'],
    ['processing', null, 'Currently processing users'],
    ['failed', 'The price service did not answer', 'Workflow failed: The price service did not answer'],
    ['failed', null, 'Workflow failed: Processing stopped due to critical error'],
    ['aborted', 'Auto-trading is disabled', 'Workflow aborted: Auto-trading is disabled'],
  ] as const)(
    'explains a workflow that is %s (%s) in a tooltip',
    async ([workflowStatus, workflowError, text]) => {
      renderApp('/signals', { [SIGNALS]: listOf({ ...signal, workflowStatus, workflowError }) });
      const status = await page().findByRole('button', { name: /workflow execution of signal/ });
      expect(status.closest('[data-tip]')?.getAttribute('data-tip')).toBe(text);
    },
  );

  // Requirements: signals-the-table-1, trading-messages-3
  test("is below cards that count all signals, today's and each side, and report a failed fetch", async () => {
    const stats = { ...recorded[STATS], totalSignals: 7, todaySignals: 5, buySignals: 4, sellSignals: 3 };
    const app = renderApp('/signals', { [STATS]: UNREACHABLE });
    const failed = await alertOf('Failed to fetch stats');
    const count = (name: string) => page().getByText(name).nextElementSibling?.textContent;
    expect(count('Sell Signals')).toBe('–');
    app.answers[STATS] = stats;
    await app.user.click(failed.getByRole('button', { name: 'Try again' }));
    await eventually(() => expect(count('Sell Signals')).toBe('3'));
    expect(['Total Signals', "Today's Signals", 'Buy Signals'].map(count)).toEqual(['7', '5', '4']);
  });

  // Requirements: signals-the-table-3
  test('says that nothing matches, and links to the configuration', async () => {
    const app = renderApp('/signals?token=NOSUCHTOKEN', { [SIGNALS]: listOf() });
    await page().findByText('No signals found');
    page().getByText('Showing 0 of 0 signals');
    const [link = document.body] = page().getAllByRole('link', { name: 'Configuration' }).slice(-1);
    await app.user.click(link);
    await findTitle('Webhook Configuration');
  });

  // Requirements: signals-the-table-9, trading-workflows-and-eligibility-4, trading-messages-4
  test('starts a workflow with a button, and reports its id or the failure', async () => {
    const app = renderApp('/signals', { [TRIGGER]: UNREACHABLE });
    const trigger = async () =>
      await app.user.click(
        (await page().findAllByRole('button', { name: /^Trigger the workflow of signal/ }))[0] ??
          document.body,
      );
    await trigger();
    await expectToast('Failed to Trigger Workflow', 'Failed to trigger automation workflow');
    app.answers[TRIGGER] = failure(409, 'The system is processing other signals of ETH');
    await trigger();
    await expectToast('Failed to Trigger Workflow', 'The system is processing other signals of ETH');
    app.answers[TRIGGER] = { success: true, message: 'Started', workflowId: ids.workflow };
    await trigger();
    await expectToast('Workflow Triggered Successfully', `Workflow ${ids.workflow}`);
    expect(app.sent(TRIGGER).at(-1)?.body).toEqual({ signalId: ids.signal });
  });
});

describe('the dialogs of a signal', () => {
  const open = async (name: string, title: string, answers: Answers = {}) => {
    const app = renderApp(`/signals?dialog=${name}&signal=${ids.signal}&workflow=${ids.workflow}`, answers);
    return { app, shown: await dialog(title) };
  };

  // Requirements: signals-the-dialogs-1, signals-the-dialogs-2, trading-validation-18
  test('show every field of the signal and of its stop levels', async () => {
    const { app, shown } = await open('signal', 'Signal Details');
    await shown.findByText('Original Time');
    expect(shown.element.textContent).toContain(ids.signal);
    for (const [name, text] of [
      ['Token', /^ETH$/],
      ['Action', /^Buy$/],
      ['Price', /^\$3,000\.00$/],
      ['Currency', /^USDT$/],
      ['Timeframe', /^15m$/],
      ['Processor', /^Tesla$/],
      ['Original Time', INSTANT],
      ['Candle Time', INSTANT],
      ['Received Time', INSTANT],
    ] as const) {
      expect(value(shown, name)?.textContent, name).toMatch(text);
    }
    await app.user.hover(value(shown, 'Original Time')?.querySelector('[data-tip]') ?? document.body);
    expect((await page().findByRole('tooltip')).textContent).toBe(signal?.signalTimeTradingview);
    expect(shown.getByRole('region', { name: 'Parameters' }).textContent).toContain('"note": "by hand"');

    const levels = await open('sltp', 'SL/TP Calculation Details');
    const article = scopeOf((await levels.shown.findAllByRole('article'))[0] ?? document.body);
    for (const text of [
      'follower@example.com',
      'Risk Management',
      'Buy 22.6 ETH at 3000.9000 with leverage 10',
    ]) {
      expect(article.element.textContent).toContain(text);
    }
    for (const [name, text] of [
      ['Entry Price', '3000.9000'],
      ['Stop Loss', '2955.0000'],
      ['Take Profit', '3090.0000'],
      ['Leverage', '10x'],
      ['Risk %', '5.00%'],
      ['Investment', '$6782.03'],
    ] as const) {
      expect(value(article, name)?.textContent?.replace(',', ''), name).toBe(text);
    }
    expect(article.element.querySelectorAll('dt')).toHaveLength(6);
    expect(article.element.textContent).toContain('Signal: buy ETH at 3000.0000, live price 3000.0000');
  });

  // Requirements: signals-the-dialogs-5
  test('list each workflow by trigger, with id, status, start, users and reason', async () => {
    const { shown } = await open('workflows', 'Workflows for Signal');
    for (const name of ['Automatic Triggers (1)', 'Manual Triggers (1)'])
      await shown.findByRole('heading', { name });
    const [automatic, manual] = shown.getAllByRole('article').map((article) => article.textContent);
    for (const item of [automatic, manual]) {
      expect(item).toMatch(/Started .* \(\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d\)/);
    }
    expect(automatic).toContain('Aborted');
    for (const text of [
      shortened(ids.workflow),
      'Completed',
      '1 of 1 users successful',
      'Reason: Manual trigger by admin@example.com',
    ]) {
      expect(manual).toContain(text);
    }
  });

  // Requirements: signals-the-dialogs-7, workflow-monitor-13
  test('show each step with number, name, status, duration, data, user, times and processor', async () => {
    const steps = recorded['GET /api/automation-workflows/01a20be8-1d11-7010-ba45-87d1eddf73f3/steps'];
    const [step] = steps;
    const order = {
      ...step,
      id: 'order',
      stepNumber: 10,
      stepName: 'Submit Order',
      stepType: 'order_submission',
      userId: ids.follower,
      executionTimeMs: 1554,
    };
    const answers = { [`GET /api/automation-workflows/${ids.workflow}/steps`]: [...steps, order] };
    for (const [path, title] of [
      [`/signals?dialog=steps&signal=${ids.signal}&workflow=${ids.workflow}`, 'Workflow Execution Details'],
      [`/automation-workflows?dialog=steps&workflow=${ids.workflow}`, 'Workflow Execution Steps'],
    ] as const) {
      renderApp(path, answers);
      const shown = await dialog(title);
      const item = (await shown.findByText('Submit Order')).closest('li')?.textContent;
      for (const text of [
        '10',
        'Completed',
        'User: follower@example.com',
        'Type: order_submission',
        `Processor: ${step?.processorName}`,
        'Input data',
        'Output data',
      ]) {
        expect(item).toContain(text);
      }
      expect(item).toMatch(/\d(ms|s)/);
      for (const name of ['Started', 'Completed']) {
        expect(item).toMatch(new RegExp(`${name}: \\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d`));
      }
    }
  });

  test.for([
    ['signal', ''],
    ['signal', '/chart'],
    ['sltp', '/sltp'],
    ['workflows', '/workflows'],
    ['trades', '/trades'],
    ['users', '/users'],
  ] as const)('report that %s%s cannot be fetched, and fetch it on the next try', async ([name, part]) => {
    const call = `GET /api/signals/${ids.signal}${part}`;
    const app = renderApp(`/signals?dialog=${name}&signal=${ids.signal}`, { [call]: UNREACHABLE });
    const opened = scopeOf(await page().findByRole('dialog'));
    const retry = await opened.findByRole('button', { name: 'Try again' });
    delete app.answers[call];
    await app.user.click(retry);
    await expectGone(() => opened.queryByRole('button', { name: 'Try again' }));
  });
});

// Requirements: workflow-monitor-1, workflow-monitor-2, workflow-monitor-4, trading-constants-1
test('opens the monitor with fifty rows per page and all columns, and takes its filters from the server', async () => {
  const RUNS = 'GET /api/automation-workflows';
  const [run] = recorded[RUNS].workflows;
  const app = renderApp('/automation-workflows', {
    [RUNS]: { ...recorded[RUNS], workflows: [run], total: 1 },
  });
  await eventually(() => expect(rowsOf('Workflow Runs')).toHaveLength(1));
  expect(app.sent(RUNS)[0]?.query.limit).toBe('50');
  expect((page().getByLabelText('Page size') as HTMLSelectElement).value).toBe('50');
  const statuses = recorded['GET /api/automation-workflows/statuses'];
  await eventually(() =>
    expect(page().getByLabelText('Status').querySelectorAll('option')).toHaveLength(statuses.length + 1),
  );
  expect(
    page()
      .getAllByRole('columnheader')
      .map((header) => header.textContent),
  ).toEqual([
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
  ]);
  expectTexts(cells(rowsOf('Workflow Runs')[0]), [
    shortened(ids.workflow),
    shortened(ids.signal),
    'ETH',
    'Tesla',
    'Manual',
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
