import type { FailureExplanation } from '#domain/workflow-lifecycle.ts';
import type { SignalRow } from '#server/features/signals/signals.store.ts';
import type { Tx } from '#server/platform/database/database.ts';
import type { Lease } from '#server/platform/leases.ts';
import type { AutomationDeps } from './automation-deps.ts';
import type { WorkflowRow } from './workflows.store.ts';

export interface PipelineWork {
  deps: AutomationDeps;
  lease: Lease;
  workflow: WorkflowRow & { startedAt: Date };
  signal: SignalRow;
  /** What the steps before gave, by step number; after a restart read back from their rows. */
  outputs: Map<number, unknown>;
}

export type StepOutcome =
  | {
      kind: 'completed';
      output: unknown;
      /** Written in the same transaction as the step's end. */
      alongside?: (tx: Tx) => Promise<void>;
      /** Nothing follows. */
      last?: boolean;
      stepStaysOpen?: boolean;
    }
  | { kind: 'failed' | 'aborted'; failure: FailureExplanation }
  /** Somebody else's end will wake this workflow again. */
  | { kind: 'waiting'; metadata: unknown };

export interface PipelineStep {
  input: (work: PipelineWork) => unknown;
  run: (work: PipelineWork) => Promise<StepOutcome>;
}
