import type { PriceLogCandidate } from '#domain/sizing/price-log-match.ts';
import type { FailureExplanation } from '#domain/workflow/workflow-lifecycle.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { AutomationDeps } from './automation-deps.ts';
import type { CurrentPrice } from './current-prices.ts';
import type { StepJournal } from './step-journal.ts';
import type { WorkflowRow } from './workflows.store.ts';

export interface PipelineWork {
  deps: AutomationDeps;
  journal: StepJournal;
  workflow: WorkflowRow & { startedAt: Date };
  signal: SignalRow;
  /** What the steps before gave, by step number; after a restart read back from their rows. */
  outputs: Map<number, unknown>;
  /** What later steps need and the signal alone decides, where it has been asked for already. */
  asked: AskedAhead | null;
  /** The eligible users in the order of trading, where this run has selected them; none has been called for. */
  selected: readonly string[] | null;
}

export interface AskedAhead {
  match: Promise<PriceLogCandidate | null>;
  prices: Promise<CurrentPrice[]>;
}

export type StepOutcome =
  /** `staysOpen`: what it set going ends it. */
  | { kind: 'completed'; output: unknown; staysOpen?: true }
  | { kind: 'failed' | 'aborted'; failure: FailureExplanation }
  /** There is nothing to do, and the workflow is completed with it. */
  | { kind: 'skipped'; output: unknown }
  /** Somebody else's end will wake this workflow again. */
  | { kind: 'waiting'; metadata: unknown };

export interface PipelineStep {
  input: (work: PipelineWork) => unknown;
  /** Asks somebody who may take a while to answer: that it is under way is written down meanwhile. */
  takesAWhile?: true;
  run: (work: PipelineWork) => Promise<StepOutcome>;
}
