import { useState } from 'react';
import type { Webhook } from '#contract/hooks.ts';
import { isStatus, serverMessage } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { useCreateWebhook, useDeleteWebhook, useRenewWebhook, useRevealKey } from './change-webhook.ts';

export type WebhookDialog =
  | 'renew-warning'
  | 'renew-password'
  | 'delete-warning'
  | 'delete-password'
  | 'view-key'
  | null;

/** Failures without an answer carry their own sentence ('No webhook to renew'). */
const reason = (error: Error, otherwise: string) =>
  serverMessage(error, error.message.startsWith('No webhook') ? error.message : otherwise);

/** The dialogs of the webhook card, whether the key is visible, and what each confirmation does. */
export function useWebhookActions(hook: Webhook | null) {
  const [dialog, setDialog] = useState<WebhookDialog>(null);
  const [keyVisible, setKeyVisible] = useState(false);
  /** What was to be copied when the password was asked for. */
  const [onRevealed, setOnRevealed] = useState<((hookKey: string) => void) | null>(null);
  const create = useCreateWebhook();
  const renew = useRenewWebhook();
  const remove = useDeleteWebhook();
  const reveal = useRevealKey();

  const close = () => {
    setDialog(null);
    setOnRevealed(null);
  };

  return {
    dialog,
    open: setDialog,
    close,
    keyVisible: keyVisible && hook?.masked === false,
    pending: {
      create: create.isPending,
      renew: renew.isPending,
      remove: remove.isPending,
      reveal: reveal.isPending,
    },
    hideKey: () => setKeyVisible(false),
    askForKey: (then: ((hookKey: string) => void) | null) => {
      setOnRevealed(() => then);
      setDialog('view-key');
    },
    create: () =>
      create.mutate(undefined, {
        onSuccess: () => {
          setKeyVisible(true);
          toastSuccess({ title: 'Webhook Created', message: 'Copy the URLs into your alerts.' });
        },
        onError: (error) =>
          toastError({ title: 'Error', message: reason(error, 'Failed to create webhook') }),
      }),
    renew: (password: string) =>
      renew.mutate(
        { hook, password },
        {
          onSuccess: () => {
            setKeyVisible(true);
            close();
            toastSuccess({ title: 'Webhook Renewed', message: 'The old key is no longer valid.' });
          },
          onError: (error) =>
            toastError({ title: 'Error', message: reason(error, 'Failed to renew webhook') }),
        },
      ),
    remove: (password: string) =>
      remove.mutate(
        { hook, password },
        {
          onSuccess: () => {
            setKeyVisible(false);
            close();
            toastSuccess({ title: 'Webhook Deleted', message: 'Alerts sent to it are refused from now on.' });
          },
          onError: (error) =>
            toastError({ title: 'Error', message: reason(error, 'Failed to delete webhook') }),
        },
      ),
    reveal: (password: string) =>
      reveal.mutate(password, {
        onSuccess: (hooks) => {
          setKeyVisible(true);
          toastSuccess({ title: 'Access Granted', message: 'Webhook key is now visible.' });
          const hookKey = hooks[0]?.hookKey;
          if (onRevealed && hookKey) onRevealed(hookKey);
          close();
        },
        // A wrong password leaves the dialog open for another try.
        onError: (error) =>
          toastError({
            title: 'Access Denied',
            message: isStatus(error, 403) ? 'Invalid password' : serverMessage(error, 'Invalid password'),
          }),
      }),
  };
}

export type WebhookActions = ReturnType<typeof useWebhookActions>;
