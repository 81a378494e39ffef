import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useAllUsers } from '#web/lists/use-all-users.ts';
import { ApiError, requestJson } from '../../lib/api-client.ts';

export const workflowsPath = '/api/automation-workflows';

/** Refetched whenever a dialog opens, so that it shows the current state. */
export const useWorkflowPart = <Part>(workflowId: string, part: 'steps' | 'users') =>
  useQuery<Part>({ queryKey: [`${workflowsPath}/${encodeURIComponent(workflowId)}/${part}`], staleTime: 0 });

/** Usernames by id. For unknown ids, and until the list loads, returns the name at hand, else the id. */
export function useUsernames(): (userId: string, atHand?: string) => string {
  const names = new Map(useAllUsers().data?.map(({ id, username }) => [id, username]));
  return (userId, atHand) => names.get(userId) || atHand || userId;
}

/** Reports the outcome in a browser alert. */
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
