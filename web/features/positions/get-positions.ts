import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { PositionsAnswer } from '#contract/positions.ts';
import { requestJson } from '../../lib/api-client.ts';
import { usePoll } from '../../lib/live/live-context.tsx';
import { CLOSED_SHOWN, type PositionsSearch } from './positions-search.ts';

export const positionsPath = '/api/positions';

const REFRESH_MS = 10_000;

/** Profit moves with the price, which no event announces: polled while the screen is in sight. */
export function usePositions({ userId, token, limit }: PositionsSearch) {
  const params = { userId, token, limit: limit ?? CLOSED_SHOWN };
  return useQuery({
    queryKey: [positionsPath, params],
    queryFn: ({ signal }) => requestJson<PositionsAnswer>(positionsPath, { params, signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: usePoll(REFRESH_MS),
  });
}

const usersPath = '/api/users';
const tokensPath = '/api/signals/tokens';

/** The choices of the filters. */
export const useUsers = () =>
  useQuery({
    queryKey: [usersPath],
    queryFn: ({ signal }) => requestJson<{ id: string; username: string }[]>(usersPath, { signal }),
  });

export const useTokens = () =>
  useQuery({
    queryKey: [tokensPath],
    queryFn: ({ signal }) => requestJson<string[]>(tokensPath, { signal }),
  });
