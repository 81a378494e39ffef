import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { Webhook } from '#contract/hooks.ts';
import { requestJson } from '../../lib/api-client.ts';

export const webhooksPath = '/api/hooks';

export const webhookPath = (hookId: string) => `${webhooksPath}/${encodeURIComponent(hookId)}`;

export const deliveriesPath = (hookId: string) => `${webhookPath(hookId)}/deliveries`;

export const webhooksQuery = queryOptions({
  queryKey: [webhooksPath],
  queryFn: ({ signal }) => requestJson<Webhook[]>(webhooksPath, { signal }),
});

/** Only the first webhook is used; a user has at most one. */
export const useWebhook = () =>
  useQuery({ ...webhooksQuery, select: (hooks): Webhook | null => hooks[0] ?? null });

/** Refetches the webhook, which may have been created, renewed or deleted elsewhere. */
export function useRefreshWebhook(): () => void {
  const client = useQueryClient();
  return useCallback(() => void client.invalidateQueries({ queryKey: webhooksQuery.queryKey }), [client]);
}

/** The URL the charting platform posts signals to: page origin, inbound path and key. */
export const signalUrl = (origin: string, hookKey: string): string =>
  `${origin}/hooks/trading_view_signal?hkid=${hookKey}`;

export const priceUrl = (origin: string, hookKey: string): string =>
  `${origin}/hooks/trading_view_candler?hkid=${hookKey}`;

/** Same mask as the server's: the first four characters and an ellipsis. */
export const maskKey = (hookKey: string): string =>
  hookKey.endsWith('…') ? hookKey : `${hookKey.slice(0, 4)}…`;

export const masked = (hook: Webhook): Webhook => ({
  ...hook,
  hookKey: maskKey(hook.hookKey),
  masked: true,
});
