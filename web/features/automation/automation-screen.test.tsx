// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { firstCases, oneOfEachKind } from '#test/app/in-turn.ts';
import {
  alertOf,
  alerts,
  type Call,
  dialog,
  eventually,
  expectGone,
  failure,
  ids,
  isDisabled,
  page,
  recorded,
  renderApp,
  rowsOf,
  savedFiles,
  scopeOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const RUNS = 'GET /api/automation-workflows';
const RETRY = `POST /api/automation/trigger/${ids.signal}`;
const [run] = recorded[RUNS].workflows;
const rows = () => rowsOf('Workflow Runs');
const answerOf = (...workflows: object[]) => ({ ...recorded[RUNS], workflows, total: workflows.length });
const failed = { ...run, status: 'failed', successfulTrades: 0, errorMessage: 'It broke' };

// Requirements: workflow-monitor-1, workflow-monitor-2, workflow-monitor-16, trading-constants-1
test('keeps filters in the URL, and returns to page 1 when a filter or the page size changes', async () => {
  const pages = (call: Call) => ({ ...answerOf({ ...run }), total: call.query.status ? 0 : 26 });
  const app = renderApp('/automation-workflows', { [RUNS]: pages });
  await page().findByRole('option', { name: 'Tesla' });
  await app.user.selectOptions(page().getByLabelText('Processor'), 'Tesla');
  await page().findByRole('option', { name: 'Completed' });
  await eventually(() => expect(app.address()).toBe('/automation-workflows?processor=Tesla'));
  const size = page().getByLabelText('Page size');
  expect([...size.querySelectorAll('option')].map((option) => option.textContent)).toEqual([
    '25 per page',
    '50 per page',
    '100 per page',
  ]);
  await app.user.selectOptions(size, '25 per page');
  const pager = scopeOf(await page().findByRole('navigation', { name: 'Pagination' }));
  await eventually(() => expect(pager.element.textContent).toContain('Page 1 of 2'));
  await app.user.click(pager.getByRole('button', { name: 'Next' }));
  await eventually(() => expect(app.address()).toContain('page=2'));
  app.answers[RUNS] = (call: Call) => (call.query.status ? answerOf() : pages(call));
  await app.user.selectOptions(page().getByLabelText('Status'), 'Completed');
  await page().findByText('No automation workflows found');
  expect(app.address()).not.toContain('page=');
  expect(app.sent(RUNS).at(-1)?.query).toMatchObject({
    processor: 'Tesla',
    status: 'completed',
    limit: '25',
  });
});

// Requirements: workflow-monitor-1
test('counts trades, and for a signal that leaves its closes, failed ones too', async () => {
  const outcome = { kind: 'not_filled', filled: 0, failed: 2, skipped: 0, topReason: 'The close failed' };
  const none = { ...run, tradeCount: 0, successfulTrades: 0, outcome };
  renderApp('/automation-workflows', {
    [RUNS]: answerOf(
      { ...none, id: 'a', workflowId: 'a', action: 'close' },
      { ...none, id: 'b', workflowId: 'b', action: 'buy' },
    ),
  });
  await eventually(() => expect(rows()).toHaveLength(2));
  const heads = page()
    .getAllByRole('columnheader')
    .map(({ textContent }) => textContent);
  const trades = rows().map((row) => row.querySelectorAll('td')[heads.indexOf('Trades')]?.textContent);
  expect(trades).toEqual(['0/2', '0/0']);
});

// Requirements: trading-messages-7
test('reports the outcome of a retry in a browser alert', async () => {
  const app = renderApp('/automation-workflows', {
    [RUNS]: answerOf(failed),
    [RETRY]: failure(409, 'Already traded'),
  });
  const retry = await page().findByRole('button', { name: /^Retry workflow/ });
  await app.user.click(retry);
  await eventually(() => expect(alerts).toEqual(['Failed to trigger workflow retry']));
  app.answers[RETRY] = UNREACHABLE;
  await app.user.click(retry);
  await eventually(() => expect(alerts.at(-1)).toBe('Error triggering workflow retry'));
  app.answers[RETRY] = { success: true };
  await app.user.click(retry);
  await eventually(() => expect(alerts.at(-1)).toBe('Workflow retry triggered successfully'));
});

// Requirements: signals-the-table-14, trading-roles-2
test('offers no retry and no manual trigger in a production deployment', async () => {
  const status = { ...recorded['GET /api/environment/status'], isProduction: true, isDeployment: true };
  const answers = {
    [RUNS]: answerOf(failed),
    'GET /api/environment/status': { ...status, environment: 'production' },
  };
  for (const [path, name] of [
    ['/automation-workflows', /^Retry workflow/],
    ['/signals', /^Trigger the workflow of signal/],
  ] as const) {
    const app = renderApp(path, answers);
    const button = (await page().findAllByRole('button', { name }))[0] ?? document.body;
    await eventually(() => expect(isDisabled(button)).toBe(true));
    await app.user.hover(button.closest('[data-tip]') ?? button);
    expect((await page().findByRole('tooltip')).textContent).toBe('Manual triggers disabled in production');
  }
});

// Requirements: workflow-monitor-7, workflow-monitor-8
test('shows a short reason for each kind of failure, and the whole story in the tooltip', async () => {
  const explanation = 'The exchange did not answer at all within the ten seconds that it is given';
  const details = (failureType: string) => ({
    failureType,
    userFriendlyExplanation: explanation,
    suggestedAction: 'Wait a while',
  });
  const cases = [
    ['Slot taken', details('CONCURRENCY_CONFLICT'), 'System Busy'],
    ['It broke', details('PROCESSING_ERROR'), 'Processing Failed'],
    ['No answer', details('TIMEOUT'), explanation.slice(0, 50)],
    ['The system is processing other signals of BTC', null, 'System Busy'],
    ['Signal validation failed: no price', null, 'Invalid Signal'],
    ['Auto-trading is disabled here', null, 'Trading Disabled'],
    ['Something that nobody has thought of before', null, 'Something that nobody has thou'],
    ['Old record', '{not json', 'Old record'],
  ] as const;
  const runs = cases.map(([errorMessage, errorDetails], at) => ({
    ...failed,
    id: `run-${at}`,
    workflowId: `run-${at}`,
    errorMessage,
    errorDetails,
  }));
  renderApp('/automation-workflows', { [RUNS]: answerOf(...runs) });
  await eventually(() => expect(rows()).toHaveLength(cases.length));
  for (const [at, [message, details, shows]] of cases.entries()) {
    const reason = rows()[at]?.querySelector('[data-tip][tabindex="0"]');
    expect(reason?.textContent).toBe(shows);
    const tip = reason?.getAttribute('data-tip');
    expect(tip).toContain(message);
    if (details === '{not json') expect(tip).toContain('Technical details: {not json');
    else if (details) {
      for (const text of [
        'Failure type: ',
        `Explanation: ${explanation}`,
        'Suggested action: Wait a while',
      ]) {
        expect(tip).toContain(text);
      }
    }
  }
  expect(page().getAllByRole('button', { name: /^Retry workflow/ })).toHaveLength(cases.length);
});

// Requirements: workflow-monitor-5, workflow-monitor-6, workflow-monitor-10
// Requirements: trading-workflows-and-eligibility-2
test('shortens ids, shows durations with their unit, and shows an unknown status as received', async () => {
  const durations = [
    [999, '999ms'],
    [12_300, '12.3s'],
    [300_000, '5.0m'],
    [9_000_000, '2.5h'],
  ] as const;
  const start = Date.parse('2026-01-02T03:04:05.000Z');
  const runs = durations.map(([lengthMs], at) => ({
    ...run,
    id: `run-${at}`,
    workflowId: `0123-${at}-6789`,
    status: 'on hold',
    createdAt: new Date(start).toISOString(),
    completedAt: new Date(start + lengthMs).toISOString(),
  }));
  renderApp('/automation-workflows', { [RUNS]: answerOf(...runs) });
  await eventually(() => expect(rows()).toHaveLength(durations.length));
  for (const [at, [, shows]] of durations.entries()) {
    for (const text of [shows, 'on hold', '0123...6789']) expect(rows()[at]?.textContent).toContain(text);
  }
  expect(page().queryByRole('button', { name: /^Retry workflow/ })).toBeNull();
});

// Requirements: additions-system-3
test('exports all workflows that match the filters, up to the newest one', async () => {
  const app = renderApp('/automation-workflows?outcome=filled', { [RUNS]: answerOf({ ...run }) });
  await eventually(() => expect(rows()).toHaveLength(1));
  await app.user.click(page().getByRole('button', { name: 'Export CSV' }));
  await eventually(() => expect(savedFiles).toHaveLength(1));
  expect(savedFiles[0]?.name).toMatch(/^workflows/);
  const [head = '', row = ''] = (await savedFiles[0]?.blob.text())?.split('\r\n') ?? [];
  expect(head).toContain('Workflow ID,Signal ID,Token');
  expect(row).toContain(ids.workflow);
  expect(row).toContain('Filled 1/1');
  expect(app.sent(RUNS).at(-1)?.query).toMatchObject({ outcome: 'filled', limit: '1000' });
});

describe('the dialogs of a workflow', () => {
  const steps = `GET /api/automation-workflows/${ids.workflow}/steps` as const;
  const stepsOf = (status: (stepNumber: number) => string) => {
    const [first] = (recorded as Record<string, unknown>)[steps] as [object];
    return [1, 2, 3, 7, 8, 9].map((stepNumber) => ({
      ...first,
      id: `step-${stepNumber}`,
      stepNumber,
      stepName: `Step of ${stepNumber}`,
      stepType: stepNumber === 9 ? 'order_submission' : 'validation',
      userId: stepNumber > 7 ? ids.follower : null,
      status: status(stepNumber),
      outputData: { number: stepNumber },
      executionTimeMs: stepNumber * 100,
      errorMessage: status(stepNumber) === 'failed' ? 'It broke' : null,
    }));
  };
  const openSteps = async (answer: object) => {
    const path = `/automation-workflows?dialog=steps&signal=${ids.signal}&workflow=${ids.workflow}`;
    renderApp(path, { [steps]: answer });
    const shown = await dialog('Workflow Execution Steps');
    await shown.findByRole('heading', { name: 'Pipeline' });
    return { shown, opened: [...shown.element.querySelectorAll('details')].filter(({ open }) => open) };
  };

  // Requirements: additions-system-2
  test('say what became of each user first, then how long the pipeline took, and fold the rest', async () => {
    const { shown, opened } = await openSteps(stepsOf(() => 'completed'));
    const headings = shown.getAllByRole('heading', { level: 3 });
    expect(headings.map(({ textContent }) => textContent)).toEqual(['Users', 'Pipeline', 'All Users']);
    expect(opened).toEqual([]);
    expect(shown.element.textContent).toContain(
      'Step of 1 100msStep of 2 200msStep of 3 300msStep of 7 700ms',
    );
    const technical = shown.getByText('Step of 9').closest('li')?.querySelector('details');
    for (const text of ['Type: order_submission', 'Processor: ', 'Output data']) {
      expect(technical?.textContent).toContain(text);
    }
  });

  // Requirements: additions-system-2
  test.for(firstCases([2, 9]))('open the first failure, in step %i', async (failing) => {
    const { shown, opened } = await openSteps(
      stepsOf((number) => (number >= failing ? 'failed' : 'completed')),
    );
    expect(opened).toHaveLength(1);
    const [error = null] = shown.getAllByText('It broke').filter((one) => one.closest('li'));
    expect(
      opened[0]?.contains(failing === 2 ? (shown.getAllByText('Step of 2').at(-1) ?? null) : error),
    ).toBe(true);
  });

  const part = (name: 'steps' | 'users') =>
    `GET /api/automation-workflows/${ids.workflow}/${name}` as keyof typeof recorded;
  const path = (name: string) =>
    `/automation-workflows?dialog=${name}&signal=${ids.signal}&workflow=${ids.workflow}`;

  const parts = [
    ['steps', part('steps'), 'Failed to fetch workflow steps'],
    ['users', part('users'), 'Failed to fetch workflow users'],
    ['signal', `GET /api/signals/${ids.signal}`, 'Failed to fetch signal'],
  ] as const;
  test.for(oneOfEachKind(parts, ([name]) => name === 'steps'))(
    'report that %s cannot be fetched, and fetch it on the next try',
    async ([name, call, title]) => {
      const app = renderApp(path(name), { [call]: UNREACHABLE });
      const alert = await alertOf(title);
      delete app.answers[call];
      await app.user.click(alert.getByRole('button', { name: 'Try again' }));
      await expectGone(() => page().queryByText(title));
    },
  );

  // Requirements: workflow-monitor-11, workflow-monitor-16
  test('say when there are no users or no steps', async () => {
    renderApp(path('users'), { [part('users')]: [] });
    await (await dialog('Eligible Users')).findByText('No user data available for this workflow');
    renderApp(path('steps'), { [part('steps')]: [] });
    await (await dialog('Workflow Execution Steps')).findByText('No execution steps found for this workflow');
  });
});
