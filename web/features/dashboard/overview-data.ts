import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import type { OverviewAnswer } from '#contract/overview.ts';
import type { PerformanceAnswer } from '#contract/performance.ts';
import { usePoll } from '../../lib/live/live-context.tsx';
import { useSession } from '../../lib/session.ts';
import { startOf } from './dashboard-range.ts';

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

/** Closed trades and ended orders of the chosen range. */
export interface RangeResults {
  /** 'in 30 d' */
  words: string;
  net: string;
  gross: string;
  unknown: number;
  wins: { won: number; trades: number };
  fills: { filled: number; orders: number };
}

const WORDS = { '30d': 'in 30 d', all: 'of all time' };
/** Told by events when a trade closes; orders that end without a fill are not. */
const RESULTS_REFRESH_MS = 60_000;

export interface UnknownResults {
  words: string;
  /** Why they are not known. */
  missing: string;
}

/** Those of the last 7 days come with the overview; they also stand beside today's. */
export function useRangeResults(answer: OverviewAnswer): RangeResults | UnknownResults {
  const { displayTimezone } = useSession();
  const { range } = useSearch({ from: '/' });
  const isOfWeek = range === undefined || range === 'today';
  const { data, isError } = useQuery<PerformanceAnswer>({
    queryKey: ['/api/performance', { from: startOf(range, displayTimezone) }],
    enabled: !isOfWeek,
    refetchInterval: usePoll(RESULTS_REFRESH_MS),
  });
  if (isOfWeek) {
    const { net7d, wins, fills } = answer;
    return { words: 'in 7 d', net: net7d.amount, gross: net7d.gross, unknown: net7d.unknown, wins, fills };
  }
  const words = WORDS[range];
  if (data === undefined) return { words, missing: isError ? 'could not be read' : 'being added up' };
  const { net, gross, unknown, wins, trades, orders, filled } = data.totals;
  return {
    words,
    net,
    gross,
    unknown: unknown.net,
    wins: { won: wins, trades: trades - unknown.net },
    fills: { filled, orders },
  };
}
