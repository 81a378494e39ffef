import { queryOptions, useQuery } from '@tanstack/react-query';
import type { AttentionAnswer } from '#contract/attention.ts';
import { requestJson } from './api-client.ts';

const attentionPath = '/api/attention';
/** As often as the environment status. */
const REFRESH_MS = 30_000;

const attentionQuery = queryOptions({
  queryKey: [attentionPath],
  queryFn: ({ signal }) => requestJson<AttentionAnswer>(attentionPath, { signal }),
  staleTime: 0,
  refetchInterval: REFRESH_MS,
});

/** Administrators only; polled while a screen shows it. */
export const useAttention = () => useQuery(attentionQuery);
