import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { isStatus, serverMessage } from '../../lib/api-client.ts';
import { whomItFeeds } from '../../lib/webhook-of-user.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { type AnyWebhookChange, type AskedChange, useChangeAnyWebhook } from './all-webhooks.ts';
import { PasswordDialog } from './password-dialog.tsx';

const DONE: Record<AskedChange['kind'], { title: string; message: string }> = {
  suspend: { title: 'Webhook Suspended', message: 'Its alerts are refused from now on.' },
  lift: { title: 'Webhook Resumed', message: 'An administrator no longer keeps it suspended.' },
  renew: { title: 'Webhook Renewed', message: 'Its owner reads the new key on the Webhook screen.' },
  delete: { title: 'Webhook Deleted', message: 'Alerts sent to it are refused from now on.' },
};

export default function AnyWebhookDialog({ kind, hook, onClose }: AskedChange & { onClose: () => void }) {
  const change = useChangeAnyWebhook();
  const { username, name } = hook;
  const run = (wanted: AnyWebhookChange) =>
    change.mutate(wanted, {
      onSuccess: () => {
        toastSuccess(DONE[wanted.kind]);
        onClose();
      },
      onError: (error) => {
        toastError({ title: 'Error', message: serverMessage(error, 'The change was not saved') });
        // Deleted elsewhere. A wrong password leaves the dialog open for another try.
        if (isStatus(error, 404)) onClose();
      },
    });
  // Closed while the answer is under way, the dialog could not tell what came of it.
  const close = () => (change.isPending ? undefined : onClose());
  if (kind === 'renew') {
    return (
      <PasswordDialog
        opened
        title="Renew the Key of a User"
        text={`The key of "${name}" of ${username} ends at once, and existing alerts are refused until they use the new one. The new key is not shown here: ${username} reads it on the Webhook screen after entering the own password. Enter your account password to renew it.`}
        confirmLabel="Renew Key"
        pendingLabel="Renewing..."
        pending={change.isPending}
        onConfirm={(password) => run({ kind, hook, password })}
        onClose={close}
      />
    );
  }
  if (kind === 'delete') {
    return (
      <PasswordDialog
        opened
        title="Delete the Webhook of a User"
        text={`All alerts that use "${name}" of ${username} stop for good. ${username} can create a new webhook with a new key; to prevent that, suspend this one instead. Enter your account password to delete it.`}
        confirmLabel="Delete Webhook"
        pendingLabel="Deleting..."
        pending={change.isPending}
        destructive
        onConfirm={(password) => run({ kind, hook, password })}
        onClose={close}
      />
    );
  }
  const suspends = kind === 'suspend';
  return (
    <ConfirmDialog
      opened
      title={suspends ? 'Suspend Webhook' : 'Resume Webhook'}
      confirmLabel={suspends ? 'Suspend' : 'Resume'}
      pendingLabel="Updating..."
      pending={change.isPending}
      destructive={suspends}
      onConfirm={() => run({ kind, hook })}
      onClose={close}
    >
      <Text size="sm">
        {suspends ? 'Suspend' : 'Resume'} the webhook "{name}" of {username}?
      </Text>
      <Alert color="yellow" title="Warning" icon={<IconAlertTriangle aria-hidden />}>
        {suspends
          ? `It feeds ${whomItFeeds(hook)}. Its alerts are refused at once, as with an unknown key, until an administrator resumes it.`
          : hook.userActive
            ? `It takes alerts again at once. It feeds ${whomItFeeds(hook)}.`
            : 'Its owner is inactive: alerts are still refused until the user is activated.'}
      </Alert>
    </ConfirmDialog>
  );
}
