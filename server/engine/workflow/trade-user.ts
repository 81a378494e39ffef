import { setTimeout as sleep } from 'node:timers/promises';
import { PER_USER_STEPS } from '#domain/workflow/workflow-lifecycle.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { isDatabaseUnavailable } from '#server/platform/db/database-errors.ts';
import { LeaseLostError, withLeaseAndRead } from '#server/platform/jobs/leases.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { finishUser } from './end-workflow.ts';
import { followTrade, settleLate } from './follow-trade.ts';
import { orderTurnsOf } from './order-turns.ts';
import { planOrder, readUserFacts, type UserFacts, type UserRun } from './plan-order.ts';
import { createStepJournal } from './step-journal.ts';
import { type UserTask, userStep } from './user-steps.ts';
import { readSignal } from './workflow-inputs.ts';
import { countUserFailedTry, type UserTurn } from './workflow-users.store.ts';
import type { WorkflowRow } from './workflows.store.ts';

const TRIES = 3;
const LEASE_POLL_MS = 100;
const LEASE_PATIENCE_MS = 2_000;
export const LEASE_RETRY_MS = 1_000;

/** A user's part of a workflow and the order that it plans, which is placed immediately without a job of its own. */
export async function orderForUser(
  deps: AutomationDeps,
  task: { workflowId: string; userId: string },
): Promise<void> {
  const tradeId = await tradeUser(deps, task);
  if (tradeId !== null) await advanceTrade(deps, tradeId);
}

/**
 * One eligible user's part of a workflow: settings, position, order. The user's lease is held from sizing to the
 * committed order intent, so that two signals never size the same balance. Safe to call at any time; resumes from the
 * recorded state. Returns the trade that it planned: the caller continues with `advanceTrade`, or else the sweep does.
 */
export async function tradeUser(
  deps: AutomationDeps,
  { workflowId, userId }: { workflowId: string; userId: string },
): Promise<string | null> {
  const signal = await readSignal(deps.db, workflowId);
  if (signal === null) return null;
  const key = `user:${userId}`;
  const holder = `${deps.config.instanceId} ${workflowId}`;
  const read = (on: Queryable) => readUserFacts(on, { workflowId, userId, signal });
  const deadline = deps.clock.now().getTime() + LEASE_PATIENCE_MS;
  for (;;) {
    const leased = await withLeaseAndRead(
      { db: deps.db, key, holder, log: deps.log, read },
      async (lease, facts) => {
        const toSize = await followUp(deps, facts.turn);
        return toSize === null ? null : await sizeUnderLease({ deps, lease, signal, ...toSize }, facts);
      },
    );
    if (leased.held) return leased.result;
    // Only sizing has to wait for the lease.
    if ((await followUp(deps, leased.read.turn)) === null) return null;
    if (deps.clock.now().getTime() >= deadline) break;
    await sleep(LEASE_POLL_MS);
  }
  await deps.jobs.send(deps.db, 'trade-user', { workflowId, userId }, { waitMs: LEASE_RETRY_MS });
  return null;
}

interface TurnToSize {
  workflow: WorkflowRow;
  task: UserTask;
  processingSince: Date;
}

/** Finishes a user whose part is over or who has an order; otherwise returns the turn to size. */
async function followUp(deps: AutomationDeps, turn: UserTurn | null): Promise<TurnToSize | null> {
  if (turn === null || turn.user.position === null) return null;
  const { workflow, user, trade, processingSince } = turn;
  const task: UserTask = { workflowId: workflow.id, userId: user.userId, position: turn.user.position };
  const isOver = user.outcome !== 'waiting' && user.outcome !== 'running';
  if (isOver) {
    if (trade !== null) await settleLate(deps, { task, trade });
    return null;
  }
  if (workflow.status !== 'processing') return null;
  if (trade !== null) {
    await followTrade({ deps, workflow, task }, trade);
    return null;
  }
  // Step 7 has not begun yet: it sends a job when it does.
  return processingSince === null ? null : { workflow, task, processingSince };
}

async function sizeUnderLease(
  { processingSince, ...part }: TurnToSize & Pick<UserRun, 'deps' | 'signal' | 'lease'>,
  facts: UserFacts,
): Promise<string | null> {
  const { deps, lease } = part;
  const run: UserRun = { ...part, journal: createStepJournal({ db: deps.db, lease }) };
  const turns = orderTurnsOf(deps.db);
  turns.enter(run.task);
  let isSettled = false;
  try {
    const tradeId = await planOrder(run, { ...facts, processingSince });
    isSettled = true;
    return tradeId;
  } catch (error) {
    if (!(error instanceof LeaseLostError)) await countFailure(run, error);
    return null;
  } finally {
    turns.leave(run.task, { isSettled });
  }
}

async function countFailure(run: UserRun, error: unknown): Promise<void> {
  const { deps, workflow, task, lease, journal } = run;
  if (isDatabaseUnavailable(error)) throw error;
  const tries = await countUserFailedTry(deps.db, task);
  deps.log.error({ err: error, ...task, tries }, "a user's part of a workflow ended unexpectedly");
  if (tries < TRIES) throw error;
  const step = journal.abandon() ?? userStep(deps, task, 'user_settings', { userId: task.userId });
  journal.begin(step);
  await journal.writeDown();
  const type = PER_USER_STEPS.find((one) => one.type === step.stepType)?.type ?? 'user_settings';
  const errorMessage = 'Processing failed unexpectedly, see the server log';
  await finishUser(deps, { workflow, task, lease, outcome: 'failed', step: { type, errorMessage } });
}
