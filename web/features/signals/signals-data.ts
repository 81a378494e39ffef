import { useQuery, useQueryClient } from '@tanstack/react-query';
import { requestJson } from '../../lib/api-client.ts';
import { useChange } from '../../ui/use-change.ts';

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

export const useTriggerAutomation = () =>
  useChange({
    send: (signalId: string) =>
      requestJson<{ workflowId: string }>('/api/trigger-automation', { method: 'POST', body: { signalId } }),
    done: ({ workflowId }) => ({
      title: 'Workflow Triggered Successfully',
      message: `Workflow ${workflowId}`,
    }),
    failed: { title: 'Failed to Trigger Workflow', otherwise: 'Failed to trigger automation workflow' },
    refresh: ['/api/automation-workflows', signalsPath],
  });
