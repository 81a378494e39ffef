import type { Page } from '@playwright/test';
import type { ExecutionLogs, PositionMakerStatus } from '#contract/position-maker.ts';
import type { SignalsAnswer } from '#contract/signals.ts';
import { seriousFindings } from './axe.ts';
import { expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { dialog, expectToast, pageTitle, tableRow, tableRows, withoutLiveUpdates } from './screen.ts';
import { stopTime } from './stopped-time.ts';
import { uniqueName } from './unique.ts';

/** An order stays in progress this long, which leaves time to restart the system. */
const VERIFY_MS = 4_000;

// Reduced motion: contrast cannot be measured halfway through a colour transition.
test.use({
  serverEnv: { VERIFY_FIRST_MS: String(VERIFY_MS) },
  colorScheme: 'light',
  contextOptions: { reducedMotion: 'reduce' },
});

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

async function expectAccessible(page: Page) {
  expect(await seriousFindings(page)).toEqual([]);
}

// Requirements: position-maker-1, position-maker-2, position-maker-3, trading-calculator-and-execution-20
test('shows the running system, its workers and that nothing was executed yet', async ({ page, signIn }) => {
  await signIn(page);
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
  test(`fetches the ${part} of the position maker every ${everySeconds} seconds`, async ({
    page,
    signIn,
  }) => {
    await withoutLiveUpdates(page);
    await page.clock.install();
    await signIn(page);
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
  signIn,
}) => {
  const { user, send } = await follower(operator);
  await signIn(page);
  await page.goto('/position-maker');
  await expect(card(page, 'System Status')).toHaveText('Running');
  const before = Number(await card(page, 'Completed Tasks').textContent());
  const signalId = await send();
  await expect(card(page, 'Processing Tasks')).toHaveText('1', { timeout: VERIFY_MS });

  await page.getByRole('button', { name: 'Restart System' }).click();
  const question = dialog(page, 'Restart System');
  await expect(question).toContainText('1 order is being worked on');
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Restart System' }).click();
  await expect(question).toBeHidden();
  await expect(page.getByRole('button', { name: 'Restarting...' })).toBeDisabled();
  await expectToast(page, { title: 'System Restarted' });
  await expect(page.getByRole('button', { name: 'Restart System' })).toBeEnabled();

  await expect(card(page, 'System Status')).toHaveText('Running');
  await expect(card(page, 'Completed Tasks')).toHaveText(String(before + 1), { timeout: 20_000 });
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
});

// Requirements: position-maker-1, position-maker-4, trading-calculator-and-execution-20
test('stopped workers and failed executions are readable in both schemes and on a phone', async ({
  page,
  signIn,
}) => {
  const status: PositionMakerStatus = {
    isRunning: false,
    threadManager: { activeWorkers: 0, totalWorkers: 1, processingTasks: 0, completedTasks: 1340 },
    workers: [
      {
        workerId: 'workflow-1',
        instanceId: 'another-instance',
        isActive: false,
        currentTasks: 0,
        maxConcurrent: 4,
        processedTasks: 1340,
        lastActivity: null,
      },
    ],
  };
  const log = {
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
  await page.route('**/api/position-maker/status', (route) => route.fulfill({ json: status }));
  await page.route('**/api/position-maker/logs', (route) => route.fulfill({ json: { logs: [log] } }));
  await signIn(page);
  await page.goto('/position-maker');
  await expect(card(page, 'System Status')).toHaveText('Stopped');
  await expect(card(page, 'Active Workers')).toHaveText('0/1');
  await expect(card(page, 'Completed Tasks')).toHaveText('1,340');
  await expect(tableRow(page, 'Worker Threads', 'workflow-1')).toContainText('Inactive');
  const row = tableRow(page, EXECUTIONS, 'a3b9c1d2');
  await expect(row.getByRole('cell').first()).toHaveText('a3b9c1d2');
  await expect(row).toContainText('Failed');
  await expect(page.getByRole('table', { name: EXECUTIONS })).toContainText('Order not filled');
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(row).toContainText('Failed');
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  await expectAccessible(page);
});
