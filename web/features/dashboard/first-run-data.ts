import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { FirstRunAnswer } from '#contract/first-run.ts';
import { usePoll } from '../../lib/live/live-context.tsx';
import { toastSuccess } from '../../ui/toast.ts';

export const firstRunPath = '/api/first-run';

/** Changes are announced; the poll is for a stream that is down. */
const REFRESH_MS = 10_000;

/** The steps to the first fill, for administrators. Not fetched again once an order was filled. */
export function useFirstRun() {
  const every = usePoll(REFRESH_MS);
  const firstRun = useQuery<FirstRunAnswer>({
    queryKey: [firstRunPath],
    staleTime: 0,
    enabled: ({ state }) => state.data?.filled !== true,
    refetchInterval: ({ state }) => (state.data?.filled === true ? false : every),
  });
  const wasWaiting = useRef(false);
  const { data } = firstRun;
  useEffect(() => {
    if (data === undefined) return;
    if (data.filled && wasWaiting.current) {
      const fill = data.steps.find(({ step }) => step === 'fill');
      toastSuccess({ title: 'First order filled', message: fill?.detail ?? '' });
    }
    wasWaiting.current = !data.filled;
  }, [data]);
  return firstRun;
}
