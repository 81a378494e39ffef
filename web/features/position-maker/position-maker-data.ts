import { useQuery } from '@tanstack/react-query';
import type { ExecutionLogs, OrdersInDoubt, PositionMakerStatus } from '#contract/position-maker.ts';
import { usePoll } from '../../lib/live/live-context.tsx';

export const positionMakerPath = '/api/position-maker';

const PARTS = ['status', 'logs', 'orders-in-doubt'] as const;

/** Everything that the screen shows. */
export const positionMakerPaths = PARTS.map((part) => `${positionMakerPath}/${part}`);

const STATUS_POLL_MS = 3_000;
const LOGS_POLL_MS = 5_000;

/** Refetched on each visit, so that the screen never shows an earlier state. */
const usePart = <Answer>(part: (typeof PARTS)[number], pollMs: number) =>
  useQuery<Answer>({
    queryKey: [`${positionMakerPath}/${part}`],
    staleTime: 0,
    refetchInterval: usePoll(pollMs),
  });

export const usePositionMakerStatus = () => usePart<PositionMakerStatus>('status', STATUS_POLL_MS);
export const useExecutionLogs = () => usePart<ExecutionLogs>('logs', LOGS_POLL_MS);
export const useOrdersInDoubt = () => usePart<OrdersInDoubt>('orders-in-doubt', LOGS_POLL_MS);
