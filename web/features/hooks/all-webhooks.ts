import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { AdminHook, AdminHookBody, AdminHooksAnswer } from '#contract/hooks.ts';
import { requestJson } from '../../lib/api-client.ts';
import { adminHooksPath } from '../../lib/webhook-of-user.ts';
import { webhooksQuery } from './webhooks.ts';

export const ALL_WEBHOOKS_PAGE_SIZE = 10;

/** A page of the webhooks of all users; the former one stays until it is there. */
export function useAllWebhooks(page: number) {
  const params = { page, limit: ALL_WEBHOOKS_PAGE_SIZE };
  return useQuery({
    queryKey: [adminHooksPath, params],
    queryFn: ({ signal }) => requestJson<AdminHooksAnswer>(adminHooksPath, { params, signal }),
    placeholderData: keepPreviousData,
  });
}

export type AnyWebhookChange =
  | { kind: 'suspend' | 'lift'; hook: AdminHook }
  | { kind: 'renew' | 'delete'; hook: AdminHook; password: string };

/** A change that still waits for its confirmation, or for the password. */
export type AskedChange = Pick<AnyWebhookChange, 'kind' | 'hook'>;

export function useChangeAnyWebhook() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: AnyWebhookChange) => {
      const path = `${adminHooksPath}/${encodeURIComponent(change.hook.id)}`;
      if (change.kind === 'delete') {
        return requestJson<unknown>(path, { method: 'DELETE', body: { password: change.password } });
      }
      const body: AdminHookBody =
        change.kind === 'renew'
          ? { generateNewKey: true, password: change.password }
          : { suspended: change.kind === 'suspend' };
      return requestJson<unknown>(path, { method: 'PUT', body });
    },
    // A refusal says that the list is out of date as well. One of the webhooks is shown above as one's own.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: [adminHooksPath] }),
        client.invalidateQueries({ queryKey: webhooksQuery.queryKey }),
      ]),
  });
}
