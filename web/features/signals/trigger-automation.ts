import { useMutation, useQueryClient } from '@tanstack/react-query';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { signalsPath } from './get-signals.ts';

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
