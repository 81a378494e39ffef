import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import type { DEFAULT_WEBHOOK_NAME, Webhook } from '#contract/hooks.ts';
import { requestJson } from '../../lib/api-client.ts';
import { masked } from './webhook-urls.ts';
import { webhookPath, webhooksPath, webhooksQuery } from './webhooks.ts';

const DEFAULT_NAME: typeof DEFAULT_WEBHOOK_NAME = 'Default Webhook';

const store = (client: QueryClient, hooks: Webhook[]) => client.setQueryData(webhooksQuery.queryKey, hooks);

interface Confirmed {
  hook: Webhook;
  password: string;
}

/** The answer has the whole key; the screen shows no key without the password, so only its mask is kept. */
export function useCreateWebhook() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => requestJson<Webhook>(webhooksPath, { method: 'POST', body: { name: DEFAULT_NAME } }),
    onSuccess: (hook) => store(client, [masked(hook)]),
    // The mutation's own copy of the answer goes with the screen.
    gcTime: 0,
  });
}

export function useRenewWebhook() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ hook, password }: Confirmed) =>
      requestJson<Webhook>(webhookPath(hook.id), {
        method: 'PUT',
        body: { name: hook.name, generateNewKey: true, password },
      }),
    onSuccess: (hook) => store(client, [hook]),
  });
}

export function useDeleteWebhook() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ hook, password }: Confirmed) =>
      requestJson<unknown>(webhookPath(hook.id), { method: 'DELETE', body: { password } }),
    onSuccess: () => store(client, []),
  });
}

/** What became of the webhook in the meantime: `unreachable` when it could not be looked up. */
export interface Revealed {
  /** When the password was sent: the server's five minutes begin later. */
  sinceMs: number;
  hook: Webhook | null | 'unreachable';
}

/** Verifies the password; afterwards the server answers with the whole key for five minutes. */
export function useRevealKey() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (password: string): Promise<Revealed> => {
      const sinceMs = Date.now();
      await requestJson('/api/auth/verify-password', { method: 'POST', body: { password } });
      try {
        const [hook] = await client.fetchQuery({ ...webhooksQuery, staleTime: 0 });
        return { sinceMs, hook: hook ?? null };
      } catch {
        return { sinceMs, hook: 'unreachable' };
      }
    },
  });
}
