import { manualTriggerAllowed } from '#domain/eligibility/trading-mode.ts';
import { explainFailure } from '#domain/workflow/workflow-lifecycle.ts';
import type { Deps } from '#server/deps.ts';
import { findNewestWorkflow } from '#server/engine/records/workflows.store.ts';
import { findSignal } from '#server/ingest/stored-signals.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import { isUniqueViolation } from '#server/platform/db/database-errors.ts';
import { workflows } from '#server/platform/db/schema.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { timeOrderedId } from '#server/platform/ids.ts';

type TriggerDeps = Pick<Deps, 'audit' | 'db' | 'clock' | 'config' | 'jobs'>;

interface Trigger {
  signalId: string;
  username: string;
  actor: AuditActor;
}

/** Starts a signal's workflow for an operator, unless one of its workflows is still running. */
export async function triggerWorkflow(
  deps: TriggerDeps,
  { signalId, username, actor }: Trigger,
): Promise<string> {
  const reason = `Manual trigger by ${username}`;
  return await createManualWorkflow(deps, { signalId, reason, actor, action: 'workflow triggered' });
}

/** Only the newest workflow's failure can be retried. */
export async function retryWorkflow(
  deps: TriggerDeps,
  { signalId, username, actor }: Trigger,
): Promise<string> {
  assertAllowed(deps);
  const newest = await findNewestWorkflow(deps.db, signalId);
  if (newest === null) throw new AppError('signalNotFound');
  if (newest.status !== 'failed') throw new AppError('workflowNotFailed');
  const reason = `Retry of ${newest.id} by ${username}`;
  return await createManualWorkflow(deps, { signalId, reason, actor, action: 'workflow retried' });
}

/** Hiding the button is not enough: the server refuses as well. */
function assertAllowed({ config }: TriggerDeps): void {
  const state = { environment: config.appEnv, isDeployment: config.deploymentId !== null };
  if (!manualTriggerAllowed(state)) throw new AppError('manualTriggerDisabled');
}

async function createManualWorkflow(
  deps: TriggerDeps,
  {
    signalId,
    reason,
    actor,
    action,
  }: Pick<Trigger, 'signalId' | 'actor'> & {
    reason: string;
    action: 'workflow triggered' | 'workflow retried';
  },
): Promise<string> {
  assertAllowed(deps);
  const signal = await findSignal(deps.db, signalId);
  if (signal === null) throw new AppError('signalNotFound');
  try {
    return await deps.db.transaction(async (tx) => {
      // Created inside the transaction, like all time-ordered ids: sums cover rows up to an id older than any open
      // transaction.
      const id = timeOrderedId();
      await tx.insert(workflows).values({
        id,
        signalId,
        trigger: 'manual',
        triggerReason: reason,
        status: 'pending',
        token: signal.token,
        processor: signal.processor,
        createdAt: deps.clock.now(),
      });
      await deps.jobs.send(tx, 'run-workflow', { workflowId: id });
      await deps.audit.record(tx, {
        actor,
        action,
        subject: { kind: 'workflow', id, name: signal.token },
        after: { signalId, reason },
      });
      return id;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const { failureType, message } = explainFailure('CONCURRENCY_CONFLICT', { token: signal.token });
    throw new AppError('workflowRunning', { message, failureType, cause: error });
  }
}
