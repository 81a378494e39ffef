import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { Decision, DecisionsAnswer } from '#contract/decisions.ts';
import type { BadgeTone } from '../ui/badge.tsx';

export interface DecisionsFilter {
  page: number;
  limit: number;
  outcome?: string | undefined;
  reason?: string | undefined;
}

/** What was decided on the user, newest first. */
export const useDecisions = (userId: string, filter: DecisionsFilter) =>
  useQuery<DecisionsAnswer>({
    queryKey: [`/api/users/${encodeURIComponent(userId)}/decisions`, filter],
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

const RESULTS: Readonly<Record<string, [word: string, tone: BadgeTone]>> = {
  filled: ['Filled', 'success'],
  partial: ['Partly filled', 'warning'],
  not_filled: ['Not filled', 'failure'],
  skipped: ['Skipped', 'neutral'],
  not_eligible: ['Not eligible', 'neutral'],
  not_considered: ['Not traded', 'neutral'],
  running: ['Running', 'info'],
} satisfies Record<Decision['result'], [word: string, tone: BadgeTone]>;

export const decisionLook = (result: string): [word: string, tone: BadgeTone] =>
  RESULTS[result] ?? ['–', 'outline'];
