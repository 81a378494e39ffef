import {
  explainFailure,
  type FailureExplanation,
  PIPELINE_STEPS,
} from '#domain/workflow/workflow-lifecycle.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { isDatabaseUnavailable } from '#server/platform/db/database-errors.ts';
import { LeaseLostError, withLeaseAndRead } from '#server/platform/jobs/leases.ts';
import { type AutomationDeps, processorName } from './automation-deps.ts';
import { endWorkflow } from './end-workflow.ts';
import { PIPELINE, type PipelineWork, type StepOutcome } from './pipeline.ts';
import { createStepJournal, type StepJournal } from './step-journal.ts';
import { rememberSignal } from './workflow-inputs.ts';
import { listSteps, type StepStart } from './workflow-steps.store.ts';
import {
  changeWorkflowStatus,
  countFailedTry,
  findWorkflowWithSignal,
  type WorkflowRow,
} from './workflows.store.ts';

/** A signal that cannot be processed must neither be retried forever nor delay others. */
const TRIES = 3;
export const HELD_RETRY_MS = 1_000;

/**
 * Runs a workflow's pipeline as far as it can go now. I1: it ends in a terminal state. After a crash it continues after
 * the last recorded step; a step's record and its decision are one transaction.
 */
export async function runWorkflow(deps: AutomationDeps, workflowId: string): Promise<void> {
  const key = `workflow:${workflowId}`;
  const { db } = deps;
  const read = (connection: Queryable) => findWorkflowWithSignal(connection, workflowId);
  const leased = await withLeaseAndRead(
    { db, key, holder: deps.config.instanceId, log: deps.log, read },
    async (lease, found) => {
      if (found === null || isEnded(found.workflow)) return;
      const journal = createStepJournal({ db, lease });
      rememberSignal(db, workflowId, found.signal);
      try {
        await runSteps(deps, journal, found);
      } catch (error) {
        if (error instanceof LeaseLostError) return;
        await countFailure(deps, { workflow: found.workflow, journal, error });
      }
    },
  );
  // The holder may be dead, or about to wait for the event that this job announces: send it again.
  if (!leased.held) {
    await deps.jobs.send(deps.db, 'run-workflow', { workflowId }, { waitMs: HELD_RETRY_MS });
  }
}

const isEnded = ({ status }: WorkflowRow) => status !== 'pending' && status !== 'processing';

async function runSteps(
  deps: AutomationDeps,
  journal: StepJournal,
  { workflow, signal }: { workflow: WorkflowRow; signal: SignalRow },
): Promise<void> {
  const isNew = workflow.status === 'pending';
  const startedAt = workflow.startedAt ?? deps.clock.now();
  if (isNew) {
    journal.alongside((tx) =>
      changeWorkflowStatus(tx, { id: workflow.id, status: 'processing', at: startedAt }),
    );
  }
  const done = new Map(
    isNew ? [] : (await listSteps(deps.db, workflow.id)).map((step) => [step.stepNumber, step]),
  );
  const outputs = new Map([...done].map(([number, { outputData }]) => [number, outputData]));
  const work: PipelineWork = {
    deps,
    journal,
    workflow: { ...workflow, startedAt },
    signal,
    outputs,
    prefetched: null,
    selected: null,
  };
  for (const info of PIPELINE_STEPS) {
    if ((done.get(info.number)?.status ?? 'processing') !== 'processing') continue;
    const step = PIPELINE[info.type];
    journal.begin(describeStep(work, info));
    const run = () => step.run(work);
    const outcome = await (step.takesAWhile === true ? journal.writeDownDuring(run) : run());
    noteOutcome(work, outcome);
    if (outcome.kind !== 'completed') break;
    outputs.set(info.number, outcome.output);
  }
  await journal.writeLast();
}

type PipelineStepInfo = (typeof PIPELINE_STEPS)[number];

const describeStep = (work: PipelineWork, { number, name, type }: PipelineStepInfo): StepStart => ({
  workflowId: work.workflow.id,
  stepNumber: number,
  stepName: name,
  stepType: type,
  userId: null,
  inputData: PIPELINE[type].input(work),
  processorName: processorName(work.deps),
  at: work.deps.clock.now(),
});

function noteOutcome({ deps, workflow, journal }: PipelineWork, outcome: StepOutcome): void {
  const at = deps.clock.now();
  const endWith = (status: 'completed' | 'failed' | 'aborted', failure?: FailureExplanation) =>
    journal.alongside((tx) =>
      endWorkflow(tx, { deps, workflow, status, at, ...(failure === undefined ? {} : { failure }) }),
    );
  if (outcome.kind === 'waiting') journal.note(outcome.metadata);
  else if (outcome.kind === 'skipped') {
    journal.end({ status: 'skipped', outputData: outcome.output, at });
    endWith('completed');
  } else if ('failure' in outcome) {
    journal.end({ status: outcome.kind, errorMessage: outcome.failure.message, at });
    endWith(outcome.kind, outcome.failure);
  } else if (outcome.staysOpen !== true) {
    journal.end({ status: 'completed', outputData: outcome.output, at });
  }
}

async function countFailure(
  deps: AutomationDeps,
  { workflow, journal, error }: { workflow: WorkflowRow; journal: StepJournal; error: unknown },
): Promise<void> {
  // An unreachable database is not the signal's fault.
  if (isDatabaseUnavailable(error)) throw error;
  const tries = await countFailedTry(deps.db, workflow.id);
  deps.log.error({ err: error, workflowId: workflow.id, tries }, 'a workflow step ended unexpectedly');
  if (tries < TRIES) throw error;
  const at = deps.clock.now();
  const step = journal.abandon();
  const failure = explainFailure('PROCESSING_ERROR', {
    step: step?.stepName ?? 'Workflow',
    detail: 'an unexpected error, see the server log',
  });
  if (step !== null) journal.end({ status: 'failed', errorMessage: failure.message, at });
  journal.alongside((tx) => endWorkflow(tx, { deps, workflow, status: 'failed', failure, at }));
  await journal.writeDown();
}
