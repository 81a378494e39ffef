import { expect, test } from 'vitest';
import type { EligibilityBreakdown } from '#contract/signals.ts';
import { countReasons } from './eligibility-breakdown.tsx';

const decision = (
  username: string,
  layer: number | null,
  reason: string,
): EligibilityBreakdown['decisions'][number] => ({
  id: username,
  username,
  layer,
  reason,
  status: layer === null ? 'eligible' : 'not eligible',
  rule: 'a rule',
  saw: 'this',
  wanted: 'that',
});

test('counts the users excluded by a layer by reason, most frequent first', () => {
  const decisions = [
    decision('ann', 2, 'Trading is paused'),
    decision('bob', 2, 'Active trading is off'),
    decision('cid', 2, 'Active trading is off'),
    decision('dan', 1, 'User is inactive'),
    decision('eve', null, 'All eligibility criteria met'),
  ];
  expect(countReasons(decisions, 2)).toEqual([
    { reason: 'Active trading is off', usernames: ['bob', 'cid'] },
    { reason: 'Trading is paused', usernames: ['ann'] },
  ]);
  expect(countReasons(decisions, 4)).toEqual([]);
});
