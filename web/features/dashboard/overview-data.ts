import { useQuery } from '@tanstack/react-query';
import type { OverviewAnswer } from '#contract/overview.ts';
import { usePoll } from '../../lib/live/live-context.tsx';

export const overviewPath = '/api/overview';

/** Polled too, because profit moves with the price, which no event announces. */
const REFRESH_MS = 10_000;

/** Of all accounts for administrators, of the own one for others. */
export const useOverview = ({ isAdmin, everyMs = REFRESH_MS }: { isAdmin: boolean; everyMs?: number }) =>
  useQuery<OverviewAnswer>({
    queryKey: [isAdmin ? overviewPath : '/api/my-overview'],
    staleTime: 0,
    refetchInterval: usePoll(everyMs),
  });
