import type { Page } from '@playwright/test';
import { runStatements } from './database.ts';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { closeDialog, dialog, expectToast, pageTitle, tableRows } from './screen.ts';
import { uniqueName, uniqueToken } from './unique.ts';

test.use({ serverEnv: DEVELOPMENT });

const rows = (page: Page) => tableRows(page, 'Signal History');

// Requirements: signals-the-table-2, signals-the-table-4, signals-the-table-5, trading-validation-15
// Requirements: trading-constants-1, additions-finding-keys-and-columns-1
test('filters are kept in the URL, narrow the table and return to page 1', async ({
  page,
  operator,
  server,
}) => {
  const [token, processor] = [uniqueToken(), uniqueName('robot')];
  const platform = await operator.platform();
  await Promise.all(
    Array.from({ length: 101 }, (_, index) => {
      const action = index === 0 ? 'sell' : 'buy';
      return platform.signal({ symbol: `${token}USDT`, action, price: String(100 + index), processor });
    }),
  );
  await page.goto('/signals');
  await page.getByLabel('Token').selectOption(token);
  await expect(page).toHaveURL(`${server.url}/signals?token=${token}`);
  await expect(page.getByText('Showing 100 of 101 signals')).toBeVisible();
  const pager = page.getByRole('navigation', { name: 'Pagination' });
  await expect(pager).toContainText('Page 1 of 2');
  await pager.getByRole('button', { name: 'Next' }).click();
  await expect(page).toHaveURL(`${server.url}/signals?token=${token}&page=2`);
  await expect(rows(page)).toHaveCount(1);
  await expect(pager.getByRole('button', { name: 'Next' })).toBeDisabled();

  await page.reload();
  await expect(page.getByLabel('Token')).toHaveValue(token);
  await expect(rows(page)).toHaveCount(1);

  await page.getByLabel('Action').selectOption('Sell');
  await expect(page).toHaveURL(`${server.url}/signals?token=${token}&action=sell`);
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText('$100.00');
  await expect(pager).toHaveCount(0);

  await page.getByLabel('Processor').selectOption(processor);
  await page.getByLabel('Timeframe').selectOption('15m');
  await expect(page).toHaveURL(/timeframe=15/);
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('button', { name: 'Clear Filters' }).click();
  await expect(page).toHaveURL(`${server.url}/signals`);
  await expect(page.getByLabel('Token')).toHaveValue('');
});

// Requirements: signals-the-table-10, trading-workflows-and-eligibility-3, workflows-1
test('a signal is recorded but not traded in development, and its row says why', async ({
  page,
  operator,
}) => {
  const signal = await operator.postSignal({ symbol: `${uniqueToken()}USDT` });
  await page.goto(`/signals?token=${signal.token}`);
  const row = rows(page);
  await expect(row).toContainText('Aborted');
  await expect(row).toContainText('– / –');
  await row.getByRole('button', { name: /^Aborted/ }).hover();
  await expect(page.getByRole('tooltip')).toContainText(
    'Workflow aborted: Auto-trading is disabled in the environment development',
  );
});

// Requirements: signals-the-table-3, signals-the-table-9, signals-the-table-13
// Requirements: trading-workflows-and-eligibility-4, trading-calls-12, trading-messages-4
test('a trigger starts the workflow and reports its id', async ({ page, operator }) => {
  const signal = await operator.postSignal({
    symbol: `${uniqueToken()}USDT`,
    processor: uniqueName('robot'),
  });
  await page.goto(`/signals?token=${signal.token}`);
  await page.getByRole('button', { name: /^Trigger the workflow of signal/ }).click();
  await dialog(page, 'Trigger Workflow').getByRole('button', { name: 'Trigger' }).click();
  await expectToast(page, {
    title: 'Workflow Triggered Successfully',
    text: /Workflow [0-9a-f]{8}-[0-9a-f-]{27}/,
  });
  await expect(rows(page)).toContainText('1 , 1');
  await expect(async () => {
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect(rows(page)).toContainText('Completed', { timeout: 5_000 });
  }).toPass();
  await rows(page)
    .getByRole('button', { name: /^Completed/ })
    .hover();
  await expect(page.getByRole('tooltip')).toHaveText('Workflow completed - No users processed successfully');
});

// Requirements: signals-the-dialogs-1, signals-the-dialogs-4, signals-the-dialogs-5, signals-the-dialogs-6
// Requirements: signals-the-dialogs-8, trading-validation-17
test('each dialog of a signal without eligible users shows its empty state', async ({
  page,
  operator,
  server,
}) => {
  const recorded = await operator.postSignal({
    symbol: `${uniqueToken()}USDT`,
    processor: uniqueName('robot'),
    time: undefined,
    alert: undefined,
  });
  await operator.trigger(recorded.id);
  await page.goto(`/signals?token=${recorded.token}`);
  const open = async (cell: RegExp, title: string) => {
    await rows(page).getByRole('button', { name: cell }).click();
    return dialog(page, title);
  };

  await expect(await open(/details of the signal/, 'Signal Details')).toContainText(
    'No parameters available',
  );
  await expect(dialog(page, 'Signal Details')).toContainText('Original TimeN/A');
  await expect(dialog(page, 'Signal Details')).toContainText('Candle TimeN/A');
  await closeDialog(page, 'Signal Details');
  await expect(await open(/^– \/ –, SL\/TP/, 'SL/TP Calculation Details')).toContainText(
    'No SL/TP calculation data available for this signal',
  );
  await closeDialog(page, 'SL/TP Calculation Details');
  await expect(await open(/^0\/0, trades/, 'Trade Details - Signal')).toContainText(
    'No trades found for this signal',
  );
  await closeDialog(page, 'Trade Details - Signal');
  const users = await open(/^0\/0, users/, 'Users for Signal');
  await expect(users).toContainText(/\D0 of \d+ users eligible/);
  await expect(users).not.toContainText('As it would be decided now');
  await expect(users).toContainText("does not match the user's processor Tesla");
  await closeDialog(page, 'Users for Signal');
  const workflows = await open(/^1 , 1, workflows/, 'Workflows for Signal');
  await expect(workflows).toContainText('Automatic Triggers (1)');
  await expect(workflows).toContainText('Auto-trading is disabled');
  await expect(workflows).toContainText(`Reason: Manual trigger by ${server.adminUsername}`);
  await workflows
    .getByRole('button', { name: /^Steps of workflow/ })
    .first()
    .click();
  await expect(dialog(page, 'Workflow Execution Details')).toContainText('Validate Signal');
  await closeDialog(page, 'Workflow Execution Details');
  // The steps were opened from the list, so closing them leads back to it.
  await closeDialog(page, 'Workflows for Signal');

  // A signal whose workflows are gone, as after an import.
  const inWorkflows = 'workflow_id in (select id from workflows where signal_id = $1)';
  const values = [recorded.id];
  await runStatements(server, [{ text: `delete from workflow_steps where ${inWorkflows}`, values }]);
  await expect(await open(/workflow execution of signal/, 'Workflow Execution Details')).toContainText(
    'No workflow steps found',
  );
  await closeDialog(page, 'Workflow Execution Details');
  await runStatements(server, [
    { text: `delete from decisions where ${inWorkflows}`, values },
    { text: `delete from workflow_users where ${inWorkflows}`, values },
    { text: 'delete from workflows where signal_id = $1', values },
  ]);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(await open(/^0 , 0, workflows/, 'Workflows for Signal')).toContainText(
    'No workflows found for this signal.',
  );
});

// Requirements: signals-the-table-7, additions-finding-keys-and-columns-1
// Requirements: additions-finding-keys-and-columns-4
test('an open dialog is kept in the URL and survives a reload', async ({ page, operator, server }) => {
  const signal = await operator.postSignal({ symbol: `${uniqueToken()}USDT` });
  await page.goto(`/signals?token=${signal.token}`);
  await rows(page)
    .getByRole('button', { name: /details of the signal/ })
    .click();
  await expect(page).toHaveURL(
    `${server.url}/signals?token=${signal.token}&dialog=signal&signal=${signal.id}`,
  );
  await page.reload();
  await expect(dialog(page, 'Signal Details')).toContainText(signal.id);
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(`${server.url}/signals?token=${signal.token}`);
});

test('back closes an open dialog; after closing it, back leads to the previous page', async ({
  page,
  operator,
  server,
}) => {
  const signal = await operator.postSignal({ symbol: `${uniqueToken()}USDT` });
  await page.goto('/admin');
  await page.goto(`/signals?token=${signal.token}`);
  const open = () =>
    rows(page)
      .getByRole('button', { name: /^0\/0, trades of signal/ })
      .click();
  await open();
  await expect(dialog(page, 'Trade Details - Signal')).toBeVisible();
  await page.goBack();
  await expect(dialog(page, 'Trade Details - Signal')).toBeHidden();
  await expect(page).toHaveURL(`${server.url}/signals?token=${signal.token}`);
  await open();
  await closeDialog(page, 'Trade Details - Signal');
  await page.goBack();
  await expect(pageTitle(page, 'Admin Dashboard')).toBeVisible();
});

// Requirements: signals-the-dialogs-12
test('users without a decision of a workflow show the decision as of now and its reason', async ({
  page,
  operator,
  server,
}) => {
  const { id } = await operator.postSignal({
    symbol: `${uniqueToken()}USDT`,
    processor: uniqueName('robot'),
  });
  await page.goto(`/signals?dialog=users&signal=${id}`);
  const users = dialog(page, 'Users for Signal');
  await expect(users).toContainText(
    'The workflow ended before users were selected. As it would be decided now:',
  );
  await expect(users).toContainText(/\d+ of \d+ users eligible/);
  const inWorkflows = 'workflow_id in (select id from workflows where signal_id = $1)';
  await runStatements(server, [
    { text: `delete from workflow_steps where ${inWorkflows}`, values: [id] },
    { text: `delete from decisions where ${inWorkflows}`, values: [id] },
    { text: 'delete from workflows where signal_id = $1', values: [id] },
  ]);
  await page.reload();
  await expect(users).toContainText('No workflow of the signal has decided. As it would be decided now:');
});
