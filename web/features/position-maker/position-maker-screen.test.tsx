// @vitest-environment jsdom
import { expect, test } from 'vitest';
import {
  alertOf,
  dialog,
  eventually,
  expectGone,
  expectToast,
  failure,
  held,
  isDisabled,
  page,
  recorded,
  renderApp,
  rowOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const STATUS = 'GET /api/position-maker/status';
const LOGS = 'GET /api/position-maker/logs';
const RESTART = 'POST /api/position-maker/restart';
const figure = async (label: string) =>
  (await page().findAllByText(label)).find((one) => one.tagName === 'DT')?.nextElementSibling?.textContent;
const restartButton = () => page().findByRole('button', { name: 'Restart System' });

// Requirements: trading-calls-27, trading-messages-19, trading-roles-4
test("asks for confirmation of a restart, and reports a failure in the server's words or its own", async () => {
  const restarting = held(failure(503, 'instance-2 has not answered in time'));
  const app = renderApp('/position-maker', { [RESTART]: restarting.promise });
  const ask = async () => {
    (await restartButton()).focus();
    await app.user.keyboard('{Enter}');
    return await dialog('Restart System');
  };
  let question = await ask();
  expect(question.element.textContent).toContain('No order is being worked on at the moment.');
  await app.user.click(question.getByRole('button', { name: 'Cancel' }));
  await expectGone(() => page().queryByRole('dialog'));
  await eventually(async () => expect(document.activeElement).toBe(await restartButton()));
  expect(app.sent(RESTART)).toEqual([]);

  question = await ask();
  await app.user.click(question.getByRole('button', { name: 'Restart System' }));
  expect(isDisabled(await page().findByRole('button', { name: 'Restarting...' }))).toBe(true);
  restarting.release();
  await expectToast('Restart Failed', 'instance-2 has not answered in time');
  app.answers[RESTART] = UNREACHABLE;
  question = await ask();
  await app.user.click(question.getByRole('button', { name: 'Restart System' }));
  await expectToast('Restart Failed', 'Failed to restart system');
  expect(isDisabled(await restartButton())).toBe(false);
});

test('reports failed polls, keeps the loaded data and goes on polling', async () => {
  const app = renderApp('/position-maker');
  await eventually(async () => expect(await figure('System Status')).toBe('Running'));
  app.answers[STATUS] = UNREACHABLE;
  app.answers[LOGS] = UNREACHABLE;
  await app.user.click(page().getByRole('button', { name: 'Refresh' }));
  for (const title of ['Failed to fetch position maker status', 'Failed to fetch execution logs']) {
    expect((await alertOf(title)).element.textContent).toContain('The server cannot be reached');
  }
  expect(await figure('System Status')).toBe('Running');
  page().getByRole('table', { name: 'Recent Order Executions' });
  // Nothing is loaded yet: the notices stay during further polls, and their buttons work.
  app.reload();
  const failed = await alertOf('Failed to fetch position maker status');
  delete app.answers[STATUS];
  delete app.answers[LOGS];
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await eventually(async () => expect(await figure('System Status')).toBe('Running'));
  await expectGone(() => page().queryByText('Failed to fetch position maker status'));
});

// Requirements: position-maker-1, position-maker-4, trading-calculator-and-execution-20, additions-system-1
test('shows stopped workers and failed executions', async () => {
  const [worker] = recorded[STATUS].workers;
  const [log] = recorded[LOGS].logs;
  renderApp('/position-maker', {
    [STATUS]: {
      isRunning: false,
      threadManager: { activeWorkers: 0, totalWorkers: 1, processingTasks: 0, completedTasks: 1340 },
      workers: [{ ...worker, workerId: 'workflow-1', isActive: false, lastActivity: null }],
      health: { queue: 7, endedOrders: 40, errorRate: 0.05, latencyP95Ms: 15_240, instances: 0 },
    },
    [LOGS]: { logs: [{ ...log, taskId: 'a3b9c1d2-0000', success: false, error: 'Order not filled' }] },
  });
  await eventually(async () => expect(await figure('System Status')).toBe('Stopped'));
  expect(await figure('Queue')).toBe('7');
  expect(await figure('Latency p95')).toBe('15.2s');
  expect(await figure('Error Rate')).toBe('5.0%');
  expect(await figure('Instances')).toBe('0');
  expect(await figure('Active Workers')).toBe('0/1');
  expect(await figure('Completed Tasks')).toBe('1,340');
  expect((await rowOf('Worker Threads', 'workflow-1')).element.textContent).toContain('Inactive');
  const row = await rowOf('Recent Order Executions', 'a3b9c1d2');
  expect(row.getAllByRole('cell')[0]?.textContent).toBe('a3b9c1d2');
  expect(row.element.textContent).toContain('Failed');
  expect(page().getByRole('table', { name: 'Recent Order Executions' }).textContent).toContain(
    'Order not filled',
  );
});

// Requirements: position-maker-3
test('says when there are no executions', async () => {
  renderApp('/position-maker', { [LOGS]: { logs: [] } });
  await page().findByText('No execution logs yet');
});
