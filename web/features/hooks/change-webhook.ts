import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import type { DEFAULT_WEBHOOK_NAME, Webhook } from '#contract/hooks.ts';
import { requestJson } from '../../lib/api-client.ts';
import { webhooksPath, webhooksQuery } from './webhooks.ts';

const DEFAULT_NAME: typeof DEFAULT_WEBHOOK_NAME = 'Default Webhook';

const hookPath = (hook: Webhook) => `${webhooksPath}/${encodeURIComponent(hook.id)}`;

const store = (client: QueryClient, hooks: Webhook[]) => client.setQueryData(webhooksQuery.queryKey, hooks);

/** The answer carries the whole key, once. */
export function useCreateWebhook() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => requestJson<Webhook>(webhooksPath, { method: 'POST', body: { name: DEFAULT_NAME } }),
    onSuccess: (hook) => store(client, [hook]),
  });
}

export function useRenewWebhook() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ hook, password }: { hook: Webhook | null; password: string }) => {
      if (!hook) throw new Error('No webhook to renew');
      return requestJson<Webhook>(hookPath(hook), {
        method: 'PUT',
        body: { name: hook.name, generateNewKey: true, password },
      });
    },
    onSuccess: (hook) => store(client, [hook]),
  });
}

export function useDeleteWebhook() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ hook, password }: { hook: Webhook | null; password: string }) => {
      if (!hook) throw new Error('No webhook to delete');
      return requestJson<unknown>(hookPath(hook), { method: 'DELETE', body: { password } });
    },
    onSuccess: () => store(client, []),
  });
}

/** Verifies the password; afterwards the server answers with the whole key for five minutes. */
export function useRevealKey() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (password: string) => {
      await requestJson('/api/auth/verify-password', { method: 'POST', body: { password } });
      return client.fetchQuery({ ...webhooksQuery, staleTime: 0 });
    },
  });
}
