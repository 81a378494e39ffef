import type { Page } from '@playwright/test';
import type { ExecutionLogs, PositionMakerStatus } from '#contract/position-maker.ts';
import type { SignalsAnswer } from '#contract/signals.ts';
import { endWaits } from './database.ts';
import { expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { dialog, expectToast, pageTitle, tableRow, tableRows, withoutLiveUpdates } from './screen.ts';
import { stopTime } from './stopped-time.ts';
import { uniqueName } from './unique.ts';

// An order stays in progress until the test ends its wait.
test.use({ serverEnv: { VERIFY_FIRST_MS: '120000' } });

const EXECUTIONS = 'Recent Order Executions';
const card = (page: Page, name: string) =>
  page.getByRole('main').getByText(name, { exact: true }).locator('xpath=following-sibling::dd[1]');

async function follower(operator: Operator) {
  const processor = uniqueName('robot');
  const settings = { positionSizingMethod: 'Portfolio Allocation', signalProcessor: processor } as const;
  const user = await operator.createUser({ settings, activeTrading: true });
  const platform = await operator.platform();
  await platform.candle({ Symbol: 'BTCUSDT', Close: '65000' });
  /** Sends a signal without waiting for its workflow. */
  const send = async () => {
    const answer = await platform.signal({ symbol: 'BTCUSDT', price: '65000', processor });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { id: string }).id;
  };
  return { user, send };
}

// Requirements: position-maker-1, position-maker-2, position-maker-3, trading-calculator-and-execution-20
test('shows the running system, its workers and that nothing was executed yet', async ({ page }) => {
  await page.goto('/position-maker');
  await expect(pageTitle(page, 'Position Maker System')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Refresh' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Restart System' })).toBeVisible();
  await expect(card(page, 'System Status')).toHaveText('Running');
  const workers = tableRows(page, 'Worker Threads');
  const count = await workers.count();
  expect(count).toBeGreaterThan(0);
  await expect(card(page, 'Active Workers')).toHaveText(`${count}/${count}`);
  await expect(workers.first()).toContainText('Active');
  await expect(card(page, 'Processing Tasks')).toHaveText('0');
  await expect(card(page, 'Completed Tasks')).toHaveText('0');
  await expect(page.getByRole('table', { name: EXECUTIONS })).toContainText('No execution logs yet');
});

for (const [part, everySeconds] of [
  ['status', 3],
  ['logs', 5],
] as const) {
  // Requirements: trading-calls-26, trading-constants-2
  test(`fetches the ${part} of the position maker every ${everySeconds} seconds`, async ({ page }) => {
    await withoutLiveUpdates(page);
    await page.clock.install();
    await page.goto('/position-maker');
    await expect(card(page, 'System Status')).toHaveText('Running');
    const { calls, pass } = await stopTime(page, `/api/position-maker/${part}`);
    for (let second = 0; calls.length < 6 && second < 30 * everySeconds; second += 1) await pass(1);
    // A second is counted when the page processes the answer, and a call may be seen one second late.
    const gaps = calls.slice(1).map((second, at) => second - (calls[at] ?? 0));
    expect(gaps.length).toBeGreaterThanOrEqual(2);
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    expect(mean).toBeGreaterThan(everySeconds - 0.5);
    expect(Math.min(...gaps)).toBeLessThanOrEqual(everySeconds + 1);
  });
}

// Requirements: position-maker-2, position-maker-4, trading-calculator-and-execution-20
// Requirements: trading-messages-19, order-execution-12
test('a restart during order verification loses no order and places none twice', async ({
  page,
  operator,
  server,
  scan,
}) => {
  const { user, send } = await follower(operator);
  await page.goto('/position-maker');
  await expect(card(page, 'System Status')).toHaveText('Running');
  const before = Number(await card(page, 'Completed Tasks').textContent());
  const signalId = await send();
  await expect(card(page, 'Processing Tasks')).toHaveText('1');

  await page.getByRole('button', { name: 'Restart System' }).click();
  const question = dialog(page, 'Restart System');
  await expect(question).toContainText('1 order is being worked on');
  await scan('the question before a restart');
  await question.getByRole('button', { name: 'Restart System' }).click();
  await expect(question).toBeHidden();
  await expect(page.getByRole('button', { name: 'Restarting...' })).toBeDisabled();
  await expectToast(page, { title: 'System Restarted' });
  await expect(page.getByRole('button', { name: 'Restart System' })).toBeEnabled();

  await endWaits(page, server);
  await expect(card(page, 'System Status')).toHaveText('Running');
  await expect(card(page, 'Completed Tasks')).toHaveText(String(before + 1));
  await expect(card(page, 'Processing Tasks')).toHaveText('0');
  const executions = tableRow(page, EXECUTIONS, user.username);
  await expect(executions).toHaveCount(1);
  await expect(executions).toContainText('Success');
  await expect(executions).toContainText('Bitget');
  const { logs } = (await (await page.request.get('/api/position-maker/logs')).json()) as ExecutionLogs;
  const log = logs.find(({ userId }) => userId === user.id);
  const [taskId, userId] = await executions.getByRole('cell').allTextContents();
  expect(taskId).toBe(log?.taskId.slice(0, 8));
  expect(userId).toBe(user.id.slice(0, 8));

  const { signals } = (await (await page.request.get('/api/signals')).json()) as SignalsAnswer;
  expect(signals.find(({ id }) => id === signalId)).toMatchObject({ totalTrades: 1, successfulTrades: 1 });
  await scan('the position maker');
});

// Requirements: position-maker-1, position-maker-4
test('stopped workers and failed executions are readable', async ({ page, scan }) => {
  const api = '**/api/position-maker';
  const real = (await (await page.request.get('/api/position-maker/status')).json()) as PositionMakerStatus;
  const workers = real.workers.map((worker) => ({ ...worker, isActive: false, lastActivity: null }));
  await page.route(`${api}/status`, (route) =>
    route.fulfill({ json: { ...real, isRunning: false, workers } }),
  );
  const log: ExecutionLogs['logs'][number] = {
    id: '1',
    taskId: 'a3b9c1d2-0000-4000-8000-000000000000',
    userId: 'b7d8e9f0-0000-4000-8000-000000000000',
    username: 'ann@example.com',
    token: 'BTC',
    exchangePlatform: 'Bybit',
    success: false,
    error: 'Order not filled',
    orderId: null,
    submittedAt: '2026-07-01T10:00:00.000Z',
  };
  await page.route(`${api}/logs`, (route) => route.fulfill({ json: { logs: [log] } }));
  await page.goto('/position-maker');
  await expect(card(page, 'System Status')).toHaveText('Stopped');
  await expect(tableRows(page, 'Worker Threads').first()).toContainText('Inactive');
  await expect(tableRow(page, EXECUTIONS, 'a3b9c1d2')).toContainText('Failed');
  await scan('a stopped position maker');
});
