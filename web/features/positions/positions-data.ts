import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { PositionsAnswer } from '#contract/positions.ts';
import { usePoll } from '../../lib/live/live-context.tsx';
import { CLOSED_SHOWN, type PositionsSearch } from './positions-search.ts';

export const positionsPath = '/api/positions';

const POLL_MS = 10_000;

/** Polled while the screen is visible, because profit moves with the price, which no event announces. */
export const usePositions = ({ userId, token, limit }: PositionsSearch) =>
  useQuery<PositionsAnswer>({
    queryKey: [positionsPath, { userId, token, limit: limit ?? CLOSED_SHOWN }],
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: usePoll(POLL_MS),
  });
