import { Text } from '@mantine/core';
import type { AdminHook, AdminHookBody } from '#contract/hooks.ts';
import { isStatus, requestJson } from '../../lib/api-client.ts';
import { adminHooksPath, whomItFeeds } from '../../lib/webhook-of-user.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useChange } from '../../ui/use-change.ts';
import { PasswordDialog } from './password-dialog.tsx';
import { webhooksPath } from './webhooks.ts';

/** A change waiting for confirmation or the password. */
export interface AskedChange {
  kind: 'suspend' | 'lift' | 'renew' | 'delete';
  hook: AdminHook;
}

const DONE: Record<AskedChange['kind'], { title: string; message: string }> = {
  suspend: { title: 'Webhook Suspended', message: 'Its alerts are refused from now on.' },
  lift: { title: 'Webhook Resumed', message: 'An administrator no longer keeps it suspended.' },
  renew: { title: 'Webhook Renewed', message: 'Its owner reads the new key on the Webhook screen.' },
  delete: { title: 'Webhook Deleted', message: 'Alerts sent to it are refused from now on.' },
};

/** Renewing and deleting need the password; suspending and resuming do not. */
function requestFor(kind: AskedChange['kind'], password: string) {
  if (kind === 'delete') return { method: 'DELETE', body: { password } } as const;
  const body: AdminHookBody =
    kind === 'renew' ? { generateNewKey: true, password } : { suspended: kind === 'suspend' };
  return { method: 'PUT', body } as const;
}

export default function AnyWebhookDialog({ kind, hook, onClose }: AskedChange & { onClose: () => void }) {
  const { username, name } = hook;
  const change = useChange({
    send: (password: string) =>
      requestJson(`${adminHooksPath}/${encodeURIComponent(hook.id)}`, requestFor(kind, password)),
    done: () => DONE[kind],
    failed: { otherwise: 'The change was not saved' },
    // One of the webhooks may be the administrator's own.
    refresh: [adminHooksPath, webhooksPath],
  });
  const confirm = (password: string) =>
    change.mutate(password, {
      onSuccess: onClose,
      // The webhook was deleted elsewhere. A wrong password leaves the dialog open for another try.
      onError: (error) => isStatus(error, 404) && onClose(),
    });
  if (kind === 'renew' || kind === 'delete') {
    const isRenewal = kind === 'renew';
    return (
      <PasswordDialog
        title={isRenewal ? 'Renew the Key of a User' : 'Delete the Webhook of a User'}
        text={
          isRenewal
            ? `The key of "${name}" of ${username} ends at once, and existing alerts are refused until they use the new one. The new key is not shown here: ${username} reads it on the Webhook screen after entering the own password. Enter your account password to renew it.`
            : `All alerts that use "${name}" of ${username} stop for good. ${username} can create a new webhook with a new key; to prevent that, suspend this one instead. Enter your account password to delete it.`
        }
        confirmLabel={isRenewal ? 'Renew Key' : 'Delete Webhook'}
        pendingLabel={isRenewal ? 'Renewing...' : 'Deleting...'}
        pending={change.isPending}
        destructive={!isRenewal}
        onConfirm={confirm}
        onClose={onClose}
      />
    );
  }
  const action = kind === 'suspend' ? 'Suspend' : 'Resume';
  return (
    <ConfirmDialog
      opened
      title={`${action} Webhook`}
      confirmLabel={action}
      pendingLabel="Updating..."
      pending={change.isPending}
      destructive={kind === 'suspend'}
      onConfirm={() => confirm('')}
      onClose={onClose}
    >
      <Text size="sm">
        {action} the webhook "{name}" of {username}?
      </Text>
      <Notice look="warning" title="Warning">
        {kind === 'suspend'
          ? `It feeds ${whomItFeeds(hook)}. Its alerts are refused at once, as with an unknown key, until an administrator resumes it.`
          : hook.userActive
            ? `It takes alerts again at once. It feeds ${whomItFeeds(hook)}.`
            : 'Its owner is inactive: alerts are still refused until the user is activated.'}
      </Notice>
    </ConfirmDialog>
  );
}
