import type { Page } from '@playwright/test';
import { runStatements } from './database.ts';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { closeDialog, dialog, tableRows } from './screen.ts';
import { uniqueName, uniqueToken } from './unique.ts';

test.use({ serverEnv: DEVELOPMENT });

const rows = (page: Page) => tableRows(page, 'Workflow Runs');

/** Posts a candle more than 10% off the signal's price, then starts the workflow manually. */
async function createFailedWorkflow(operator: Operator) {
  const fields = { symbol: `${uniqueToken()}USDT`, processor: uniqueName('robot'), price: '100' };
  const signal = await operator.postSignal(fields);
  const platform = await operator.platform();
  expect((await platform.candle({ Symbol: fields.symbol, Close: '120' })).status).toBe(200);
  const failed = await operator.trigger(signal.id);
  expect(failed.workflowStatus).toBe('failed');
  return { signal: failed, symbol: fields.symbol };
}

// Requirements: workflow-monitor-8, workflow-monitor-10, trading-calls-13, trading-messages-7
test('a failed workflow shows why and can be retried', async ({ page, operator }) => {
  const { signal, symbol } = await createFailedWorkflow(operator);
  await page.goto(`/automation-workflows?processor=${signal.processor}&status=failed`);
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText('Invalid signal: it cannot be traded as it came');
  await rows(page).getByText('Invalid signal').hover();
  const tip = page.getByRole('tooltip');
  await expect(tip).toContainText('Signal validation failed: the signal price 100 is 20.00% away');
  await expect(tip).toContainText('Failure type: SIGNAL_INVALID');
  await expect(tip).toContainText('Suggested action: ');

  // The price is back near the signal's, so the retry succeeds, with no user to trade for.
  await (await operator.platform()).candle({ Symbol: symbol, Close: '101' });
  const alerts = answerAlerts(page);
  await rows(page)
    .getByRole('button', { name: /^Retry workflow/ })
    .click();
  await expect.poll(() => alerts).toEqual(['Workflow retry triggered successfully']);
  await page.getByLabel('Status').selectOption('All statuses');
  await expect(async () => {
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect(rows(page).first()).toContainText('Completed', { timeout: 5_000 });
  }).toPass();
  await expect(rows(page)).toHaveCount(3);
  await rows(page).first().getByText('Manual', { exact: true }).hover();
  await expect(tip).toContainText('Retry of ');
  await expect(page.getByRole('button', { name: /^Retry workflow/ })).toHaveCount(1);
});

// Requirements: workflow-monitor-11, workflow-monitor-16
test('the steps of a failed workflow show where it stopped, and its user list is empty', async ({
  page,
  operator,
  server,
}) => {
  const { signal } = await createFailedWorkflow(operator);
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

// Requirements: workflow-monitor-3, trading-constants-2, live-updates-4
test('the list is refetched every 30 seconds, also while live updates are down', async ({
  page,
  operator,
  expectFailure,
}) => {
  expectFailure({ path: '/api/events', status: 'network' });
  const processor = uniqueName('robot');
  await operator.postSignal({ symbol: `${uniqueToken()}USDT`, processor });
  await page.route('**/api/events*', (route) => route.abort());
  await page.clock.install();
  await page.goto(`/automation-workflows?processor=${processor}`);
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByRole('status').filter({ hasText: 'Live updates are down' })).toBeVisible();
  await operator.postSignal({ symbol: `${uniqueToken()}USDT`, processor });
  await page.clock.runFor(20_000);
  await expect(rows(page)).toHaveCount(1);
  await page.clock.runFor(11_000);
  await expect(rows(page)).toHaveCount(2);
});

/** Accepts the browser's alerts and returns their messages. */
function answerAlerts(page: Page): string[] {
  const texts: string[] = [];
  page.on('dialog', async (alert) => {
    texts.push(alert.message());
    await alert.accept();
  });
  return texts;
}

// Requirements: workflow-monitor-9
test('the button of each row fits a 1440 pixel screen, however long the reason or processor', async ({
  page,
  operator,
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
