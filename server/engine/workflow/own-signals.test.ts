import { and, eq, gt } from 'drizzle-orm';
import { expect, test } from 'vitest';
import type { SignalAction } from '#domain/exits/signal-action.ts';
import { OWN_AT_A_TIME, OWN_UNFINISHED } from '#domain/workflow/workflow-lifecycle.ts';
import { endWorkflow } from '#server/engine/records/end-users.ts';
import { workflowSteps } from '#server/platform/db/schema.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { testJobs } from '#test/app/test-jobs.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { runWorkflow } from './run-workflow.ts';
import { wakeUnfinished } from './sweep.ts';

// Own signals: those from the webhook of an ordinary user. Each workflow is run as its job does it.
const engine = sharedTestEngine();

function withQueue() {
  const queue = testJobs(engine.clock);
  const deps = engine.depsWith({ jobs: queue.jobs });
  const calledWorkflows = () =>
    queue
      .waiting()
      .flatMap(({ name, data }) =>
        name === 'run-workflow' ? [(data as { workflowId: string }).workflowId] : [],
      );
  return { queue, deps, calledWorkflows };
}

const createOwner = () => engine.createUser({ positionSizingMethod: 'Risk Management' });
/** Two owners, the one whose turn comes first in front. */
const createOwners = async (count: number) =>
  (await Promise.all(Array.from({ length: count }, createOwner))).sort();

async function send(token: string, ownerUserId?: string, action: SignalAction = 'buy'): Promise<string> {
  const owned = ownerUserId === undefined ? {} : { ownerUserId };
  return (await engine.storeSignal({ token, price: '100', action, parameters: { action }, ...owned }))
    .workflowId;
}

async function sendAll(tokens: readonly string[], ownerUserId: string): Promise<string[]> {
  const sent: string[] = [];
  for (const token of tokens) sent.push(await send(token, ownerUserId));
  return sent;
}

const tokens = (count: number) => Array.from({ length: count }, nextToken);

async function run(ids: readonly string[]): Promise<void> {
  for (const id of ids) await runWorkflow(engine.deps, id);
}

/** Those that have taken their token. */
async function atWork(ids: readonly string[]): Promise<string[]> {
  const steps = await Promise.all(ids.map((id) => engine.steps(id)));
  return ids.filter((_, index) => steps[index]?.[2]?.status === 'completed');
}

async function waitsFor(id: string): Promise<unknown> {
  const [, , slot] = await engine.steps(id);
  expect(slot).toMatchObject({ stepName: 'Acquire Processing Slot', status: 'processing' });
  return (slot?.metadata as { waitingFor: unknown } | undefined)?.waitingFor;
}

/** Ends a workflow, and returns the workflows that this calls. */
async function end(id: string): Promise<string[]> {
  const { deps, calledWorkflows } = withQueue();
  const workflow = await engine.workflow(id);
  const at = engine.clock.now();
  await engine.db.transaction((tx) => endWorkflow(tx, { deps, workflow, status: 'completed', at }));
  return calledWorkflows();
}

// Requirements: workflows-13
test('works on two signals of an owner at a time, and calls the next one when one of them ends', async () => {
  const [owner = '', other = ''] = await createOwners(2);
  const ids = await sendAll(tokens(4), owner);
  const [first = '', second = '', third = '', fourth = ''] = ids;
  await run(ids);
  expect(await atWork(ids)).toEqual([first, second]);
  expect(await waitsFor(third)).toBe(first);

  const ofOthers = [...(await sendAll(tokens(2), other)), await send(nextToken())];
  await run(ofOthers);
  expect(await atWork(ofOthers)).toEqual(ofOthers);

  expect(await end(second)).toContain(third);
  await run([third, fourth]);
  expect(await atWork(ids)).toEqual([first, second, third]);
});

testEveryCase('lets at most two of an owner begin when all ask at once', async () => {
  const owner = await createOwner();
  const ids = await sendAll(tokens(8), owner);
  await Promise.all(ids.map((id) => runWorkflow(engine.deps, id)));
  expect(await atWork(ids)).toHaveLength(OWN_AT_A_TIME);
});

testEveryCase('ends every signal of a burst, each traded', async () => {
  const owner = await createOwner();
  const { queue, deps } = withQueue();
  const ids = await sendAll(tokens(7), owner);
  await wakeUnfinished(deps, { all: false });
  await queue.drain(deps);
  for (const id of ids) {
    expect(await engine.workflow(id)).toMatchObject({ status: 'completed', successfulUsersCount: 1 });
  }
});

testEveryCase('calls a waiting signal again when its call was lost', async () => {
  const owner = await createOwner();
  const ids = await sendAll(tokens(3), owner);
  const [first = '', , third = ''] = ids;
  await run(ids);
  await end(first);
  const { deps, calledWorkflows } = withQueue();
  await wakeUnfinished(deps, { all: false });
  expect(calledWorkflows()).toContain(third);
});

// Requirements: workflows-13
testEveryCase('fails a signal beyond fifty unfinished ones of its owner with the reason', async () => {
  const [owner = '', other = ''] = await createOwners(2);
  const all = tokens(OWN_UNFINISHED + 1);
  const ids = await sendAll(all, owner);
  const [last = ''] = ids.slice(-1);
  const ofOther = await send(nextToken(), other);
  const toLeave = await send(all[0] ?? '', owner, 'close');
  await run([last, ofOther, toLeave]);
  const reason = `${OWN_UNFINISHED} earlier signals of this user are not finished yet, so this one is not traded`;
  expect(await engine.workflow(last)).toMatchObject({
    status: 'failed',
    errorMessage: reason,
    errorDetails: { failureType: 'TOO_MANY_OWN_SIGNALS' },
    topReason: reason,
  });
  expect((await engine.steps(last)).at(-1)).toMatchObject({ status: 'failed', errorMessage: reason });
  expect(await atWork([ofOther])).toEqual([ofOther]);
  expect(await engine.workflow(toLeave)).not.toMatchObject({ status: 'failed' });
});

// Requirements: workflows-13
test('lets owners take turns in a token, also around signals for everybody', async () => {
  const owners = await createOwners(3);
  const token = nextToken();
  const [one = '', two = '', three = ''] = owners;
  const [a1 = '', a2 = '', a3 = ''] = await sendAll([token, token, token], one);
  const [b1 = '', b2 = ''] = await sendAll([token, token], two);
  const c1 = await send(token, three);
  const all = [a1, a2, a3, b1, b2, c1];
  await run(all);
  const order: string[] = [];
  const takeNext = async (expected: string) => {
    const [current = ''] = (await atWork(all)).filter((id) => !order.includes(id));
    order.push(current);
    expect(await end(current)).toEqual(expected === '' ? [] : [expected]);
    await run(all.filter((id) => !order.includes(id)));
  };
  await takeNext(b1);
  const forAll = await send(token);
  all.push(forAll);
  await run([forAll]);
  await takeNext(forAll);
  await takeNext(c1);
  await takeNext(a2);
  await takeNext(b2);
  await takeNext(a3);
  await takeNext('');
  expect(order).toEqual([a1, b1, forAll, c1, a2, b2, a3]);
});

test('a signal that must wait for others of its owner holds up nobody else in its token', async () => {
  const [owner = '', other = ''] = await createOwners(2);
  const token = nextToken();
  const [first = '', second = '', third = ''] = await sendAll([...tokens(2), token], owner);
  await run([first, second, third]);
  const ofOther = await send(token, other);
  await run([ofOther]);
  expect(await atWork([third, ofOther])).toEqual([ofOther]);
});

test('a signal that closes does not wait for the entries of its owner in other tokens', async () => {
  const owner = await createOwner();
  const token = nextToken();
  const ids = await sendAll([...tokens(2), token], owner);
  const toLeave = await send(token, owner, 'close');
  await run([...ids, toLeave]);
  expect(await engine.workflow(toLeave)).toMatchObject({ status: 'completed' });
});

testEveryCase(
  'goes on with a workflow that had taken its token when a signal for everybody came',
  async () => {
    const owner = await createOwner();
    const token = nextToken();
    const own = await send(token, owner);
    await run([own]);
    const steps = await engine.steps(own);
    // As after a crash before the step that took the token was recorded as completed.
    await engine.db
      .delete(workflowSteps)
      .where(and(eq(workflowSteps.workflowId, own), gt(workflowSteps.stepNumber, 2)));
    const forAll = await send(token);
    await run([own, forAll]);
    expect(await engine.steps(own)).toHaveLength(steps.length);
    expect(await waitsFor(forAll)).toBe(own);
  },
);
