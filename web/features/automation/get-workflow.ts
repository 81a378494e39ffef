import { useQuery } from '@tanstack/react-query';
import type { WorkflowStep } from '#contract/automation.ts';
import type { UserEligibility, WhyAnswer } from '#contract/signals.ts';
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

export const useAllUsers = () =>
  useQuery({
    queryKey: [usersPath],
    queryFn: ({ signal }) => requestJson<{ id: string; username: string }[]>(usersPath, { signal }),
    staleTime: 0,
  });

/** Names of users by their id; while the list is not there, or for unknown ids, the name at hand or the id itself. */
export function useUsernames(): (userId: string, atHand?: string) => string {
  const names = new Map(useAllUsers().data?.map(({ id, username }) => [id, username]));
  return (userId, atHand) => names.get(userId) || atHand || userId;
}

/** Why one user traded in this workflow or did not. */
export function useWorkflowWhy(options: { signalId: string; userId: string; workflowId: string }) {
  const { signalId, userId, workflowId } = options;
  const path = `/api/signals/${encodeURIComponent(signalId)}/why/${encodeURIComponent(userId)}`;
  const params = { workflowId };
  return useQuery({
    queryKey: [path, params],
    queryFn: ({ signal }) => requestJson<WhyAnswer>(path, { params, signal }),
    staleTime: 0,
  });
}
