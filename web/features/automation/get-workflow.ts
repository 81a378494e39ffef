import { useQuery } from '@tanstack/react-query';
import type { WorkflowStep } from '#contract/automation.ts';
import type { UserEligibility } from '#contract/signals.ts';
import { requestJson } from '../../lib/api-client.ts';
import { workflowsPath } from './get-workflows.ts';

/** A dialog that is opened again shows how things stand now. */
function useWorkflowPart<Part>(workflowId: string, part: 'steps' | 'users') {
  const path = `${workflowsPath}/${encodeURIComponent(workflowId)}/${part}`;
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<Part>(path, { signal }),
    staleTime: 0,
  });
}

export const useWorkflowSteps = (workflowId: string) => useWorkflowPart<WorkflowStep[]>(workflowId, 'steps');

export const useWorkflowUsers = (workflowId: string) =>
  useWorkflowPart<(UserEligibility & { userId: string })[]>(workflowId, 'users');

const usersPath = '/api/users';

/** Names of users by their id; while the list is not there, or for unknown ids, the id itself. */
export function useUsernames(): (userId: string) => string {
  const users = useQuery({
    queryKey: [usersPath],
    queryFn: ({ signal }) => requestJson<{ id: string; username: string }[]>(usersPath, { signal }),
    staleTime: 0,
  });
  const names = new Map(users.data?.map(({ id, username }) => [id, username]));
  return (userId) => names.get(userId) ?? userId;
}
