import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import type { DEFAULT_WEBHOOK_NAME, Webhook } from '#contract/hooks.ts';
import { isStatus, requestJson } from '../../lib/api-client.ts';
import { toastError, toastFailure, toastSuccess } from '../../ui/toast.ts';
import { masked, useRefreshWebhook, webhookPath, webhooksPath, webhooksQuery } from './webhooks.ts';

const DEFAULT_NAME: typeof DEFAULT_WEBHOOK_NAME = 'Default Webhook';

type WebhookDialog =
  | 'renew-warning'
  | 'renew-password'
  | 'delete-warning'
  | 'delete-password'
  | 'view-key'
  | 'test-signal'
  | 'test-candle'
  | null;

type Change = { kind: 'create' } | { kind: 'renew' | 'delete'; hook: Webhook; password: string };

const DONE: Record<Change['kind'], { title: string; message: string }> = {
  create: { title: 'Webhook Created', message: 'Copy the URLs into your alerts.' },
  renew: { title: 'Webhook Renewed', message: 'The old key is no longer valid.' },
  delete: { title: 'Webhook Deleted', message: 'Alerts sent to it are refused from now on.' },
};

/** The user's webhooks after the change. */
async function send(change: Change): Promise<Webhook[]> {
  if (change.kind === 'create') {
    const created = await requestJson<Webhook>(webhooksPath, {
      method: 'POST',
      body: { name: DEFAULT_NAME },
    });
    // Keep only the mask of the key: the screen shows no key without the password.
    return [masked(created)];
  }
  const { hook, password } = change;
  const path = webhookPath(hook.id);
  if (change.kind === 'delete') {
    await requestJson(path, { method: 'DELETE', body: { password } });
    return [];
  }
  const body = { name: hook.name, generateNewKey: true, password };
  return [await requestJson<Webhook>(path, { method: 'PUT', body })];
}

/** State of the webhook card: its dialog, whether the key is visible, and the confirmed actions. */
export function useWebhookActions(hook: Webhook | null) {
  const client = useQueryClient();
  const [dialog, setDialog] = useState<WebhookDialog>(null);
  /** Copies the key or URL after its password was entered. */
  const [onRevealed, setOnRevealed] = useState<((hookKey: string) => void) | null>(null);
  const { keyVisible, showKey, hideKey } = useKeyVisibility(hook);
  const refresh = useRefreshWebhook();

  const close = () => {
    setDialog(null);
    setOnRevealed(null);
  };
  const closeAndFail = (message: string) => {
    close();
    toastError({ title: 'Error', message });
  };

  const change = useMutation({
    mutationFn: send,
    onSuccess: async (hooks, { kind }) => {
      // An answer from before the change must not replace what it made.
      await client.cancelQueries({ queryKey: webhooksQuery.queryKey });
      client.setQueryData(webhooksQuery.queryKey, hooks);
      if (kind === 'renew') showKey(Date.now());
      else hideKey();
      close();
      toastSuccess(DONE[kind]);
    },
    onError: (error, { kind }) => {
      // The webhook was created or deleted elsewhere, so the screen is outdated.
      if (isStatus(error, 404) || isStatus(error, 409)) {
        close();
        refresh();
      }
      toastFailure(error, `Failed to ${kind} webhook`);
    },
  });
  /** Verifies the password; the server then returns the whole key for five minutes. */
  const reveal = useMutation({
    mutationFn: async (password: string) => {
      // Taken before the request, so the key is hidden here before the server's five minutes end.
      const sinceMs = Date.now();
      await requestJson('/api/auth/verify-password', { method: 'POST', body: { password } });
      const hooks = await client.fetchQuery({ ...webhooksQuery, staleTime: 0 }).catch(() => null);
      return { sinceMs, hooks };
    },
    onSuccess: ({ sinceMs, hooks }) => {
      if (hooks === null) return closeAndFail('Failed to fetch webhooks');
      const [found] = hooks;
      if (found === undefined) return closeAndFail('Webhook not found');
      if (found.unreadable) return closeAndFail('The webhook key cannot be shown');
      showKey(sinceMs);
      toastSuccess({ title: 'Access Granted', message: 'Webhook key is now visible.' });
      onRevealed?.(found.hookKey);
      close();
    },
    // Only a 403 means a wrong password. The dialog stays open for another try.
    onError: (error) => {
      const otherwise = isStatus(error, 403) ? 'Invalid password' : 'The password could not be verified';
      toastFailure(error, otherwise, 'Access Denied');
    },
  });
  const changeWith = (kind: 'renew' | 'delete') => (password: string) =>
    hook ? change.mutate({ kind, hook, password }) : closeAndFail(`No webhook to ${kind}`);

  return {
    dialog,
    open: setDialog,
    close,
    keyVisible,
    hideKey,
    pending: change.isPending || reveal.isPending,
    /** Refetches the webhook before it is changed for good. */
    warn: (warning: 'renew-warning' | 'delete-warning') => {
      refresh();
      setDialog(warning);
    },
    askForKey: (then: ((hookKey: string) => void) | null) => {
      setOnRevealed(() => then);
      setDialog('view-key');
    },
    create: () => change.mutate({ kind: 'create' }),
    renew: changeWith('renew'),
    remove: changeWith('delete'),
    reveal: (password: string) => reveal.mutate(password),
  };
}

export type WebhookActions = ReturnType<typeof useWebhookActions>;

/** How long the server returns the whole key after a password check. */
const VISIBLE_MS = 5 * 60_000;

/** Whether the key is shown. It is hidden and forgotten after five minutes, and when the user leaves the screen. */
function useKeyVisibility(hook: Webhook | null) {
  const client = useQueryClient();
  const [untilMs, setUntilMs] = useState<number | null>(null);
  const forgetKey = useCallback(
    () => void client.setQueryData(webhooksQuery.queryKey, (hooks) => hooks?.map(masked)),
    [client],
  );
  const hideKey = useCallback(() => {
    setUntilMs(null);
    forgetKey();
  }, [forgetKey]);

  useEffect(() => {
    if (untilMs === null) return;
    const timer = setTimeout(hideKey, untilMs - Date.now());
    // Compare clock times, because timers stop while a machine sleeps.
    const look = () => Date.now() >= untilMs && hideKey();
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [untilMs, hideKey]);

  useEffect(() => forgetKey, [forgetKey]);

  return {
    keyVisible: untilMs !== null && hook?.masked === false,
    showKey: (sinceMs: number) => setUntilMs(sinceMs + VISIBLE_MS),
    hideKey,
  };
}
