import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import type { WorkflowRun } from '#contract/automation.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, TRADING, type World, type WorldOptions } from '#test/world.ts';

const soon = { timeout: 30_000, interval: 25 };

let board: World;
let sender: TestSender;

async function start(options: WorldOptions = {}) {
  board = await startWorld(options);
  sender = await createSender({ app: board.app, client: board.admin });
}

const get = async (path: string) => (await board.admin.get(path)).json();
let sent = 0;
/** Each signal is different: an equal one would be a duplicate. */
async function newSignal(fields: object = {}): Promise<string> {
  sent += 1;
  return (await sender.signal({ price: `${65_000 + sent}`, ...fields })).json().id;
}

async function workflows(query = ''): Promise<{ workflows: WorkflowRun[]; total: number }> {
  return await get(`/api/automation-workflows${query}`);
}

async function newestOf(signalId: string): Promise<WorkflowRun> {
  const found = (await workflows()).workflows.find((one) => one.signalId === signalId);
  if (found === undefined) throw new Error(`no workflow of ${signalId}`);
  return found;
}

const endWorkflow = (signalId: string, status: string) =>
  board.query('update workflows set status = $2, completed_at = now() where signal_id = $1', [
    signalId,
    status,
  ]);

async function countRows(): Promise<unknown> {
  const tables = [
    'workflows',
    'workflow_steps',
    'workflow_users',
    'position_generator_logs',
    'trades',
    'jobs.job',
  ];
  const counts = tables.map((table) => `(select count(*) from ${table}) as "${table}"`);
  return (await board.query(`select ${counts.join(', ')}`))[0];
}

const createTrader = (settings: object = {}) => board.createTrader({ signalProcessor: 'Any', ...settings });

describe('the list of workflows', () => {
  afterAll(() => board.close());
  beforeAll(async () => {
    await start();
    for (let index = 0; index < 7; index += 1) {
      const id = await newSignal({ price: `${index + 1}`, processor: index < 3 ? 'Tesla' : 'UD Bot' });
      if (index % 2 === 0) await endWorkflow(id, index === 0 ? 'failed' : 'completed');
    }
  });

  // Requirements: trading-calls-9
  test('is paged, newest first, and filtered by processor and by status', async () => {
    const all = await workflows();
    expect(all.total).toBe(7);
    const ids = all.workflows.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    const idsOf = async (query: string) => {
      const page = await workflows(query);
      return { ids: page.workflows.map(({ id }) => id), total: page.total };
    };
    expect(await idsOf('?limit=3')).toEqual({ ids: ids.slice(0, 3), total: 7 });
    expect(await idsOf('?limit=3&page=3')).toEqual({ ids: ids.slice(6), total: 7 });
    expect(await idsOf('?limit=3&page=4')).toEqual({ ids: [], total: 7 });
    expect(await idsOf('?processor=Tesla')).toEqual({ ids: ids.slice(4), total: 3 });
    expect(await idsOf('?status=failed')).toEqual({ ids: ids.slice(6), total: 1 });
    expect(await idsOf('?status=pending&processor=UD%20Bot')).toEqual({ ids: [ids[1], ids[3]], total: 2 });
    expect(await idsOf('?status=&processor=')).toEqual({ ids, total: 7 });
    for (const query of ['status=unheard-of', 'outcome=great', 'sort=status', 'id=no-id-at-all']) {
      expect((await board.admin.get(`/api/automation-workflows?${query}`)).statusCode, query).toBe(400);
    }
    const [newest, second] = all.workflows;
    expect(await idsOf(`?from=${second?.createdAt}&to=${second?.createdAt}`)).toMatchObject({
      ids: expect.arrayContaining([second?.id]),
    });
    const after = new Date(Date.parse(newest?.createdAt ?? '') + 1).toISOString();
    expect(await idsOf(`?from=${after}`)).toEqual({ ids: [], total: 0 });
    expect(await idsOf(`?to=${after}&order=asc`)).toEqual({ ids: ids.toReversed(), total: 7 });
  });

  // Requirements: workflow-monitor-4, trading-fields-9, trading-calls-9
  test('has rows with all their fields', async () => {
    const { signals } = await get('/api/signals?limit=1');
    const [row] = (await workflows('?limit=1')).workflows;
    expect(row).toEqual({
      id: signals[0].workflowId,
      workflowId: signals[0].workflowId,
      signalId: signals[0].id,
      token: 'BTC',
      action: 'buy',
      processor: 'UD Bot',
      trigger: 'automatic',
      triggerReason: null,
      createdAt: signals[0].receivedAt,
      completedAt: expect.any(String),
      status: 'completed',
      outcome: { kind: 'skipped', filled: 0, failed: 0, skipped: 0, topReason: null },
      stepCount: 0,
      tradeCount: 0,
      successfulTrades: 0,
      eligibleUsersCount: 0,
      errorMessage: null,
      errorDetails: null,
    });
  });

  // Requirements: workflow-monitor-1, trading-calls-10
  test('offers the choices of its filters', async () => {
    expect(await get('/api/automation-workflows/processors')).toEqual(['Tesla', 'UD Bot']);
    expect(await get('/api/automation-workflows/statuses')).toEqual([
      'pending',
      'processing',
      'completed',
      'failed',
      'aborted',
    ]);
  });

  // Requirements: trading-calls-11
  test('answers 404 for an unknown workflow, and 400 for a malformed id', async () => {
    for (const path of ['steps', 'users']) {
      expectAnswer(
        await board.admin.get(`/api/automation-workflows/${UNKNOWN_ID}/${path}`),
        404,
        'Workflow not found',
      );
      expect((await board.admin.get(`/api/automation-workflows/none/${path}`)).statusCode).toBe(400);
    }
  });
});

const trigger = (signalId: string) => board.admin.post('/api/trigger-automation', { signalId });
const retry = (signalId: string) => board.admin.post(`/api/automation/trigger/${signalId}`, {});

describe('a manual trigger', () => {
  beforeAll(() => start());
  afterAll(() => board.close());

  // Requirements: trading-calls-12
  test('creates a workflow with its reason while no other workflow of the signal runs', async () => {
    const signalId = await newSignal();
    await endWorkflow(signalId, 'completed');
    const answer = await trigger(signalId);
    expect(answer.statusCode).toBe(200);
    const { workflowId } = answer.json();
    expect(answer.json()).toEqual({ success: true, message: 'Workflow triggered successfully', workflowId });
    expect(await newestOf(signalId)).toMatchObject({
      id: workflowId,
      trigger: 'manual',
      triggerReason: 'Manual trigger by admin@example.com',
      status: 'pending',
    });
    const rows = await board.query("select 1 from jobs.job where data ->> 'workflowId' = $1", [workflowId]);
    expect(rows).toHaveLength(1);
  });

  // Requirements: workflows-3
  test.each(['pending', 'processing'])('gets 409 while a workflow of the signal is %s', async (status) => {
    const signalId = await newSignal();
    await endWorkflow(signalId, status);
    const before = await countRows();
    const answer = await trigger(signalId);
    const message = expect.stringMatching(/^The system is processing other signals/);
    expectAnswer(answer, 409, { message, failureType: 'CONCURRENCY_CONFLICT' });
    expect(await countRows()).toEqual(before);
  });

  // Requirements: workflows-3
  test('creates one workflow from twenty concurrent clicks', async () => {
    const signalId = await newSignal();
    await endWorkflow(signalId, 'failed');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? trigger(signalId) : retry(signalId))),
    );
    const statuses = answers.map(({ statusCode }) => statusCode).sort();
    expect(statuses).toEqual([200, ...Array(19).fill(409)]);
    const made = (await workflows()).workflows.filter((one) => one.signalId === signalId);
    expect(made).toHaveLength(2);
  });

  // Requirements: workflow-monitor-10, trading-calls-13, workflows-3
  test('retries failed workflows only', async () => {
    const signalId = await newSignal();
    for (const status of ['pending', 'processing', 'completed', 'aborted']) {
      await endWorkflow(signalId, status);
      expectAnswer(await retry(signalId), 409, 'Only a failed workflow can be retried');
    }
    await endWorkflow(signalId, 'failed');
    const failed = await newestOf(signalId);
    const answer = await retry(signalId);
    expect(answer.json()).toMatchObject({ success: true, workflowId: expect.any(String) });
    expect(await newestOf(signalId)).toMatchObject({
      id: answer.json().workflowId,
      triggerReason: `Retry of ${failed.id} by admin@example.com`,
    });
    // The newest workflow is running now and no longer failed.
    expect((await retry(signalId)).statusCode).toBe(409);
  });

  test('answers 404 for an unknown signal, and 400 for a malformed id', async () => {
    for (const answer of [await trigger(UNKNOWN_ID), await retry(UNKNOWN_ID)]) {
      expectAnswer(answer, 404, 'Signal not found');
    }
    expect((await trigger('none')).statusCode).toBe(400);
    expect((await retry('none')).statusCode).toBe(400);
    expect((await board.admin.post('/api/trigger-automation', {})).json().message).toBe(
      'Signal id is required',
    );
  });
});

describe('manual triggers by environment', () => {
  afterEach(() => board.close());

  // Requirements: signals-the-table-14, trading-roles-2
  test.each(
    firstCases(
      [
        [{ appEnv: 'production', deploymentId: 'd-1' }, 403],
        [{ appEnv: 'production', deploymentId: null }, 200],
        [{ appEnv: 'development', deploymentId: 'd-1' }, 200],
      ],
      2,
    ),
  )('with %j get %i', async (config, status) => {
    await start({ config });
    const [first, second] = [await newSignal(), await newSignal({ price: '2' })];
    for (const id of [first, second]) await endWorkflow(id, 'failed');
    const before = await countRows();
    const answers = [await trigger(first), await retry(second)];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([status, status]);
    if (status === 200) return;
    expect(answers[0]?.json()).toEqual({ message: 'Manual triggers disabled in production' });
    expect(await countRows()).toEqual(before);
    // The answer does not reveal whether the signal exists.
    expect((await trigger(UNKNOWN_ID)).statusCode).toBe(403);
    expect((await retry(UNKNOWN_ID)).statusCode).toBe(403);
  });
});

describe('eligibility', () => {
  beforeAll(() => start());
  afterAll(() => board.close());

  // Requirements: signals-the-dialogs-13, trading-fields-12, trading-workflows-and-eligibility-10
  // Requirements: trading-calls-8
  test('is shown layer by layer with a reason for every user, and changes nothing', async () => {
    const later = await createTrader({ tradeOrderSet: 'Z' });
    const first = await createTrader({ tradeOrderSet: 'A' });
    const off = await board.createUser();
    const gone = await board.createUser();
    await board.admin.patch(`/api/admin/users/${gone.user.id}/deactivate`);
    const signalId = await newSignal();
    const before = await countRows();
    const answer = await board.admin.post('/api/signal/check-eligibility', { signalId });
    expect(answer.statusCode).toBe(200);
    const breakdown = answer.json();
    expect(breakdown).toMatchObject({
      signalId,
      processor: 'Tesla',
      currentMode: 'sandbox',
      finalEligibleUsers: 2,
      // The administrator and the user with trading off are active and have settings.
      breakdown: { layer1: { count: 4 }, layer2: { count: 2 }, layer3: { count: 2 }, layer4: { count: 2 } },
    });
    expect(breakdown.eligibleUsers).toEqual(
      [first, later].map(({ user, username }) => ({ id: user.id, username, isTestUser: true })),
    );
    const reasons = new Map(
      breakdown.decisions.map((one: { id: string; reason: string }) => [one.id, one.reason]),
    );
    expect(reasons.size).toBe(5);
    expect(reasons.get(off.user.id)).toBe('Active trading is off');
    expect(reasons.get(gone.user.id)).toMatch(/inactive/i);
    expect(await countRows()).toEqual(before);
    const { statusCode } = await board.admin.post('/api/signal/check-eligibility', { signalId: UNKNOWN_ID });
    expect(statusCode).toBe(404);
  });

  // Requirements: trading-fields-11
  test('is computed on request until a workflow has selected its users', async () => {
    const { user } = await createTrader();
    const signalId = await newSignal();
    const statusOf = async () => {
      const users = await get(`/api/signals/${signalId}/users`);
      return users.find(({ id }: { id: string }) => id === user.id);
    };
    expect(await statusOf()).toMatchObject({ status: 'eligible', username: user.username });
    await board.setTrading(user.id, false);
    expect(await statusOf()).toMatchObject({ status: 'not eligible', reason: 'Active trading is off' });
  });

  // Requirements: signals-the-dialogs-12
  test('says whether a workflow recorded it, or why there is no record', async () => {
    await createTrader();
    const signalId = await newSignal();
    const basisOf = async () => {
      const users = await get(`/api/signals/${signalId}/users`);
      return [...new Set(users.map(({ basis }: { basis: string }) => basis))];
    };
    expect(await basisOf()).toEqual(['workflow under way']);
    for (const status of ['failed', 'aborted']) {
      await endWorkflow(signalId, status);
      expect(await basisOf()).toEqual(['workflow ended']);
    }
    await board.query('delete from workflows where signal_id = $1', [signalId]);
    expect(await basisOf()).toEqual(['no workflow']);
  });
});

describe('a signal', () => {
  afterEach(() => board.close());

  // Requirements: signals-the-dialogs-3, workflow-monitor-12, workflow-monitor-13, trading-fields-6
  // Requirements: trading-fields-7, trading-fields-8, trading-fields-10, trading-fields-11, trading-calls-7
  // Requirements: trading-calls-11
  test('shows its workflow, steps, users, stop levels and trades once traded', async () => {
    await start(TRADING);
    const first = await createTrader({ tradeOrderSet: 'A' });
    const second = await createTrader({ tradeOrderSet: 'B' });
    const off = await board.createUser();
    const signalId = await newSignal({ price: '65000' });
    await expect.poll(async () => (await newestOf(signalId)).status, soon).toBe('completed');

    const run = await newestOf(signalId);
    expect(run).toMatchObject({
      stepCount: 13,
      tradeCount: 2,
      successfulTrades: 2,
      eligibleUsersCount: 2,
      errorMessage: null,
      completedAt: expect.any(String),
    });

    const steps = await get(`/api/automation-workflows/${run.id}/steps`);
    expect(steps.map(({ stepNumber }: { stepNumber: number }) => stepNumber)).toEqual(
      Array.from({ length: 13 }, (_, index) => index + 1),
    );
    expect(steps[0]).toMatchObject({
      stepName: 'Validate Signal',
      stepType: 'signal_validation',
      userId: null,
    });
    expect(steps[6]).toMatchObject({ stepName: 'Process All Users', status: 'completed' });
    expect(steps[9]).toEqual({
      id: expect.any(String),
      stepNumber: 10,
      stepName: 'Submit Order',
      stepType: 'order_submission',
      userId: first.user.id,
      status: 'completed',
      executionTimeMs: expect.any(Number),
      inputData: expect.anything(),
      outputData: expect.anything(),
      metadata: null,
      errorMessage: null,
      startedAt: expect.any(String),
      completedAt: expect.any(String),
      processorName: expect.any(String),
    });

    const users = await get(`/api/automation-workflows/${run.id}/users`);
    expect(users.slice(0, 2)).toEqual(
      [first, second].map(({ user, username }) => ({
        id: user.id,
        userId: user.id,
        username,
        status: 'eligible',
        reason: 'All eligibility criteria met',
        outcome: {
          kind: 'filled',
          reason: null,
          token: 'BTC',
          filledQuantity: expect.stringMatching(/^[0-9.]+$/),
          averagePrice: '65000',
          net: null,
        },
      })),
    );
    // Later changes do not affect the workflow's own record.
    await board.setTrading(off.user.id, true);
    const snapshot = await get(`/api/signals/${signalId}/users`);
    expect(snapshot.find(({ id }: { id: string }) => id === off.user.id)).toMatchObject({
      status: 'not eligible',
      outcome: null,
      workflowId: run.id,
    });
    expect(snapshot).toHaveLength(users.length);
    expect(snapshot.every(({ basis }: { basis: string }) => basis === 'recorded')).toBe(true);

    const { hasData, sltpData } = await get(`/api/signals/${signalId}/sltp`);
    expect(hasData).toBe(true);
    expect(sltpData.map(({ username }: { username: string }) => username).sort()).toEqual(
      [first.username, second.username].sort(),
    );
    for (const record of sltpData) {
      expect(record).toMatchObject({ positionSizingMethod: 'Risk Management', leverage: 5 });
      expect(Number(record.stopLoss)).toBeLessThan(Number(record.entryPrice));
      expect(Number(record.takeProfit)).toBeGreaterThan(Number(record.entryPrice));
      expect(record.calculationReason.length).toBeGreaterThan(10);
      expect(record.calculationDetail).toContain('\n');
    }

    const tried = { signalId, userId: first.user.id };
    const calculated = await board.admin.post('/api/internal/position-generator/generate', tried);
    expect(calculated.json()).toMatchObject({ success: true });
    expect(calculated.json().position.entryPrice).not.toBe(sltpData[0].entryPrice);
    expect(await get(`/api/signals/${signalId}/sltp`)).toEqual({ hasData, sltpData });

    const trades = await get(`/api/signals/${signalId}/trades`);
    expect(trades).toHaveLength(2);
    for (const trade of trades) {
      expect(trade).toMatchObject({
        success: true,
        fillStatus: 'filled',
        error: null,
        exchangePlatform: 'Bitget',
        orderId: expect.any(String),
        exchangeResponse: {
          symbol: 'BTCUSDT',
          priceAvg: '65000',
          side: 'buy',
          size: expect.any(String),
          // Looked up a minute later.
          fee: null,
        },
        orderPayload: { symbol: 'BTCUSDT' },
      });
    }

    const listed = await get(`/api/signals/${signalId}`);
    const ofFirst = sltpData.find(({ username }: { username: string }) => username === first.username);
    expect(listed).toMatchObject({
      workflowId: run.id,
      workflowStatus: 'completed',
      eligibleUsersCount: 2,
      successfulUsersCount: 2,
      totalTrades: 2,
      successfulTrades: 2,
      automaticCount: 1,
      manualCount: 0,
      stopLoss: ofFirst.stopLoss,
      takeProfit: ofFirst.takeProfit,
    });

    const triggered = (await board.admin.post('/api/trigger-automation', { signalId })).json().workflowId;
    await expect.poll(async () => (await newestOf(signalId)).status, soon).toBe('completed');
    const runs = await get(`/api/signals/${signalId}/workflows`);
    expect(runs).toMatchObject({
      signalId,
      automaticCount: 1,
      manualCount: 1,
      automaticWorkflows: [{ id: run.id, workflowId: run.id, status: 'completed', successfulUsersCount: 2 }],
      manualWorkflows: [
        {
          id: triggered,
          eligibleUsersCount: expect.any(Number),
          triggerReason: 'Manual trigger by admin@example.com',
          startedAt: expect.any(String),
        },
      ],
    });
    // The signal shows the workflow that traded, with its users, and not the later one without a trade.
    expect(await get(`/api/signals/${signalId}`)).toMatchObject({
      workflowId: run.id,
      workflowTrigger: 'automatic',
      outcome: { kind: 'filled', filled: 2 },
      automaticCount: 1,
      manualCount: 1,
    });
    expect(await get(`/api/signals/${signalId}/users`)).toEqual(snapshot);
  });

  // Requirements: trading-fields-7
  testEveryCase('has no stop levels and no trades before it is traded', async () => {
    await start();
    const signalId = await newSignal();
    expect(await get(`/api/signals/${signalId}/sltp`)).toEqual({ hasData: false, sltpData: [] });
    expect(await get(`/api/signals/${signalId}/trades`)).toEqual([]);
    expect(await get(`/api/signals/${signalId}/workflows`)).toMatchObject({
      automaticCount: 1,
      manualCount: 0,
      automaticWorkflows: [{ status: 'pending' }],
      manualWorkflows: [],
    });
  });

  testEveryCase('has its workflow aborted with a reason while automatic trading is off', async () => {
    await start({ engine: true, config: { appEnv: 'development' } });
    const signalId = await newSignal();
    await expect.poll(async () => (await newestOf(signalId)).status, soon).toBe('aborted');
    expect(await newestOf(signalId)).toMatchObject({
      errorMessage: expect.stringMatching(/^Auto-trading is disabled /),
      errorDetails: { failureType: 'AUTO_TRADING_DISABLED' },
    });
    expect((await get(`/api/signals/${signalId}`)).workflowError).toMatch(/^Auto-trading is disabled /);
  });
});

// Requirements: webhook-deliveries-10
test('answers a delivery while every workflow hangs, and runs the workflows afterwards', async () => {
  await start({ engine: true, config: { appEnv: 'development' } });
  const rows = await board.query('select current_database() as database');
  const blocker = new pg.Client({ ...inject('testServer'), ...rows[0] });
  await blocker.connect();
  const signals: string[] = [];
  try {
    await blocker.query('begin');
    await blocker.query('lock table leases, paper_accounts in access exclusive mode');
    for (let price = 1; price <= 5; price += 1) signals.push(await newSignal({ price: `${price}` }));
    await expect.poll(() => board.deps.jobs.activity().activeJobs, soon).toBeGreaterThan(0);
    // One more signal while the workers are stuck.
    signals.push(await newSignal({ price: '6' }));
    expect((await workflows('?status=pending')).total).toBe(6);
  } finally {
    await blocker.query('rollback');
    await blocker.end();
  }
  await expect.poll(async () => (await workflows('?status=aborted')).total, soon).toBe(6);
  expect(new Set(signals).size).toBe(6);
  await board.close();
});
