import { useQuery } from '@tanstack/react-query';
import type { SignalChart } from '#contract/charts.ts';
import type { PriceLogDetail } from '#contract/price-logs.ts';
import type { SignalDetail } from '#contract/signals.ts';
import { requestJson } from '../../lib/api-client.ts';

const signalPath = (signalId: string, part = '') => `/api/signals/${encodeURIComponent(signalId)}${part}`;

export function useSignal(signalId: string | undefined) {
  const path = signalPath(signalId ?? '');
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<SignalDetail>(path, { signal }),
    enabled: signalId !== undefined,
    staleTime: 0,
  });
}

/** The price log that belongs to the signal. */
export function usePriceLog(hashValue: string) {
  const path = `/api/price-logs/hash/${encodeURIComponent(hashValue)}`;
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<PriceLogDetail>(path, { signal }),
  });
}

export function useSignalChart(signalId: string) {
  const path = signalPath(signalId, '/chart');
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<SignalChart>(path, { signal }),
    staleTime: 0,
  });
}
