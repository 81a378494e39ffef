import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SIGNALS_PAGE_SIZE, SignalStats, SignalsAnswer } from '#contract/signals.ts';
import { requestJson } from '../../lib/api-client.ts';
import type { SignalsSearch } from './signals-search.ts';

export const signalsPath = '/api/signals';
export const PAGE_SIZE: typeof SIGNALS_PAGE_SIZE = 100;

export function useSignals({ page, token, action, timeframe, processor }: SignalsSearch) {
  const params = { page: page ?? 1, limit: PAGE_SIZE, token, action, processor, timeframe };
  return useQuery({
    queryKey: [signalsPath, params],
    queryFn: ({ signal }) => requestJson<SignalsAnswer>(signalsPath, { params, signal }),
    placeholderData: keepPreviousData,
  });
}

const statsPath = `${signalsPath}/stats`;

export const useSignalStats = () =>
  useQuery({
    queryKey: [statsPath],
    queryFn: ({ signal }) => requestJson<SignalStats>(statsPath, { signal }),
  });

/** Fetches everything again that the screen shows about signals. */
export function useRefreshSignals(): () => Promise<void> {
  const client = useQueryClient();
  return () =>
    client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith(signalsPath) });
}
