import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Delivery, Webhook } from '#contract/hooks.ts';
import { requestJson } from '../../lib/api-client.ts';

export const webhooksPath = '/api/hooks';

export const webhooksQuery = queryOptions({
  queryKey: [webhooksPath],
  queryFn: ({ signal }) => requestJson<Webhook[]>(webhooksPath, { signal }),
});

/** Only the first webhook is used; a user has at most one (part 1 §3). */
export const useWebhook = () =>
  useQuery({ ...webhooksQuery, select: (hooks): Webhook | null => hooks[0] ?? null });

export const deliveriesPath = (hookId: string) => `${webhooksPath}/${encodeURIComponent(hookId)}/deliveries`;

export const useDeliveries = (hookId: string) =>
  useQuery({
    queryKey: [deliveriesPath(hookId)],
    queryFn: ({ signal }) => requestJson<Delivery[]>(deliveriesPath(hookId), { signal }),
  });
