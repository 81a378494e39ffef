import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import type { DEFAULT_WEBHOOK_NAME, Webhook } from '#contract/hooks.ts';
import { isStatus, requestJson } from '../../lib/api-client.ts';
import { toastError, toastFailure, toastSuccess } from '../../ui/toast.ts';
import { masked } from './webhook-urls.ts';
import { useRefreshWebhook, webhookPath, webhooksPath, webhooksQuery } from './webhooks.ts';

const DEFAULT_NAME: typeof DEFAULT_WEBHOOK_NAME = 'Default Webhook';

export type WebhookDialog =
  | 'renew-warning'
  | 'renew-password'
  | 'delete-warning'
  | 'delete-password'
  | 'view-key'
  | 'test-signal'
  | 'test-candle'
  | null;

interface Confirmed {
  hook: Webhook;
  password: string;
}

/** State of the webhook card: its dialog, whether the key is visible, and the confirmed actions. */
export function useWebhookActions(hook: Webhook | null) {
  const client = useQueryClient();
  const [dialog, setDialog] = useState<WebhookDialog>(null);
  /** Copies the key or URL after its password was entered. */
  const [onRevealed, setOnRevealed] = useState<((hookKey: string) => void) | null>(null);
  const { keyVisible, showKey, hideKey } = useKeyVisibility(hook);
  const refresh = useRefreshWebhook();

  const store = (hooks: Webhook[]) => client.setQueryData(webhooksQuery.queryKey, hooks);
  const close = () => {
    setDialog(null);
    setOnRevealed(null);
  };
  const closeAndFail = (message: string) => {
    close();
    toastError({ title: 'Error', message });
  };
  const explain = (otherwise: string) => (error: Error) => {
    // The webhook was created or deleted elsewhere, so the screen is outdated.
    if (isStatus(error, 404) || isStatus(error, 409)) {
      close();
      refresh();
    }
    toastFailure(error, otherwise);
  };

  const create = useMutation({
    // Keep only the mask of the key in the answer: the screen shows no key without the password.
    mutationFn: async () =>
      masked(await requestJson<Webhook>(webhooksPath, { method: 'POST', body: { name: DEFAULT_NAME } })),
    onSuccess: (created) => {
      store([created]);
      toastSuccess({ title: 'Webhook Created', message: 'Copy the URLs into your alerts.' });
    },
    onError: explain('Failed to create webhook'),
  });
  const renew = useMutation({
    mutationFn: ({ hook: { id, name }, password }: Confirmed) =>
      requestJson<Webhook>(webhookPath(id), {
        method: 'PUT',
        body: { name, generateNewKey: true, password },
      }),
    onSuccess: (renewed) => {
      store([renewed]);
      showKey(Date.now());
      close();
      toastSuccess({ title: 'Webhook Renewed', message: 'The old key is no longer valid.' });
    },
    onError: explain('Failed to renew webhook'),
  });
  const remove = useMutation({
    mutationFn: ({ hook: { id }, password }: Confirmed) =>
      requestJson<unknown>(webhookPath(id), { method: 'DELETE', body: { password } }),
    onSuccess: () => {
      store([]);
      hideKey();
      close();
      toastSuccess({ title: 'Webhook Deleted', message: 'Alerts sent to it are refused from now on.' });
    },
    onError: explain('Failed to delete webhook'),
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
    onError: (error) =>
      toastFailure(
        error,
        isStatus(error, 403) ? 'Invalid password' : 'The password could not be verified',
        'Access Denied',
      ),
  });

  return {
    dialog,
    open: setDialog,
    close,
    keyVisible,
    hideKey,
    pending: {
      create: create.isPending,
      renew: renew.isPending,
      remove: remove.isPending,
      reveal: reveal.isPending,
    },
    /** Refetches the webhook before it is changed for good. */
    warn: (warning: 'renew-warning' | 'delete-warning') => {
      refresh();
      setDialog(warning);
    },
    askForKey: (then: ((hookKey: string) => void) | null) => {
      setOnRevealed(() => then);
      setDialog('view-key');
    },
    create: () => create.mutate(),
    renew: (password: string) =>
      hook ? renew.mutate({ hook, password }) : closeAndFail('No webhook to renew'),
    remove: (password: string) =>
      hook ? remove.mutate({ hook, password }) : closeAndFail('No webhook to delete'),
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
  const hide = useCallback(() => {
    setUntilMs(null);
    forgetKey();
  }, [forgetKey]);

  useEffect(() => {
    if (untilMs === null) return;
    const timer = setTimeout(hide, untilMs - Date.now());
    // Compare clock times, because timers stop while a machine sleeps.
    const look = () => {
      if (Date.now() >= untilMs) hide();
    };
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [untilMs, hide]);

  useEffect(() => forgetKey, [forgetKey]);

  return {
    keyVisible: untilMs !== null && hook?.masked === false,
    showKey: (sinceMs: number) => setUntilMs(sinceMs + VISIBLE_MS),
    hideKey: hide,
  };
}
