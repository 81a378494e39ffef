import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { WorkflowsAnswer } from '#contract/automation.ts';
import { requestJson } from '../../lib/api-client.ts';
import { usePoll } from '../../lib/live/live-context.tsx';
import { type AutomationSearch, DEFAULT_PAGE_SIZE } from './automation-search.ts';

export const workflowsPath = '/api/automation-workflows';

const REFRESH_MS = 30_000;

export function useWorkflows({ page, limit, processor, status }: AutomationSearch) {
  const params = { page: page ?? 1, limit: limit ?? DEFAULT_PAGE_SIZE, processor, status };
  return useQuery({
    queryKey: [workflowsPath, params],
    queryFn: ({ signal }) => requestJson<WorkflowsAnswer>(workflowsPath, { params, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: usePoll(REFRESH_MS),
  });
}
