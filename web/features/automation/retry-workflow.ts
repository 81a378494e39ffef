import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { workflowsPath } from './get-workflows.ts';

/** The outcome is told by the browser's own alert. */
export function useRetryWorkflow() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (signalId: string) =>
      requestJson<unknown>(`/api/automation/trigger/${encodeURIComponent(signalId)}`, { method: 'POST' }),
    onSuccess: async () => {
      window.alert('Workflow retry triggered successfully');
      await client.invalidateQueries({ queryKey: [workflowsPath] });
    },
    onError: (error) =>
      window.alert(
        error instanceof ApiError ? 'Failed to trigger workflow retry' : 'Error triggering workflow retry',
      ),
  });
}
