import { useQuery } from '@tanstack/react-query';
import type { AdminHook, AdminHooksAnswer } from '#contract/hooks.ts';
import { requestJson } from './api-client.ts';

export const adminHooksPath = '/api/admin/hooks';

/** The webhook of any user, for administrators; null where the user has none. */
export const useWebhookOfUser = (userId: string, options: { enabled: boolean }) =>
  useQuery({
    queryKey: [adminHooksPath, { userId }],
    queryFn: ({ signal }) =>
      requestJson<AdminHooksAnswer>(adminHooksPath, { params: { userId, page: 1, limit: 1 }, signal }),
    select: ({ hooks }): AdminHook | null => hooks[0] ?? null,
    staleTime: 0,
    ...options,
  });

export const whomItFeeds = ({ isAdmin }: Pick<AdminHook, 'isAdmin'>): string =>
  isAdmin ? 'signals for every eligible user' : 'signals for this user only';
