import type { Page } from '@playwright/test';
import { runStatements } from './database.ts';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { closeDialog, dialog, tableRows } from './screen.ts';
import { uniqueName, uniqueToken } from './unique.ts';

test.use({ serverEnv: DEVELOPMENT });

const rows = (page: Page) => tableRows(page, 'Workflow Runs');

/** A later candle lies more than 10 % off, and then the workflow is started by hand. */
async function createFailedWorkflow(operator: Operator) {
  const fields = { symbol: `${uniqueToken()}USDT`, processor: uniqueName('robot'), price: '100' };
  const signal = await operator.postSignal(fields);
  const platform = await operator.platform();
  expect((await platform.candle({ Symbol: fields.symbol, Close: '120' })).status).toBe(200);
  const failed = await operator.trigger(signal.id);
  expect(failed.workflowStatus).toBe('failed');
  return { signal: failed, symbol: fields.symbol };
}

// Requirements: workflow-monitor-1, workflow-monitor-2, workflow-monitor-16, trading-constants-1
// Requirements: additions-finding-keys-and-columns-1
test('filters stand in the address, and a change of filter or page size goes back to page 1', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const [token, processor] = [uniqueToken(), uniqueName('robot')];
  const platform = await operator.platform();
  await Promise.all(Array.from({ length: 26 }, () => platform.signal({ symbol: `${token}USDT`, processor })));
  await signIn(page);
  await page.goto('/automation-workflows');
  await page.getByLabel('Processor').selectOption(processor);
  await expect(page).toHaveURL(`${server.url}/automation-workflows?processor=${processor}`);
  await expect(page.getByText('Showing 26 of 26 workflows')).toBeVisible();
  await expect(page.getByLabel('Page size').locator('option')).toHaveText([
    '25 per page',
    '50 per page',
    '100 per page',
  ]);
  await page.getByLabel('Page size').selectOption('25 per page');
  const pager = page.getByRole('navigation', { name: 'Pagination' });
  await expect(pager).toContainText('Page 1 of 2');
  await pager.getByRole('button', { name: 'Next' }).click();
  await expect(page).toHaveURL(/page=2/);
  await expect(rows(page)).toHaveCount(1);
  await page.goto(page.url().replace('page=2', 'page=99'));
  await expect(pager).toContainText('Page 2 of 2');
  await expect(rows(page)).toHaveCount(1);
  await expect(page).toHaveURL(/page=2/);

  await page.getByLabel('Status').selectOption('Completed');
  await expect(page.getByText('No automation workflows found')).toBeVisible();
  await expect(page).not.toHaveURL(/page=/);
  await page.reload();
  await expect(page.getByLabel('Status')).toHaveValue('completed');
  await expect(page.getByLabel('Page size')).toHaveValue('25');
});

// Requirements: workflow-monitor-8, workflow-monitor-10, trading-calls-13, trading-messages-7
test('a failed workflow says why, and can be retried', async ({ page, operator, signIn }) => {
  const { signal, symbol } = await createFailedWorkflow(operator);
  await signIn(page);
  await page.goto(`/automation-workflows?processor=${signal.processor}&status=failed`);
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText('Invalid signal: it cannot be traded as it came');
  await rows(page).getByText('Invalid signal').hover();
  const tip = page.getByRole('tooltip');
  await expect(tip).toContainText('Signal validation failed: the signal price 100 is 20.00% away');
  await expect(tip).toContainText('Failure type: SIGNAL_INVALID');
  await expect(tip).toContainText('Suggested action: ');

  // The market came back: the retry goes through, with nobody to trade for.
  await (await operator.platform()).candle({ Symbol: symbol, Close: '101' });
  const alerts = answerAlerts(page);
  await rows(page)
    .getByRole('button', { name: /^Retry workflow/ })
    .click();
  await expect.poll(() => alerts).toEqual(['Workflow retry triggered successfully']);
  await page.getByLabel('Status').selectOption('All statuses');
  await expect(async () => {
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect(rows(page).first()).toContainText('Completed', { timeout: 1_000 });
  }).toPass();
  await expect(rows(page)).toHaveCount(3);
  await rows(page).first().getByText('Manual', { exact: true }).hover();
  await expect(tip).toContainText('Retry of ');
  await expect(page.getByRole('button', { name: /^Retry workflow/ })).toHaveCount(1);
});

// Requirements: trading-messages-7
test('a retry that the server refuses, and one without an answer, are said so', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  const { signal, symbol } = await createFailedWorkflow(operator);
  await (await operator.platform()).candle({ Symbol: symbol, Close: '101' });
  expect((await operator.trigger(signal.id)).workflowStatus).toBe('completed');
  expectFailure({ path: '/api/automation/trigger/', status: 409 });
  expectFailure({ path: '/api/automation/trigger/', status: 'network' });
  await signIn(page);
  await page.goto(`/automation-workflows?processor=${signal.processor}&status=failed`);
  const alerts = answerAlerts(page);
  const retry = page.getByRole('button', { name: /^Retry workflow/ });
  await retry.click();
  await expect.poll(() => alerts).toEqual(['Failed to trigger workflow retry']);
  await page.route('**/api/automation/trigger/**', (route) => route.abort());
  await retry.click();
  await expect.poll(() => alerts[1]).toBe('Error triggering workflow retry');
});

// Requirements: workflow-monitor-11, workflow-monitor-16
test('the steps of a failed workflow tell where it stopped, and its user list is empty', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const { signal } = await createFailedWorkflow(operator);
  await signIn(page);
  await page.goto(`/automation-workflows?processor=${signal.processor}&status=failed`);
  await rows(page)
    .getByRole('button', { name: /, steps of the workflow/ })
    .click();
  const steps = dialog(page, 'Workflow Execution Steps');
  await expect(steps.getByRole('listitem').filter({ hasText: 'Fetch Current Price' })).toContainText(
    'Failed',
  );
  await expect(steps).toContainText('Signal validation failed');
  await closeDialog(page, 'Workflow Execution Steps');

  await rows(page)
    .getByRole('button', { name: /eligible users of workflow/ })
    .click();
  await expect(dialog(page, 'Eligible Users')).toContainText('No user data available for this workflow');
  await closeDialog(page, 'Eligible Users');

  await rows(page)
    .getByRole('button', { name: /details of the signal/ })
    .click();
  await expect(dialog(page, 'Signal Details')).toContainText(signal.id);
  await closeDialog(page, 'Signal Details');

  await runStatements(server, [
    { text: 'delete from workflow_steps where workflow_id = $1', values: [signal.workflowId ?? ''] },
  ]);
  await rows(page)
    .getByRole('button', { name: /, steps of the workflow/ })
    .click();
  await expect(steps).toContainText('No execution steps found for this workflow');
});

// Requirements: workflow-monitor-7, workflow-monitor-8
test('each kind of failure has its short reason, and its whole story in the tooltip', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const processor = uniqueName('robot');
  const explanation = 'The exchange did not answer at all within the ten seconds that it is given';
  const details = (failureType: string) =>
    JSON.stringify({ failureType, userFriendlyExplanation: explanation, suggestedAction: 'Wait a while' });
  const cases = [
    { message: 'Slot taken', details: details('CONCURRENCY_CONFLICT'), shows: 'System Busy' },
    { message: 'It broke', details: details('PROCESSING_ERROR'), shows: 'Processing Failed' },
    { message: 'No answer', details: details('TIMEOUT'), shows: explanation.slice(0, 50) },
    { message: 'The system is processing other signals of BTC', details: 'null', shows: 'System Busy' },
    { message: 'Signal validation failed: no price', details: 'null', shows: 'Invalid Signal' },
    { message: 'Auto-trading is disabled here', details: 'null', shows: 'Trading Disabled' },
    {
      message: 'Something that nobody has thought of before',
      details: 'null',
      shows: 'Something that nobody has thou',
    },
    { message: 'Old record', details: '"{not json"', shows: 'Old record' },
  ];
  const failed = [];
  for (const one of cases) {
    const { workflowId } = await operator.postSignal({ symbol: `${uniqueToken()}USDT`, processor });
    failed.push({ ...one, workflowId: workflowId ?? '' });
  }
  await runStatements(
    server,
    failed.map(({ workflowId, message, details }) => ({
      text: `update workflows set status = 'failed', error_message = $2,
             error_details = nullif($3::jsonb, 'null') where id = $1`,
      values: [workflowId, message, details],
    })),
  );
  await signIn(page);
  await page.goto(`/automation-workflows?processor=${processor}`);
  await expect(rows(page)).toHaveCount(cases.length);
  const tip = page.getByRole('tooltip');
  for (const [index, { shows, message, details }] of [...failed].reverse().entries()) {
    const reason = rows(page).nth(index).locator('[data-tip][tabindex="0"]');
    await expect(reason).toHaveText(shows);
    await reason.hover();
    await expect(tip).toContainText(message);
    if (details.includes('failureType')) {
      await expect(tip).toContainText('Failure type: ');
      await expect(tip).toContainText(`Explanation: ${explanation}`);
      await expect(tip).toContainText('Suggested action: Wait a while');
    }
    if (details.includes('not json')) await expect(tip).toContainText('Technical details: {not json');
    await page.mouse.move(0, 0);
  }
  await expect(page.getByRole('button', { name: /^Retry workflow/ })).toHaveCount(cases.length);
});

// Requirements: workflow-monitor-5, workflow-monitor-6, workflow-monitor-10
// Requirements: trading-workflows-and-eligibility-2
test('ids are shortened, durations have their unit, and an unknown status is displayed as received', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const processor = uniqueName('robot');
  const durations = [
    ['999 milliseconds', '999ms'],
    ['12.3 seconds', '12.3s'],
    ['5 minutes', '5.0m'],
    ['150 minutes', '2.5h'],
  ] as const;
  const ids: string[] = [];
  for (const [length] of durations) {
    const { workflowId } = await operator.postSignal({ symbol: `${uniqueToken()}USDT`, processor });
    ids.push(workflowId ?? '');
    await runStatements(server, [
      {
        text: "update workflows set completed_at = created_at + $2::interval, status = 'on hold' where id = $1",
        values: [workflowId ?? '', length],
      },
    ]);
  }
  await signIn(page);
  await page.goto(`/automation-workflows?processor=${processor}`);
  await expect(rows(page)).toHaveCount(durations.length);
  for (const [index, [, shows]] of [...durations].reverse().entries()) {
    const id = ids.at(-1 - index) ?? '';
    await expect(rows(page).nth(index)).toContainText(shows);
    await expect(rows(page).nth(index)).toContainText('on hold');
    await expect(rows(page).nth(index)).toContainText(`${id.slice(0, 4)}...${id.slice(-4)}`);
  }
  // None of them has failed.
  await expect(page.getByRole('button', { name: /^Retry workflow/ })).toHaveCount(0);
});

// Requirements: workflow-monitor-3, trading-constants-2, live-updates-4
test('the list is fetched again every 30 seconds, also while live updates are down', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/api/events', status: 'network' });
  const processor = uniqueName('robot');
  await operator.postSignal({ symbol: `${uniqueToken()}USDT`, processor });
  await signIn(page);
  await page.route('**/api/events*', (route) => route.abort());
  await page.clock.install();
  await page.goto(`/automation-workflows?processor=${processor}`);
  await expect(rows(page)).toHaveCount(1);
  await operator.postSignal({ symbol: `${uniqueToken()}USDT`, processor });
  await page.clock.runFor(20_000);
  await expect(rows(page)).toHaveCount(1);
  await page.clock.runFor(11_000);
  await expect(rows(page)).toHaveCount(2);
});

test('the dialogs of a workflow that cannot be fetched say so, and are fetched on the next try', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/api/', status: 'network' });
  const { id, workflowId } = await operator.postSignal({ symbol: `${uniqueToken()}USDT` });
  await signIn(page);
  for (const { name, call, title } of [
    {
      name: 'steps',
      call: `/api/automation-workflows/${workflowId}/steps`,
      title: 'Failed to fetch workflow steps',
    },
    {
      name: 'users',
      call: `/api/automation-workflows/${workflowId}/users`,
      title: 'Failed to fetch workflow users',
    },
    { name: 'signal', call: `/api/signals/${id}`, title: 'Failed to fetch signal' },
  ]) {
    await page.route(`**${call}`, (route) => route.abort());
    await page.goto(`/automation-workflows?dialog=${name}&signal=${id}&workflow=${workflowId}`);
    const failed = page.getByRole('dialog').getByRole('alert').filter({ hasText: title });
    await expect(failed).toBeVisible();
    await page.unroute(`**${call}`);
    await failed.getByRole('button', { name: 'Try again' }).click();
    await expect(failed).toBeHidden();
  }
});

/** Accepts the browser's alerts and keeps what they said. */
function answerAlerts(page: Page): string[] {
  const texts: string[] = [];
  page.on('dialog', async (alert) => {
    texts.push(alert.message());
    await alert.accept();
  });
  return texts;
}

// Requirements: workflow-monitor-9
test('however long a reason or a processor is, the button of each row is within a screen of 1440', async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const processor = `${uniqueName('robot')} of a strategy with a very long name`;
  const token = uniqueToken();
  const signal = await operator.postSignal({ symbol: `${token}USDT`, processor, price: '123456789.123' });
  const explanation = 'WWWWW MMMMM WWWWW MMMMM WWWWW MMMMM WWWWW MMMMM WWWWW MMMMM';
  const errorDetails = { failureType: 'TIMEOUT', userFriendlyExplanation: explanation, suggestedAction: '' };
  await runStatements(server, [
    {
      text: `update workflows set status = 'failed', error_message = 'No answer', error_details = $2
             where id = $1`,
      values: [signal.workflowId ?? '', JSON.stringify(errorDetails)],
    },
  ]);
  await page.setViewportSize({ width: 1440, height: 900 });
  await signIn(page);
  await page.goto(`/automation-workflows?processor=${encodeURIComponent(processor)}`);
  await expect(rows(page).getByRole('button', { name: /^Retry workflow/ })).toBeInViewport({ ratio: 1 });
  const tip = page.getByRole('tooltip');
  const reason = rows(page).getByText(explanation.slice(0, 50));
  await reason.hover();
  await expect(tip).toContainText(explanation);
  await rows(page).getByText(processor).hover();
  await expect(tip).toHaveText(processor);

  await page.goto(`/signals?token=${token}`);
  const row = tableRows(page, 'Signal History');
  await expect(row.getByRole('button', { name: /^Trigger/ })).toBeInViewport({ ratio: 1 });
  await row.getByText(processor).hover();
  await expect(tip).toHaveText(processor);
});
