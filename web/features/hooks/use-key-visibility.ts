import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import type { Webhook } from '#contract/hooks.ts';
import { masked } from './webhook-urls.ts';
import { webhooksQuery } from './webhooks.ts';

/** As long as the server answers with the whole key after the password. */
const VISIBLE_MS = 5 * 60_000;

/** Whether the key is shown. It is hidden, and forgotten, after five minutes and when the screen is left. */
export function useKeyVisibility(hook: Webhook | null) {
  const client = useQueryClient();
  const [untilMs, setUntilMs] = useState<number | null>(null);

  const hide = useCallback(() => {
    setUntilMs(null);
    forgetKey(client);
  }, [client]);

  useEffect(() => {
    if (untilMs === null) return;
    const timer = setTimeout(hide, untilMs - Date.now());
    // A machine that slept did not count on.
    const look = () => {
      if (Date.now() >= untilMs) hide();
    };
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [untilMs, hide]);

  useEffect(() => () => forgetKey(client), [client]);

  return {
    keyVisible: untilMs !== null && hook?.masked === false,
    showKey: (sinceMs: number) => setUntilMs(sinceMs + VISIBLE_MS),
    hideKey: hide,
  };
}

function forgetKey(client: QueryClient): void {
  client.setQueryData(webhooksQuery.queryKey, (hooks) => hooks?.map(masked));
}
