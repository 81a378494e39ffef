// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { firstCases, oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import {
  type Answers,
  alertOf,
  dialog,
  eventually,
  expectGone,
  expectToast,
  failure,
  fill,
  findTitle,
  ids,
  isDisabled,
  PENDING,
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
const ELIGIBILITY = 'POST /api/signal/check-eligibility';
const [signal] = recorded[SIGNALS].signals;
const shortened = (id: string) => `${id.slice(0, 4)}...${id.slice(-4)}`;
const AGO = /^\d+ (s|min|h|d) ago$|^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d$/;
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
    const closing = {
      ...untraded,
      id: 'closing',
      action: 'close',
      outcome: { kind: 'partial', filled: 2, failed: 1, skipped: 1, topReason: 'The order was refused' },
    };
    // The calculator, which is opened at the end, may still ask for the balance.
    const balance = `GET /api/admin/account-balance/${recorded['GET /api/auth/user'].user.id}`;
    const app = renderApp('/signals', {
      [SIGNALS]: listOf({ ...signal }, untraded, closing),
      [balance]: PENDING,
    });
    await eventually(() => expect(rowsOf('Signal History')).toHaveLength(3));
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
    const [first, second, third] = rowsOf('Signal History');
    expectTexts(cells(first).slice(0, -1), [
      shortened(ids.signal),
      'ETH',
      'Buy',
      '$3,000.00',
      '2955.0000 / 3090.0000',
      '15m',
      AGO,
      'Tesla',
      '1 , 1',
      'Completed Filled 1/1',
      '100%',
      '2/2',
      '1/1',
    ]);
    const other = cells(second);
    expect([2, 4, 10, 11, 12].map((at) => other[at])).toEqual(['Sell', '– / –', '–', '0/0', '0/0']);
    // A signal that closes makes no trades: its closes stand there.
    expect([2, 10, 11, 12].map((at) => cells(third)[at])).toEqual(['Close', '67%', '2/3', '0/0']);
    await app.user.hover(scopeOf(first ?? document.body).getByRole('button', { name: /^Completed/ }));
    expect((await page().findByRole('tooltip')).textContent).toBe('1/1 users processed');
    await app.user.click(scopeOf(first ?? document.body).getByRole('link', { name: /^Calculator/ }));
    await findTitle('Position Calculator');
    expect(app.address()).toBe(`/position-calculator?signalId=${ids.signal}`);
  });

  // Requirements: signals-the-table-10, trading-workflows-and-eligibility-3
  // Requirements: trading-workflows-and-eligibility-5
  const statuses = [
    ['pending', null, 'Waiting to start processing'],
    ['processing', null, 'Currently processing users'],
    ['failed', 'The price service did not answer', 'Workflow failed: The price service did not answer'],
    ['failed', null, 'Workflow failed: Processing stopped due to critical error'],
    ['aborted', 'Auto-trading is disabled', 'Workflow aborted: Auto-trading is disabled'],
  ] as const;
  test.for(oneOfEachKind(statuses, ([status, error]) => status === 'failed' && error !== null))(
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
    renderApp('/signals?token=NOSUCHTOKEN', { [SIGNALS]: listOf() });
    await page().findByText('No signals found');
    page().getByText('Showing 0 of 0 signals');
    const [link = document.body] = page().getAllByRole('link', { name: 'Configuration' }).slice(-1);
    expect(link.getAttribute('href')).toBe('/configuration');
  });

  // Requirements: signals-the-table-9, trading-workflows-and-eligibility-4, trading-messages-4, additions-lists-4
  test('starts a workflow with a button, and reports its id or the failure', async () => {
    const app = renderApp('/signals', {
      [TRIGGER]: UNREACHABLE,
      [ELIGIBILITY]: { ...recorded[ELIGIBILITY], finalEligibleUsers: 3 },
      'GET /api/price-logs': {
        priceLogs: [{ ...recorded['GET /api/price-logs'].priceLogs[0], price: '2973' }],
        total: 1,
      },
    });
    const [button = document.body] = await page().findAllByRole('button', {
      name: /^Trigger the workflow of signal/,
    });
    await app.user.click(button);
    const question = await dialog('Trigger Workflow');
    await question.findByText('3 users');
    await question.findByText(
      /^The newest candle of ETH closed at \$2,973\.00, 0\.9 % below the signal's price of \$3,000\.00\.$/,
    );
    expect(question.element.textContent).toContain('Runs ETH Buy again for 3 users.');
    expect(app.sent(TRIGGER)).toEqual([]);
    const trigger = () => app.user.click(question.getByRole('button', { name: 'Trigger' }));
    await trigger();
    await expectToast('Failed to Trigger Workflow', 'Failed to trigger automation workflow');
    app.answers[TRIGGER] = failure(409, 'The system is processing other signals of ETH');
    await trigger();
    await expectToast('Failed to Trigger Workflow', 'The system is processing other signals of ETH');
    app.answers[TRIGGER] = { success: true, message: 'Started', workflowId: ids.workflow };
    await trigger();
    await expectToast('Workflow Triggered Successfully', `Workflow ${ids.workflow}`);
    expect(app.sent(TRIGGER).at(-1)?.body).toEqual({ signalId: ids.signal });
    await expectGone(() => page().queryByRole('dialog'));
  });
});

// Requirements: additions-lists-5, signals-the-table-2, signals-the-table-5
// Requirements: additions-finding-keys-and-columns-1
test('is sorted by its heads, filtered by outcome and searched by ID, all in the address', async () => {
  const app = renderApp('/signals?page=3', { [SIGNALS]: { ...listOf({ ...signal }), total: 250 } });
  const pager = scopeOf(await page().findByRole('navigation', { name: 'Pagination' }));
  await pager.findByText('Page 3 of 3');
  const isAtTheEnd = (name: string) => isDisabled(pager.getByRole('button', { name }));
  expect(['Previous', 'Next'].map(isAtTheEnd)).toEqual([false, true]);
  const head = (name: string) => page().getByRole('columnheader', { name });
  const token = await page().findByRole('button', { name: 'Token' });
  expect(['Receive Time', 'Token', 'Status'].map((name) => head(name).getAttribute('aria-sort'))).toEqual([
    'descending',
    'none',
    'none',
  ]);
  expect(head('Price').hasAttribute('aria-sort')).toBe(false);
  await app.user.click(token);
  await eventually(() => expect(app.address()).toBe('/signals?sort=token&order=asc'));
  await eventually(() => expect(head('Token').getAttribute('aria-sort')).toBe('ascending'));
  expect(app.sent(SIGNALS).at(-1)?.query).toMatchObject({ sort: 'token', order: 'asc', page: '1' });
  await app.user.click(token);
  await eventually(() => expect(app.address()).toBe('/signals?sort=token&order=desc'));
  await app.user.selectOptions(page().getByLabelText('Outcome'), 'Not filled');
  await eventually(() => expect(app.sent(SIGNALS).at(-1)?.query.outcome).toBe('not_filled'));
  await app.user.click(page().getByRole('button', { name: 'Receive Time' }));
  await eventually(() => expect(app.address()).toBe('/signals?outcome=not_filled'));
  const search = page().getByLabelText('Search by ID');
  fill(search, 'abc');
  await app.user.type(search, '{Enter}');
  await page().findByText('Enter an ID or at least its first 8 characters');
  fill(search, '0190ABCD-1234');
  await app.user.type(search, '{Enter}');
  await eventually(() => expect(app.address()).toContain('id=0190abcd-1234'));
  await eventually(() => expect(app.sent(SIGNALS).at(-1)?.query.id).toBe('0190abcd-1234'));
  await app.user.click(page().getByRole('button', { name: 'Clear Filters' }));
  await eventually(() => expect(app.address()).toBe('/signals'));
});

// Requirements: additions-lists-6
test('says how long ago, with the time and its zone as a tooltip, and names the zone once', async () => {
  const receivedAt = new Date(Date.now() - 200_000).toISOString();
  renderApp('/signals', { [SIGNALS]: listOf({ ...signal, receivedAt }) });
  const ago = await page().findByText('3 min ago');
  const zone = recorded['GET /api/auth/user'].displayTimezone;
  const tip = ago.getAttribute('data-tip') ?? '';
  expect(tip.endsWith(` ${zone}`)).toBe(true);
  expect(tip.slice(0, -zone.length - 1)).toMatch(INSTANT);
  expect(page().getByText(`${zone}, newest first`)).toBeTruthy();
});

// Requirements: additions-lists-6
test('shows all digits of small prices and levels, and timeframes by length', async () => {
  const small = { price: '0.00001231', stopLoss: '0.00001220', takeProfit: '0.0000124' };
  renderApp('/signals', {
    [SIGNALS]: listOf({ ...signal, ...small }),
    'GET /api/signals/timeframes': ['15', '1h', '240', '5', '60', 'D'],
  });
  await eventually(() => expect(rowsOf('Signal History')).toHaveLength(1));
  const shown = cells(rowsOf('Signal History')[0]);
  expect([shown[3], shown[4]]).toEqual(['$0.00001231', '0.0000122 / 0.0000124']);
  await page().findByRole('option', { name: '1h' });
  const options = [...page().getByLabelText('Timeframe').querySelectorAll('option')];
  expect(options.map(({ textContent }) => textContent)).toEqual([
    'All timeframes',
    '5m',
    '15m',
    '1h',
    '240m',
    'D',
  ]);
});

describe('on a phone', () => {
  const PHONE = { widthPx: 390 };
  const skipped = {
    ...signal,
    id: 'skipped',
    token: 'SOL',
    outcome: { kind: 'skipped', filled: 0, failed: 0, skipped: 3, topReason: 'ATR is required' },
  };
  const cards = async () => {
    const list = await page().findByRole('list', { name: 'Signal History' });
    return [...list.querySelectorAll('li')].map((card) => card.textContent);
  };

  // Requirements: additions-lists-7
  testEveryCase('each signal is a card of two lines that opens its panel', async () => {
    const app = renderApp('/signals', { [SIGNALS]: listOf({ ...signal }, skipped) }, PHONE);
    const [card = document.body] = await page().findAllByRole('button', { name: /panel of signal/ });
    const shown = await cards();
    expect(shown[0]).toMatch(/ETH Buy \$3,000\.00Filled 1\/1Tesla 15m, /);
    expect(shown[1]).toMatch(/SOL Buy .*Skipped 3.*ATR is required$/);
    expect(page().queryByRole('table')).toBe(null);
    await app.user.click(card);
    await page().findByRole('dialog', { name: /^ETH Buy/ });
    expect(app.address()).toBe(`/signals?panel=outcome&signal=${ids.signal}`);
  });

  // Requirements: additions-lists-7
  test('the order is chosen from a list, and an empty list says so', async () => {
    const app = renderApp('/signals', { [SIGNALS]: listOf() }, PHONE);
    await page().findByText('No signals found');
    await app.user.selectOptions(page().getByLabelText('Order'), 'By token');
    await eventually(() => expect(app.address()).toBe('/signals?sort=token&order=asc'));
    await app.user.selectOptions(page().getByLabelText('Order'), 'Newest first');
    await eventually(() => expect(app.address()).toBe('/signals'));
  });
});

testEveryCase(
  'the question before a trigger says that nobody is eligible, and leaves out a price that is not known',
  async () => {
    const app = renderApp('/signals', {
      [ELIGIBILITY]: { ...recorded[ELIGIBILITY], finalEligibleUsers: 0 },
      'GET /api/price-logs': { priceLogs: [], total: 0 },
    });
    const [button = document.body] = await page().findAllByRole('button', {
      name: /^Trigger the workflow of signal/,
    });
    await app.user.click(button);
    const question = await dialog('Trigger Workflow');
    await question.findByText('nobody: no user is eligible now');
    expect(question.element.textContent).not.toContain('The newest candle');
    await app.user.click(question.getByRole('button', { name: 'Cancel' }));
    await expectGone(() => page().queryByRole('dialog'));
    expect(app.sent(TRIGGER)).toEqual([]);
  },
);

describe('the side panel of a signal', () => {
  const second = { ...signal, id: 'second', token: 'SOL', action: 'sell' };
  const answers = (): Answers => ({
    [SIGNALS]: listOf({ ...signal }, second),
    'GET /api/signals/second': {
      ...((recorded as Answers)[`GET /api/signals/${ids.signal}`] as object),
      ...second,
    },
    'GET /api/signals/second/users': [],
    'GET /api/signals/second/chart': PENDING,
    'GET /api/signals/second/sltp': { hasData: false, sltpData: [] },
  });
  const panel = async (name: RegExp) => scopeOf(await page().findByRole('complementary', { name }));
  const open = async (path = '/signals', more: Answers = {}) => {
    const app = renderApp(path, { ...answers(), ...more });
    await eventually(() => expect(rowsOf('Signal History')).toHaveLength(2));
    return app;
  };

  // Requirements: additions-panel-1
  test('opens beside the list from a row, and says what became of each user first', async () => {
    const app = await open();
    const [row = document.body] = rowsOf('Signal History');
    await app.user.click(row.querySelectorAll('td')[3] ?? row);
    const side = await panel(/^ETH Buy, \d\d:\d\d:\d\d$/);
    expect(app.address()).toBe(`/signals?panel=outcome&signal=${ids.signal}`);
    expect(side.element.textContent).toContain(shortened(ids.signal));
    await side.findByText('What became of each user');
    await side.findByText('Filled');
    expect(side.getByRole('tab', { name: 'Outcome' }).getAttribute('aria-selected')).toBe('true');
    expect(row.hasAttribute('data-selected')).toBe(true);
    expect(side.element.textContent).toContain('Completed Filled 1/1');
    await app.user.click(side.getByRole('button', { name: 'Close panel' }));
    await expectGone(() => page().queryByRole('complementary'));
    expect(app.address()).toBe('/signals');
  });

  // Requirements: additions-panel-2
  test('is walked with J and K, closed with Esc, and restored from its address', async () => {
    const app = await open();
    await app.user.keyboard('j');
    await panel(/^ETH Buy/);
    await app.user.keyboard('k');
    await panel(/^ETH Buy/);
    await app.user.keyboard('j');
    const side = await panel(/^SOL Sell/);
    expect(app.address()).toBe('/signals?panel=outcome&signal=second');
    expect(isDisabled(side.getByRole('button', { name: 'Next signal' }))).toBe(true);
    await app.user.click(side.getByRole('tab', { name: 'Sizing' }));
    await side.findByText('No SL/TP calculation data available for this signal');
    app.reload();
    await (await panel(/^SOL Sell/)).findByText('No SL/TP calculation data available for this signal');
    expect(app.address()).toBe('/signals?panel=sizing&signal=second');
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('complementary'));
    expect(app.address()).toBe('/signals');
  });

  // Requirements: additions-panel-3
  const sections = [
    [/SL\/TP calculation/, 'sizing'],
    [/details of the signal/, 'raw'],
    [/workflows of signal/, 'runs'],
    [/users of signal/, 'why'],
    [/trades of signal/, 'outcome'],
  ] as const;
  test.for(firstCases(sections))(
    'shows the section of a cell %s that is clicked while it is open',
    async ([name, section]) => {
      const app = await open(`/signals?panel=outcome&signal=second`);
      const [cell = document.body] = page().getAllByRole('button', { name });
      await app.user.click(cell);
      await panel(/^ETH Buy/);
      expect(app.address()).toBe(`/signals?panel=${section}&signal=${ids.signal}`);
      expect(page().queryByRole('dialog')).toBe(null);
    },
  );

  // Requirements: additions-panel-1
  testEveryCase('keeps its signal when a dialog over it closes, and asks before a trigger', async () => {
    const app = await open(`/signals?panel=runs&signal=${ids.signal}`, {
      [ELIGIBILITY]: { ...recorded[ELIGIBILITY], finalEligibleUsers: 3 },
    });
    const side = await panel(/^ETH Buy/);
    const steps = await side.findAllByRole('button', { name: /^Steps of workflow/ });
    await app.user.click(steps.at(-1) ?? document.body);
    const shown = await dialog('Workflow Execution Details');
    await app.user.click(shown.getByRole('button', { name: 'Close dialog' }));
    await expectGone(() => page().queryByRole('dialog'));
    expect(app.address()).toBe(`/signals?panel=runs&signal=${ids.signal}`);
    await app.user.click(side.getByRole('button', { name: 'Trigger again…' }));
    await (await dialog('Trigger Workflow')).findByText('3 users');
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('dialog'));
    await panel(/^ETH Buy/);
  });

  // Requirements: additions-panel-1
  testEveryCase('is a drawer over the list where it does not fit beside it', async () => {
    const app = renderApp(`/signals?panel=outcome&signal=${ids.signal}`, answers(), { widthPx: 1100 });
    const drawer = scopeOf(await page().findByRole('dialog', { name: /^ETH Buy/ }));
    await drawer.findByText('What became of each user');
    await app.user.keyboard('j');
    await page().findByRole('dialog', { name: /^SOL Sell/ });
    await app.user.keyboard('{Escape}');
    await expectGone(() => page().queryByRole('dialog'));
    expect(app.address()).toBe('/signals');
  });

  // Requirements: additions-panel-1
  testEveryCase('says that the signal cannot be fetched', async () => {
    await open('/signals?panel=raw&signal=gone', {
      'GET /api/signals/gone': failure(404, 'Signal not found'),
    });
    const side = await panel(/^Signal$/);
    await side.findByText('Failed to fetch signal');
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

  // Requirements: signals-the-dialogs-4, signals-the-dialogs-6, signals-the-dialogs-8
  test('say when there is nothing to show', async () => {
    for (const [name, title, text] of [
      ['sltp', 'SL/TP Calculation Details', 'No SL/TP calculation data available for this signal'],
      ['workflows', 'Workflows for Signal', 'No workflows found for this signal.'],
      ['steps', 'Workflow Execution Details', 'No workflow steps found'],
    ] as const) {
      const { shown } = await open(name, title, {
        [`GET /api/signals/${ids.signal}/sltp`]: { hasData: false, sltpData: [] },
        [`GET /api/signals/${ids.signal}/workflows`]: { automaticWorkflows: [], manualWorkflows: [] },
        [`GET /api/automation-workflows/${ids.workflow}/steps`]: [],
      });
      await shown.findByText(text);
    }
  });

  const parts = [
    ['signal', ''],
    ['signal', '/chart'],
    ['sltp', '/sltp'],
    ['workflows', '/workflows'],
    ['trades', '/trades'],
    ['users', '/users'],
  ] as const;
  test.for(firstCases(parts))(
    'report that %s%s cannot be fetched, and fetch it on the next try',
    async ([name, part]) => {
      const call = `GET /api/signals/${ids.signal}${part}`;
      const app = renderApp(`/signals?dialog=${name}&signal=${ids.signal}`, { [call]: UNREACHABLE });
      const opened = scopeOf(await page().findByRole('dialog'));
      const retry = await opened.findByRole('button', { name: 'Try again' });
      delete app.answers[call];
      await app.user.click(retry);
      await expectGone(() => opened.queryByRole('button', { name: 'Try again' }));
    },
  );
});

// Requirements: workflow-monitor-1, workflow-monitor-2, workflow-monitor-4, trading-constants-1
test('opens the monitor with fifty rows per page and all columns, and takes its filters from the server', async () => {
  const RUNS = 'GET /api/automation-workflows';
  const [run] = recorded[RUNS].workflows;
  const closed = { kind: 'partial', filled: 2, failed: 1, skipped: 0, topReason: 'The order was refused' };
  const closing = {
    ...run,
    id: 'closing',
    workflowId: 'closing',
    action: 'close',
    tradeCount: 0,
    successfulTrades: 0,
    outcome: closed,
  };
  const app = renderApp('/automation-workflows', {
    [RUNS]: { ...recorded[RUNS], workflows: [run, closing], total: 2 },
  });
  await eventually(() => expect(rowsOf('Workflow Runs')).toHaveLength(2));
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
    'Completed Filled 1/1',
    AGO,
    AGO,
    /^\d+(\.\d)?m?s$/,
    '10',
    '1/1',
    '1',
    '–',
    '',
  ]);
  // A workflow that closes makes no trades: its closes stand there.
  expect(cells(rowsOf('Workflow Runs')[1])[10]).toBe('2/3');
});
