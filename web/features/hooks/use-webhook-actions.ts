import { useState } from 'react';
import type { Webhook } from '#contract/hooks.ts';
import { isStatus, serverMessage } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import {
  type Revealed,
  useCreateWebhook,
  useDeleteWebhook,
  useRenewWebhook,
  useRevealKey,
} from './change-webhook.ts';
import { useKeyVisibility } from './use-key-visibility.ts';
import { useRefreshWebhook } from './webhooks.ts';

export type WebhookDialog =
  | 'renew-warning'
  | 'renew-password'
  | 'delete-warning'
  | 'delete-password'
  | 'view-key'
  | 'test-signal'
  | 'test-candle'
  | null;

/** The dialogs of the webhook card, whether the key is visible, and what each confirmation does. */
export function useWebhookActions(hook: Webhook | null) {
  const [dialog, setDialog] = useState<WebhookDialog>(null);
  /** What was to be copied when the password was asked for. */
  const [onRevealed, setOnRevealed] = useState<((hookKey: string) => void) | null>(null);
  const { keyVisible, showKey, hideKey } = useKeyVisibility(hook);
  const refresh = useRefreshWebhook();
  const create = useCreateWebhook();
  const renew = useRenewWebhook();
  const remove = useDeleteWebhook();
  const reveal = useRevealKey();

  const close = () => {
    setDialog(null);
    setOnRevealed(null);
  };
  const fail = (message: string) => toastError({ title: 'Error', message });
  const closeAndFail = (message: string) => {
    close();
    fail(message);
  };
  const explain = (error: Error, otherwise: string) => {
    // Created or deleted elsewhere: what is shown is not what there is.
    const outdated = isStatus(error, 404) || isStatus(error, 409);
    if (outdated) {
      close();
      refresh();
    }
    fail(serverMessage(error, otherwise));
  };
  const showRevealed = ({ hook: found, sinceMs }: Revealed) => {
    if (found === 'unreachable') return closeAndFail('Failed to fetch webhooks');
    if (found === null) return closeAndFail('Webhook not found');
    if (found.unreadable) return closeAndFail('The webhook key cannot be shown');
    showKey(sinceMs);
    toastSuccess({ title: 'Access Granted', message: 'Webhook key is now visible.' });
    onRevealed?.(found.hookKey);
    close();
  };

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
    /** What is going to be changed for good is looked up once more. */
    warn: (warning: 'renew-warning' | 'delete-warning') => {
      refresh();
      setDialog(warning);
    },
    askForKey: (then: ((hookKey: string) => void) | null) => {
      setOnRevealed(() => then);
      setDialog('view-key');
    },
    create: () =>
      create.mutate(undefined, {
        onSuccess: () =>
          toastSuccess({ title: 'Webhook Created', message: 'Copy the URLs into your alerts.' }),
        onError: (error) => explain(error, 'Failed to create webhook'),
      }),
    renew: (password: string) => {
      if (!hook) return closeAndFail('No webhook to renew');
      renew.mutate(
        { hook, password },
        {
          onSuccess: () => {
            showKey(Date.now());
            close();
            toastSuccess({ title: 'Webhook Renewed', message: 'The old key is no longer valid.' });
          },
          onError: (error) => explain(error, 'Failed to renew webhook'),
        },
      );
    },
    remove: (password: string) => {
      if (!hook) return closeAndFail('No webhook to delete');
      remove.mutate(
        { hook, password },
        {
          onSuccess: () => {
            hideKey();
            close();
            toastSuccess({ title: 'Webhook Deleted', message: 'Alerts sent to it are refused from now on.' });
          },
          onError: (error) => explain(error, 'Failed to delete webhook'),
        },
      );
    },
    reveal: (password: string) =>
      reveal.mutate(password, {
        onSuccess: showRevealed,
        // A wrong password leaves the dialog open for another try.
        onError: (error) => toastError({ title: 'Access Denied', message: denialOf(error) }),
      }),
  };
}

/** Only a 403 says that the password is wrong. */
const denialOf = (error: Error): string =>
  serverMessage(error, isStatus(error, 403) ? 'Invalid password' : 'The password could not be verified');

export type WebhookActions = ReturnType<typeof useWebhookActions>;
