import { describe, expect, test } from 'vitest';
import { skipMessage } from './denials.ts';
import { WORKFLOW_STATUSES, type WorkflowStatus } from './workflow-lifecycle.ts';
import { outcomeText, type UsersWithResult, workflowOutcome } from './workflow-outcome.ts';

const ENDED = ['completed', 'failed', 'aborted'] as const;

/** `users` of each result, for the reason 'why <result>'. */
const users = (
  counts: Partial<Record<'success' | 'failed' | 'skipped' | 'waiting' | 'ineligible', number>>,
) =>
  Object.entries(counts).flatMap(([name, count]): UsersWithResult[] => {
    const result = name === 'ineligible' ? null : (name as Exclude<typeof name, 'ineligible'>);
    const reason = name === 'success' ? null : `why ${name}`;
    return count > 0 ? [{ result: result as UsersWithResult['result'], reason, users: count }] : [];
  });

const outcome = (
  status: WorkflowStatus,
  counts: Parameters<typeof users>[0],
  error: string | null = status === 'failed' || status === 'aborted' ? 'It stopped' : null,
) => workflowOutcome({ status, error, results: users(counts) });

const words = (...about: Parameters<typeof outcome>) => {
  const { kind, topReason, ...counts } = outcome(...about);
  return [kind, outcomeText({ kind, ...counts }), topReason];
};

describe('the outcome of a workflow', () => {
  test.each([
    ['all users traded', { success: 3 }, ['filled', 'Filled 3/3', null]],
    ['others were not eligible', { success: 3, ineligible: 9 }, ['filled', 'Filled 3/3', null]],
    ['one user failed', { success: 2, failed: 1 }, ['partial', 'Partial 2/3', 'why failed']],
    ['one user was skipped', { success: 2, skipped: 1 }, ['partial', 'Partial 2/3', 'why skipped']],
    [
      'some failed and more were skipped',
      { success: 1, failed: 1, skipped: 3 },
      ['partial', 'Partial 1/5', 'why failed'],
    ],
    ['all users failed', { failed: 3 }, ['not_filled', 'Not filled 0/3', 'why failed']],
    [
      'some failed and the others were skipped',
      { failed: 1, skipped: 2 },
      ['not_filled', 'Not filled 0/3', 'why failed'],
    ],
    ['all users were skipped', { skipped: 3, ineligible: 5 }, ['skipped', 'Skipped 3', 'why skipped']],
    ['nobody was eligible', { ineligible: 5 }, ['skipped', 'Nobody eligible', 'why ineligible']],
    ['there are no users', {}, ['skipped', 'Nobody eligible', null]],
  ] as const)('of a completed one in which %s', (_what, counts, expected) => {
    expect(words('completed', counts)).toEqual(expected);
  });

  test.each(['failed', 'aborted'] as const)(
    'of one that %s is its own error, unless somebody traded',
    (status) => {
      expect(words(status, {})).toEqual([status, 'Not traded', 'It stopped']);
      expect(words(status, { waiting: 2 })).toEqual([status, 'Not traded', 'It stopped']);
      expect(outcome(status, { waiting: 2, skipped: 1 })).toMatchObject({ filled: 0, failed: 2, skipped: 1 });
      expect(words(status, { failed: 1 }, null)).toEqual([status, 'Not traded', 'why failed']);
      expect(words(status, { success: 1, failed: 1 })).toEqual(['partial', 'Partial 1/2', 'why failed']);
    },
  );

  test.each(['pending', 'processing'] as const)('of one that is %s is not known yet', (status) => {
    expect(words(status, {})).toEqual(['running', 'Running', null]);
    expect(words(status, { success: 1, failed: 1, waiting: 1 })).toEqual([
      'running',
      'Running, 1 filled',
      null,
    ]);
    expect(outcome(status, { success: 1, failed: 1, waiting: 1 })).toMatchObject({
      filled: 1,
      failed: 1,
      skipped: 0,
    });
  });

  // Requirements: additions-outcome-1, additions-outcome-2
  test('is filled or partial exactly when somebody traded, whatever else happened', () => {
    const counts = [0, 1, 2];
    for (const status of ENDED) {
      for (const success of counts)
        for (const failed of counts)
          for (const skipped of counts)
            for (const waiting of counts) {
              const { kind, ...of } = outcome(status, { success, failed, skipped, waiting, ineligible: 1 });
              expect(['filled', 'partial'].includes(kind)).toBe(success > 0);
              expect(of).toMatchObject({ filled: success, failed: failed + waiting, skipped });
              expect(kind === 'filled').toBe(success > 0 && failed + skipped + waiting === 0);
            }
    }
    expect(WORKFLOW_STATUSES).toEqual(['pending', 'processing', ...ENDED]);
  });
});

describe('the reason', () => {
  const reasonOf = (...reasons: [string | null, number][]) =>
    workflowOutcome({
      status: 'completed',
      error: null,
      results: reasons.map(([reason, count]) => ({ result: 'skipped', reason, users: count })),
    }).topReason;

  test('is the most frequent one, of equals the first', () => {
    expect(reasonOf(['one', 1], ['other', 2])).toBe('other');
    expect(reasonOf(['one', 1], ['other', 1])).toBe('one');
    expect(reasonOf([null, 5], ['', 4], ['one', 1])).toBe('one');
    expect(reasonOf([null, 5])).toBeNull();
  });

  test('counts reasons together that differ in their figures only', () => {
    expect(reasonOf(['one', 2], ['Quantity 0.1 is below 1', 1], ['Quantity 0.25 is below 1', 2])).toBe(
      'Quantity 0.1 is below 1',
    );
  });

  test('leaves out what a step adds about the skip', () => {
    expect(reasonOf([skipMessage('ATR is required'), 1])).toBe('ATR is required');
  });
});
