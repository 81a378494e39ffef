import {
  explainFailure,
  type FailureExplanation,
  PIPELINE_STEPS,
  type PipelineStepType,
} from '#domain/workflow/workflow-lifecycle.ts';
import type { EngineDeps } from '#server/deps.ts';
import { endWorkflow } from '#server/engine/records/end-users.ts';
import {
  endedStep,
  listSteps,
  pipelineStep,
  processorName,
  type StepEnd,
  type StepStart,
  type StepWrite,
  startedStep,
  writeSteps,
} from '#server/engine/records/workflow-steps.store.ts';
import {
  changeWorkflowStatus,
  countFailedTry,
  type FoundWorkflow,
  findWorkflowWithSignal,
  type WorkflowRow,
} from '#server/engine/records/workflows.store.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { isDatabaseUnavailable } from '#server/platform/db/database-errors.ts';
import { assertHeld, type Lease, LeaseLostError, withLease } from '#server/platform/jobs/leases.ts';
import { PIPELINE, type PipelineWork, type StepOutcome } from './pipeline.ts';

/** A signal that cannot be processed must neither be retried forever nor delay others. */
const TRIES = 3;
export const HELD_RETRY_MS = 1_000;

/**
 * Runs a workflow's pipeline as far as it can go now. I1: it ends in a terminal state. After a crash it continues after
 * the last recorded step; a step's record and its decision are one transaction.
 */
export async function runWorkflow(deps: EngineDeps, workflowId: string): Promise<void> {
  const { db, clock, log } = deps;
  const options = { db, clock, key: `workflow:${workflowId}`, holder: deps.config.instanceId, log };
  let afterwards: (() => void) | undefined;
  const leased = await withLease(options, async (lease) => {
    const found = await findWorkflowWithSignal(db, workflowId);
    if (found === null || isEnded(found.workflow)) return;
    const run = createRun(deps, { lease, ...found });
    try {
      afterwards = await runSteps(deps, run, found);
    } catch (error) {
      if (error instanceof LeaseLostError) return;
      await countFailure(deps, { run, workflow: found.workflow, error });
    }
  });
  // Not before: what it causes may need the lease.
  afterwards?.();
  // The holder may be dead, or about to wait for the event that this job announces: send it again.
  if (!leased.held) {
    await deps.jobs.send(deps.db, 'run-workflow', { workflowId }, { waitMs: HELD_RETRY_MS });
  }
}

const isEnded = ({ status }: WorkflowRow) => status !== 'pending' && status !== 'processing';

/** The part of a pipeline that is not committed yet, and the step in progress. */
interface Run {
  readonly startedAt: Date;
  begin(start: StepStart): void;
  end(end: StepEnd, writes?: (tx: Tx) => Promise<void>): void;
  note(metadata: unknown): void;
  /** One transaction for all of it, fenced by the lease. */
  commit: PipelineWork['commit'];
  /** The step that failed unexpectedly; drops what had not been committed, but not the steps that ended before. */
  abandon(): StepStart | null;
}

interface Uncommitted {
  start: StepStart;
  write: StepWrite;
  writes: ((tx: Tx) => Promise<void>) | null;
}

function createRun(deps: EngineDeps, { lease, workflow }: { lease: Lease; workflow: WorkflowRow }): Run {
  const startedAt = workflow.startedAt ?? deps.clock.now();
  let isNew = workflow.status === 'pending';
  let uncommitted: Uncommitted[] = [];
  let current: Uncommitted | null = null;

  function change(write: StepWrite, writes: Uncommitted['writes'] = null): void {
    if (current === null) throw new Error('no step is in progress');
    Object.assign(current, { write, writes });
    if (!uncommitted.includes(current)) uncommitted.push(current);
  }

  return {
    startedAt,
    begin(start) {
      current = { start, write: startedStep(start), writes: null };
      uncommitted.push(current);
    },
    end(end, writes) {
      if (current !== null) change(endedStep(current.start, end), writes);
    },
    note(metadata) {
      if (current !== null) change({ ...startedStep(current.start), metadata });
    },
    async commit(also) {
      const all = uncommitted;
      const result = await deps.db.transaction(async (tx) => {
        await assertHeld(tx, lease);
        if (isNew) {
          await changeWorkflowStatus(tx, { id: workflow.id, status: 'processing', at: startedAt });
        }
        await writeSteps(
          tx,
          all.map(({ write }) => write),
        );
        for (const { writes } of all) await writes?.(tx);
        return await also(tx);
      });
      isNew = false;
      // Steps may have begun or ended meanwhile; those are for the next commit.
      uncommitted = uncommitted.filter((one) => !all.includes(one));
      return result;
    },
    abandon() {
      const withWrites = uncommitted.findIndex(({ writes }) => writes !== null);
      const before = withWrites === -1 ? uncommitted : uncommitted.slice(0, withWrites);
      uncommitted = before.filter((one) => one !== current && one.write.completedAt !== undefined);
      return current?.start ?? null;
    },
  };
}

async function runSteps(
  deps: EngineDeps,
  run: Run,
  { workflow, signal, canary, rotation }: FoundWorkflow,
): Promise<(() => void) | undefined> {
  const recorded = workflow.status === 'pending' ? [] : await listSteps(deps.db, workflow.id);
  const done = recorded.filter(({ status }) => status !== 'processing');
  const work: PipelineWork = {
    deps,
    workflow: { ...workflow, startedAt: run.startedAt },
    signal,
    strategy: { canary, rotation },
    outputs: new Map(done.map((step) => [step.stepType as PipelineStepType, step.outputData])),
    prefetched: null,
    commit: run.commit,
  };
  for (const { type, number } of PIPELINE_STEPS) {
    if (done.some(({ stepNumber }) => stepNumber === number)) continue;
    const about = { inputData: PIPELINE[type].input(work), processorName: processorName(deps) };
    run.begin(pipelineStep(type, { workflowId: workflow.id, ...about, at: deps.clock.now() }));
    const outcome = await PIPELINE[type].run(work);
    if (outcome.kind !== 'completed') {
      await finish(work, run, outcome);
      return outcome.kind === 'waiting' ? outcome.afterwards : undefined;
    }
    run.end({ status: 'completed', outputData: outcome.output, at: deps.clock.now() }, outcome.writes);
    work.outputs.set(type, outcome.output);
  }
}

/** Commits the last outcome of the pipeline for now. */
async function finish(
  { deps, workflow }: PipelineWork,
  run: Run,
  outcome: Exclude<StepOutcome, { kind: 'completed' }>,
): Promise<void> {
  const at = deps.clock.now();
  const endWith = (status: 'completed' | 'failed' | 'aborted', failure?: FailureExplanation) =>
    run.commit((tx) => endWorkflow(tx, { deps, workflow, status, at, failure }));
  switch (outcome.kind) {
    case 'waiting':
      run.note(outcome.metadata);
      return await run.commit(outcome.writes ?? (async () => {}));
    case 'handed-over':
      return await run.commit(outcome.writes ?? (async () => {}));
    case 'skipped':
      run.end({ status: 'skipped', outputData: outcome.output, at });
      return await endWith('completed');
    default:
      run.end({ status: outcome.kind, errorMessage: outcome.failure.message, at });
      return await endWith(outcome.kind, outcome.failure);
  }
}

async function countFailure(
  deps: EngineDeps,
  { run, workflow, error }: { run: Run; workflow: WorkflowRow; error: unknown },
): Promise<void> {
  // An unreachable database is not the signal's fault.
  if (isDatabaseUnavailable(error)) throw error;
  const tries = await countFailedTry(deps.db, workflow.id);
  deps.log.error({ err: error, workflowId: workflow.id, tries }, 'a workflow step ended unexpectedly');
  if (tries < TRIES) throw error;
  const at = deps.clock.now();
  const step = run.abandon();
  const failure = explainFailure('PROCESSING_ERROR', {
    step: step?.stepName ?? 'Workflow',
    detail: 'an unexpected error, see the server log',
  });
  run.end({ status: 'failed', errorMessage: failure.message, at });
  await run.commit((tx) => endWorkflow(tx, { deps, workflow, status: 'failed', failure, at }));
}
