import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { EligibilityBreakdown } from '#contract/signals.ts';
import { requestJson } from '../../lib/api-client.ts';

export const signalsPath = '/api/signals';

/** The signal or one of its parts. Refetched whenever a dialog opens, so that it shows the current state. */
export const useSignalPart = <Part>(signalId: string, part = '') =>
  useQuery<Part>({ queryKey: [`${signalsPath}/${encodeURIComponent(signalId)}${part}`], staleTime: 0 });

/** Refetches all signal data on the screen. */
export function useRefreshSignals(): () => Promise<void> {
  const client = useQueryClient();
  return () =>
    client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith(signalsPath) });
}

const ELIGIBILITY_PATH = '/api/signal/check-eligibility';

/** Who would be eligible for the signal now. A query sent by POST; it changes nothing. */
export function useEligibility(signalId: string) {
  const body = { signalId };
  return useQuery({
    queryKey: [ELIGIBILITY_PATH, body],
    queryFn: ({ signal }) =>
      requestJson<EligibilityBreakdown>(ELIGIBILITY_PATH, { method: 'POST', body, signal }),
    staleTime: 0,
  });
}
