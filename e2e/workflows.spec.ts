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

  await page.getByLabel('Status').selectOption('Completed');
  await expect(page.getByText('No automation workflows found')).toBeVisible();
  await expect(page).not.toHaveURL(/page=/);
  await page.reload();
  await expect(page.getByLabel('Status')).toHaveValue('completed');
  await expect(page.getByLabel('Page size')).toHaveValue('25');
});

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

/** Accepts the browser's alerts and keeps what they said. */
function answerAlerts(page: Page): string[] {
  const texts: string[] = [];
  page.on('dialog', async (alert) => {
    texts.push(alert.message());
    await alert.accept();
  });
  return texts;
}
