import { useQuery } from '@tanstack/react-query';
import type { PositionsAnswer } from '#contract/positions.ts';
import { requestJson } from '../../lib/api-client.ts';
import { usePoll } from '../../lib/live/live-context.tsx';

const myPositionsPath = '/api/my-positions';

const REFRESH_MS = 10_000;

/** Profit moves with the price, which no event announces: polled while the dashboard is in sight. */
export const useMyPositions = () =>
  useQuery({
    queryKey: [myPositionsPath],
    queryFn: ({ signal }) => requestJson<PositionsAnswer>(myPositionsPath, { signal }),
    staleTime: 0,
    refetchInterval: usePoll(REFRESH_MS),
  });
