import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ExecutionLogs, OrdersInDoubt, PositionMakerStatus } from '#contract/position-maker.ts';
import { requestJson } from '../../lib/api-client.ts';
import { usePoll } from '../../lib/live/live-context.tsx';

export const positionMakerPath = '/api/position-maker';
const statusPath = `${positionMakerPath}/status`;
const logsPath = `${positionMakerPath}/logs`;
const inDoubtPath = `${positionMakerPath}/orders-in-doubt`;

const STATUS_REFRESH_MS = 3_000;
const LOGS_REFRESH_MS = 5_000;

/** Who comes back to the screen sees how things stand now, and not first how they stood. */
export const usePositionMakerStatus = () =>
  useQuery({
    queryKey: [statusPath],
    queryFn: ({ signal }) => requestJson<PositionMakerStatus>(statusPath, { signal }),
    staleTime: 0,
    refetchInterval: usePoll(STATUS_REFRESH_MS),
  });

export const useExecutionLogs = () =>
  useQuery({
    queryKey: [logsPath],
    queryFn: ({ signal }) => requestJson<ExecutionLogs>(logsPath, { signal }),
    staleTime: 0,
    refetchInterval: usePoll(LOGS_REFRESH_MS),
  });

export const useOrdersInDoubt = () =>
  useQuery({
    queryKey: [inDoubtPath],
    queryFn: ({ signal }) => requestJson<OrdersInDoubt>(inDoubtPath, { signal }),
    staleTime: 0,
    refetchInterval: usePoll(LOGS_REFRESH_MS),
  });

/** Fetches all of them again. */
export function useRefreshPositionMaker(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await Promise.all(
      [statusPath, logsPath, inDoubtPath].map((path) => client.invalidateQueries({ queryKey: [path] })),
    );
  };
}
