import { reasonOfSkip } from './denials.ts';
import type { OutcomeKind } from './outcome-kinds.ts';
import { isWorkflowEnded, type WorkflowStatus } from './workflow-lifecycle.ts';

export interface WorkflowOutcome {
  kind: OutcomeKind;
  /** Eligible users with a fill, without one, and without an order. */
  filled: number;
  failed: number;
  skipped: number;
  /** Why users did not trade: the most frequent reason, of failed users if there are any. */
  topReason: string | null;
}

/** Users of a workflow with the same result for the same reason. */
export interface UsersWithResult {
  /** Null for users who are not eligible. */
  result: 'waiting' | 'running' | 'success' | 'skipped' | 'failed' | null;
  reason: string | null;
  users: number;
}

/** The outcome of a workflow from its status, its own error and the results of its users, in the order of trading. */
export function workflowOutcome({
  status,
  error,
  results,
}: {
  status: WorkflowStatus;
  error: string | null;
  results: readonly UsersWithResult[];
}): WorkflowOutcome {
  const isEnded = isWorkflowEnded(status);
  const isSkipped = ({ result }: UsersWithResult) => result === 'skipped';
  // A user whose part the workflow's end cut off did not trade because the workflow failed.
  const isFailed = ({ result }: UsersWithResult) =>
    result === 'failed' || (isEnded && (result === 'waiting' || result === 'running'));
  const counts = {
    filled: countUsers(results.filter(({ result }) => result === 'success')),
    failed: countUsers(results.filter(isFailed)),
    skipped: countUsers(results.filter(isSkipped)),
  };
  const kind = outcomeKind(status, counts);
  if (kind === 'running' || kind === 'filled') return { kind, ...counts, topReason: null };
  const isCutOff = kind === 'failed' || kind === 'aborted';
  const topReason =
    (isCutOff ? error : null) ??
    mostFrequentReason(results.filter(isFailed)) ??
    mostFrequentReason(results.filter(isSkipped)) ??
    error ??
    mostFrequentReason(results.filter(({ result }) => result === null));
  return { kind, ...counts, topReason };
}

function outcomeKind(
  status: WorkflowStatus,
  { filled, failed, skipped }: Pick<WorkflowOutcome, 'filled' | 'failed' | 'skipped'>,
): OutcomeKind {
  if (!isWorkflowEnded(status)) return 'running';
  if (filled > 0) return failed + skipped > 0 ? 'partial' : 'filled';
  if (status === 'failed' || status === 'aborted') return status;
  return failed > 0 ? 'not_filled' : 'skipped';
}

const countUsers = (results: readonly UsersWithResult[]) =>
  results.reduce((sum, { users }) => sum + users, 0);

/** Reasons that differ in their figures only count as one; the first of them is given. Of equals the earlier one. */
function mostFrequentReason(results: readonly UsersWithResult[]): string | null {
  const counted = new Map<string, { reason: string; users: number }>();
  for (const { reason, users } of results) {
    if (reason === null || reason === '') continue;
    const key = reason.replaceAll(/\d[\d.,:]*/g, '#');
    const known = counted.get(key);
    if (known === undefined) counted.set(key, { reason: reasonOfSkip(reason), users });
    else known.users += users;
  }
  const [first] = [...counted.values()].sort((a, b) => b.users - a.users);
  return first?.reason ?? null;
}

/** A count that an answer lacks is a dash. */
const shown = (count: number): string => (Number.isFinite(count) ? String(count) : '–');

/** The outcome in words: 'Filled 3/3', 'Partial 2/3', 'Not filled 0/3', 'Skipped 3'. Counts are of eligible users. */
export function outcomeText({ kind, filled, failed, skipped }: Omit<WorkflowOutcome, 'topReason'>): string {
  const ratio = `${shown(filled)}/${shown(filled + failed + skipped)}`;
  switch (kind) {
    case 'running':
      return filled > 0 ? `Running, ${filled} filled` : 'Running';
    case 'filled':
      return `Filled ${ratio}`;
    case 'partial':
      return `Partial ${ratio}`;
    case 'not_filled':
      return `Not filled ${ratio}`;
    case 'skipped':
      return skipped === 0 ? 'Nobody eligible' : `Skipped ${shown(skipped)}`;
    case 'aborted':
    case 'failed':
      return 'Not traded';
    default:
      // A kind of another version.
      return '';
  }
}
