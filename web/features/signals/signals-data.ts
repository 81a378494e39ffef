import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SignalStats } from '#contract/signals.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';

export const signalsPath = '/api/signals';

export const useSignalStats = () => useQuery<SignalStats>({ queryKey: [`${signalsPath}/stats`] });

/** The signal or one of its parts. Refetched whenever a dialog opens, so that it shows the current state. */
export const useSignalPart = <Part>(signalId: string, part = '') =>
  useQuery<Part>({ queryKey: [`${signalsPath}/${encodeURIComponent(signalId)}${part}`], staleTime: 0 });

/** Refetches all signal data on the screen. */
export function useRefreshSignals(): () => Promise<void> {
  const client = useQueryClient();
  return () =>
    client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith(signalsPath) });
}

export function useTriggerAutomation() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (signalId: string) =>
      requestJson<{ workflowId: string }>('/api/trigger-automation', { method: 'POST', body: { signalId } }),
    onSuccess: async ({ workflowId }) => {
      toastSuccess({ title: 'Workflow Triggered Successfully', message: `Workflow ${workflowId}` });
      await Promise.all([
        client.invalidateQueries({ queryKey: ['/api/automation-workflows'] }),
        client.invalidateQueries({ queryKey: [signalsPath] }),
      ]);
    },
    onError: (error) =>
      toastError({
        title: 'Failed to Trigger Workflow',
        message: serverMessage(error, 'Failed to trigger automation workflow'),
      }),
  });
}
