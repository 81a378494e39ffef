import { explainFailure, PIPELINE_STEPS } from '#domain/workflow-lifecycle.ts';
import { findSignal } from '#server/features/signals/signals.store.ts';
import { isDatabaseUnavailable } from '#server/platform/errors-unavailable.ts';
import { assertHeld, type Lease, LeaseLostError, withLease } from '#server/platform/leases.ts';
import { type AutomationDeps, processorName } from './automation-deps.ts';
import { endWorkflow } from './end-workflow.ts';
import { PIPELINE } from './pipeline.ts';
import type { PipelineWork, StepOutcome } from './pipeline-step.ts';
import { beginStep, endStep, listSteps, noteOnStep, type StepRow } from './workflow-steps.store.ts';
import { changeWorkflowStatus, countFailedTry, findWorkflow, type WorkflowRow } from './workflows.store.ts';

/** A signal that cannot be processed must not be tried for ever, nor hold up others (F22). */
const TRIES = 3;
export const HELD_RETRY_MS = 1_000;

/**
 * Brings a workflow's pipeline as far as it can be brought now. I1: it ends in a terminal state. Called again after
 * a crash it goes on behind the last step that was recorded; a step's record and what it decides are one transaction.
 */
export async function runWorkflow(deps: AutomationDeps, workflowId: string): Promise<void> {
  const key = `workflow:${workflowId}`;
  const leased = await withLease({ db: deps.db, key, holder: deps.config.instanceId }, async (lease) => {
    const workflow = await findWorkflow(deps.db, workflowId);
    if (workflow === null || isEnded(workflow)) return;
    try {
      await runSteps(deps, lease, workflow);
    } catch (error) {
      if (error instanceof LeaseLostError) return;
      await countFailure(deps, lease, workflow, error);
    }
  });
  // Whoever holds it may be dead, or about to wait for what this call announces: it must not get lost.
  if (!leased.held) {
    const after = new Date(deps.clock.now().getTime() + HELD_RETRY_MS);
    await deps.jobs.send(deps.db, 'run-workflow', { workflowId }, { after });
  }
}

const isEnded = ({ status }: WorkflowRow) => status !== 'pending' && status !== 'processing';

async function runSteps(deps: AutomationDeps, lease: Lease, workflow: WorkflowRow): Promise<void> {
  if (workflow.status === 'pending') {
    await deps.db.transaction(async (tx) => {
      await assertHeld(tx, lease);
      await changeWorkflowStatus(tx, { id: workflow.id, status: 'processing', at: deps.clock.now() });
    });
  }
  const signal = await findSignal(deps.db, workflow.signalId);
  if (signal === null) throw new Error(`workflow ${workflow.id} has no signal`);
  const done = new Map((await listSteps(deps.db, workflow.id)).map((step) => [step.stepNumber, step]));
  const startedAt = workflow.startedAt ?? deps.clock.now();
  const work: PipelineWork = {
    deps,
    lease,
    workflow: { ...workflow, startedAt },
    signal,
    outputs: outputsOf(done),
  };
  const [first, ...rest] = PIPELINE_STEPS.filter(
    ({ number }) => (done.get(number)?.status ?? 'processing') === 'processing',
  );
  if (first === undefined) return;
  await beginStep(deps.db, describeStep(work, first));
  for (let step: PipelineStepInfo | undefined = first; step !== undefined; ) {
    const key = { workflowId: workflow.id, stepNumber: step.number };
    const outcome: StepOutcome = await PIPELINE[step.type].run(work);
    if (outcome.kind === 'waiting') return await noteOnStep(deps.db, key, outcome.metadata);
    if (outcome.kind === 'completed') work.outputs.set(step.number, outcome.output);
    const isLast: boolean = outcome.kind !== 'completed' || outcome.last === true;
    step = isLast ? undefined : rest.shift();
    await recordStep(work, key, outcome, step);
  }
}

type PipelineStepInfo = (typeof PIPELINE_STEPS)[number];

const describeStep = (work: PipelineWork, { number, name, type }: PipelineStepInfo) => ({
  workflowId: work.workflow.id,
  stepNumber: number,
  stepName: name,
  stepType: type,
  userId: null,
  inputData: PIPELINE[type].input(work),
  processorName: processorName(work.deps),
  at: work.deps.clock.now(),
});

const outputsOf = (steps: Map<number, StepRow>) =>
  new Map([...steps].map(([number, { outputData }]) => [number, outputData]));

/** With the step's end goes the beginning of the next one: a commit is most of what a step costs. */
async function recordStep(
  work: PipelineWork,
  key: { workflowId: string; stepNumber: number },
  outcome: Exclude<StepOutcome, { kind: 'waiting' }>,
  next: PipelineStepInfo | undefined,
): Promise<void> {
  const { deps, lease, workflow } = work;
  const at = deps.clock.now();
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    if (outcome.kind === 'completed') {
      await outcome.alongside?.(tx);
      // The last step stays under way until the users' results are in.
      if (outcome.stepStaysOpen !== true) {
        await endStep(tx, { ...key, status: 'completed', outputData: outcome.output, at });
      }
      if (next !== undefined) await beginStep(tx, describeStep(work, next));
      return;
    }
    const { failure } = outcome;
    await endStep(tx, { ...key, status: outcome.kind, errorMessage: failure.message, at });
    await endWorkflow(tx, { deps, workflow, status: outcome.kind, failure, at });
  });
}

async function countFailure(
  deps: AutomationDeps,
  lease: Lease,
  workflow: WorkflowRow,
  error: unknown,
): Promise<void> {
  // A database that is away says nothing about the signal.
  if (isDatabaseUnavailable(error)) throw error;
  const tries = await countFailedTry(deps.db, workflow.id);
  deps.log.error({ err: error, workflowId: workflow.id, tries }, 'a workflow step ended unexpectedly');
  if (tries < TRIES) throw error;
  const at = deps.clock.now();
  const steps = await listSteps(deps.db, workflow.id);
  const step = steps.find(({ status, userId }) => status === 'processing' && userId === null);
  const failure = explainFailure('PROCESSING_ERROR', {
    step: step?.stepName ?? 'Workflow',
    detail: 'an unexpected error, see the server log',
  });
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    if (step !== undefined) {
      const { workflowId, stepNumber } = step;
      await endStep(tx, { workflowId, stepNumber, status: 'failed', errorMessage: failure.message, at });
    }
    await endWorkflow(tx, { deps, workflow, status: 'failed', failure, at });
  });
}
