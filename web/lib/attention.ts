import { useQuery } from '@tanstack/react-query';
import type { AttentionAnswer } from '#contract/attention.ts';

/** Same interval as the environment status. */
const REFRESH_MS = 30_000;

/** For administrators only; polled while a screen shows it. */
export const useAttention = ({ enabled = true }: { enabled?: boolean } = {}) =>
  useQuery<AttentionAnswer>({
    queryKey: ['/api/attention'],
    staleTime: 0,
    refetchInterval: REFRESH_MS,
    enabled,
  });
