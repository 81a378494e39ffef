import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { WhyAnswer } from '#contract/signals.ts';
import { listUserSteps } from '#server/engine/records/workflow-steps.store.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { UNKNOWN_ID } from '#test/app/test-client.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, TRADING, type World, type WorldOptions } from '#test/world.ts';

const soon = { timeout: 30_000, interval: 25 };

let board: World;
let sender: TestSender;

async function start(options: WorldOptions) {
  board = await startWorld(options);
  sender = await createSender({ app: board.app, client: board.admin });
}

const get = async (path: string) => (await board.admin.get(path)).json();
const why = async (signalId: string, userId: string, query = ''): Promise<WhyAnswer> => {
  const answer = await board.admin.get(`/api/signals/${signalId}/why/${userId}${query}`);
  expect(answer.statusCode).toBe(200);
  return answer.json();
};

const createTrader = async (settings?: object) => (await board.createTrader(settings)).user;

let sent = 0;
/** Each signal is different: an equal one would be a duplicate. */
async function sendSignal(): Promise<string> {
  sent += 1;
  return (await sender.signal({ price: `${65_000 + sent}` })).json().id;
}

async function ended(signalId: string, status = 'completed') {
  await expect.poll(async () => (await get(`/api/signals/${signalId}`)).workflowStatus, soon).toBe(status);
  return (await get(`/api/signals/${signalId}`)).workflowId as string;
}

const ruleOf = (decision: WhyAnswer['decidedNow'] | null, rule: string) =>
  decision?.checks.find((check) => check.rule === rule);

describe('why a user did or did not trade', () => {
  beforeAll(() => start(TRADING));
  // Otherwise users with a position from an earlier test would trade.
  afterEach(() => board.query('update users set is_active = false where not is_admin'));
  afterAll(() => board.close());

  // Requirements: additions-why-and-why-not-1
  test('is explained by the workflow’s record, next to the current decision', async () => {
    const trader = await createTrader();
    const off = await board.createUser();
    const signalId = await sendSignal();
    const workflowId = await ended(signalId);

    const traded = await why(signalId, trader.id);
    expect(traded).toMatchObject({
      signalId,
      user: { id: trader.id, username: trader.username, isActive: true, isTestUser: true },
      workflow: { workflowId, trigger: 'automatic', status: 'completed', selectedAt: expect.any(String) },
      conclusion: { outcome: 'traded', text: 'The order was filled' },
      decidedThen: { status: 'eligible', reason: 'All eligibility criteria met' },
      decidedNow: { status: 'eligible' },
    });
    expect(traded.steps.map(({ stepName, status }) => [stepName, status])).toEqual([
      ['Load User Settings', 'completed'],
      ['Generate Position', 'completed'],
      ['Submit Order', 'completed'],
    ]);
    expect(traded.trades).toMatchObject([
      { workflowId, ofThisWorkflow: true, success: true, fillStatus: 'filled' },
    ]);

    // Later changes affect the current decision, never the recorded one.
    await board.setTrading(off.user.id, true);
    const { conclusion, decidedThen, decidedNow, steps } = await why(signalId, off.user.id);
    expect(conclusion).toEqual({ outcome: 'not eligible', text: 'Active trading is off' });
    expect(decidedThen).toMatchObject({ rule: 'Active trading', saw: 'off', wanted: 'on' });
    expect(ruleOf(decidedThen, 'Active trading')).toMatchObject({ result: 'failed', saw: 'off' });
    expect(ruleOf(decidedThen, 'Trading pause')).toMatchObject({ result: 'not reached' });
    expect(decidedNow.status).toBe('eligible');
    expect(ruleOf(decidedNow, 'Active trading')).toMatchObject({ result: 'passed', saw: 'on', wanted: 'on' });
    expect(steps).toEqual([]);
  });

  testEveryCase('reads only steps of the pipeline and of this user', async () => {
    const [first, second] = [await createTrader(), await createTrader()];
    const workflowId = await ended(await sendSignal());
    for (const { id: userId } of [first, second]) {
      const steps = await listUserSteps(board.database.db, { workflowId, userId });
      expect(steps.map((step) => step.userId)).toEqual([...Array(7).fill(null), userId, userId, userId]);
    }
  });

  testEveryCase('is explained for each workflow of the signal', async () => {
    const trader = await createTrader();
    const signalId = await sendSignal();
    const first = await ended(signalId);
    const { workflowId: second } = (await board.admin.post('/api/trigger-automation', { signalId })).json();
    const status = () => board.query('select status from workflows where id = $1', [second]);
    await expect.poll(status, soon).toEqual([{ status: 'completed' }]);

    expect(await why(signalId, trader.id, `?workflowId=${second}`)).toMatchObject({
      workflow: { workflowId: second, trigger: 'manual', outcome: { kind: 'skipped', skipped: 1 } },
      conclusion: { outcome: 'skipped', text: expect.stringMatching(/already traded for the user$/) },
      decidedThen: { status: 'eligible' },
      trades: [{ workflowId: first, ofThisWorkflow: false }],
    });
    // Without a choice, by the workflow that traded.
    for (const query of ['', `?workflowId=${first}`]) {
      expect(await why(signalId, trader.id, query)).toMatchObject({
        workflow: { workflowId: first, outcome: { kind: 'filled' } },
        conclusion: { outcome: 'traded' },
      });
    }
  });

  testEveryCase('names a refusal by sizing after eligibility', async () => {
    const trader = await createTrader({ positionSizingMethod: 'Technical Analysis' });
    const signalId = await sendSignal();
    await ended(signalId);
    const { conclusion, decidedThen, steps, trades } = await why(signalId, trader.id);
    expect(conclusion).toEqual({ outcome: 'skipped', text: 'ATR is required for Technical Analysis' });
    expect(decidedThen?.status).toBe('eligible');
    expect(steps.at(-1)).toMatchObject({ stepName: 'Generate Position', status: 'failed' });
    expect(trades).toEqual([]);
  });

  testEveryCase('names the failure of the order, or an unknown error', async () => {
    const trader = await createTrader();
    const signalId = await sendSignal();
    await ended(signalId);
    const fail = (error: string | null) =>
      board.query(
        "update trades set success = false, fill_status = 'unfilled', error = $2 where signal_id = $1",
        [signalId, error],
      );
    await fail('Order not filled after two attempts');
    expect((await why(signalId, trader.id)).conclusion).toEqual({
      outcome: 'failed',
      text: 'Order not filled after two attempts',
    });
    await fail(null);
    expect((await why(signalId, trader.id)).conclusion.text).toBe('Unknown error');
    await board.query("update trades set state = 'working', success = null");
    expect((await why(signalId, trader.id)).conclusion.outcome).toBe('in progress');
  });

  // Requirements: additions-why-and-why-not-2
  test('is answered as not considered for a user who was created after the workflow', async () => {
    const signalId = await sendSignal();
    await ended(signalId);
    const later = await createTrader();
    expect(await why(signalId, later.id)).toMatchObject({
      conclusion: {
        outcome: 'not considered',
        text: 'The user was created after the workflow had selected its users',
      },
      decidedThen: null,
      decidedNow: { status: 'eligible' },
    });
  });
});

describe('without an engine', () => {
  beforeAll(() => start({}));
  afterAll(() => board.close());

  test('a user waits for a workflow that has not begun, or learns that none is recorded', async () => {
    const trader = await createTrader();
    const signalId = await sendSignal();
    expect((await why(signalId, trader.id)).conclusion.text).toBe(
      'The workflow has not selected its users yet',
    );
    await board.query('delete from workflows where signal_id = $1', [signalId]);
    const { conclusion, workflow } = await why(signalId, trader.id);
    expect([conclusion.text, workflow]).toEqual(['No workflow of this signal is recorded', null]);
  });

  test('names the deciding rule for an inactive user, for a user without settings and for another’s signal', async () => {
    const inactive = await createTrader();
    const bare = await board.createUser();
    const owner = await board.createUser();
    await board.admin.patch(`/api/admin/users/${inactive.id}/deactivate`);
    await board.query('delete from user_settings where user_id = $1', [bare.user.id]);
    const signalId = await sendSignal();
    const own = await createSender({ app: board.app, client: owner.client });
    const ownSignalId = (await own.signal()).json().id;

    const deciding = async (signal: string, userId: string) => {
      const { rule, saw, wanted, reason } = (await why(signal, userId)).decidedNow;
      return { rule, saw, wanted, reason };
    };
    expect(await deciding(signalId, inactive.id)).toEqual({
      rule: 'Active user',
      saw: 'inactive',
      wanted: 'active',
      reason: 'User is inactive',
    });
    expect(await deciding(signalId, bare.user.id)).toMatchObject({ rule: 'User settings', saw: 'none' });
    expect(await deciding(ownSignalId, bare.user.id)).toEqual({
      rule: 'Signal audience',
      saw: 'a signal only for its owner',
      wanted: 'a signal for this user',
      reason: 'Signal belongs to another user',
    });
    expect((await deciding(ownSignalId, owner.user.id)).rule).toBe('Active trading');
  });

  test('answers 404 without a known signal, user and workflow of this signal', async () => {
    const { user } = await board.createUser();
    const [signalId, otherId] = [await sendSignal(), await sendSignal()];
    const { workflowId } = await get(`/api/signals/${otherId}`);
    const refused = async (path: string) => {
      const answer = await board.admin.get(`/api/signals/${path}`);
      return [answer.statusCode, answer.json().message];
    };
    expect(await refused(`${UNKNOWN_ID}/why/${user.id}`)).toEqual([404, 'Signal not found']);
    expect(await refused(`${signalId}/why/${UNKNOWN_ID}`)).toEqual([404, 'User not found']);
    expect(await refused(`${signalId}/why/${user.id}?workflowId=${workflowId}`)).toEqual([
      404,
      'Workflow not found',
    ]);
    expect((await refused(`${signalId}/why/none`))[0]).toBe(400);
  });
});

testEveryCase('tells a user what stopped the workflow before it selected users', async () => {
  await start({ engine: true, config: { appEnv: 'development' } });
  const trader = await createTrader();
  const signalId = await sendSignal();
  await ended(signalId, 'aborted');
  const { conclusion, workflow, decidedThen } = await why(signalId, trader.id);
  expect(conclusion.outcome).toBe('not considered');
  expect(conclusion.text).toMatch(
    /^The workflow was aborted before it selected its users: Auto-trading is disabled /,
  );
  expect([workflow?.selectedAt, decidedThen]).toEqual([null, null]);
  await board.close();
});
