/** What a workflow came to: `filled` and `partial` only when somebody traded. */
export const OUTCOME_KINDS = [
  'running',
  'filled',
  'partial',
  'not_filled',
  'skipped',
  'aborted',
  'failed',
] as const;
export type OutcomeKind = (typeof OUTCOME_KINDS)[number];
