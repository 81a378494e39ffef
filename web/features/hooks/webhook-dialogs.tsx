import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import type { WebhookActions } from './use-webhook-actions.ts';

export default function WebhookDialogs({ actions }: { actions: WebhookActions }) {
  const { dialog, open, close, pending } = actions;
  return (
    <>
      <ConfirmDialog
        opened={dialog === 'renew-warning'}
        title="Renew Webhook Key"
        confirmLabel="Continue"
        onConfirm={() => open('renew-password')}
        onClose={close}
      >
        <Alert color="yellow" title="This cannot be undone" icon={<IconAlertTriangle aria-hidden />}>
          Renewing generates a new key and invalidates the old one at once. Existing alerts stop working until
          they use the new URLs.
        </Alert>
      </ConfirmDialog>
      <ConfirmDialog
        opened={dialog === 'delete-warning'}
        title="Delete Webhook"
        confirmLabel="Continue"
        destructive
        onConfirm={() => open('delete-password')}
        onClose={close}
      >
        <Alert color="red" title="Permanent and irreversible" icon={<IconAlertTriangle aria-hidden />}>
          All alerts that use this webhook stop. To receive data again, a new webhook must be created and
          every alert changed to its URLs.
        </Alert>
      </ConfirmDialog>
      <PasswordDialog
        opened={dialog === 'renew-password'}
        title="Confirm Renewal"
        text="Enter your account password to renew the webhook key."
        confirmLabel="Confirm Renewal"
        pendingLabel="Renewing..."
        pending={pending.renew}
        onConfirm={actions.renew}
        onClose={close}
      />
      <PasswordDialog
        opened={dialog === 'delete-password'}
        title="Confirm Deletion"
        text="Enter your account password to delete the webhook."
        confirmLabel="Confirm Deletion"
        pendingLabel="Deleting..."
        pending={pending.remove}
        destructive
        onConfirm={actions.remove}
        onClose={close}
      />
      <PasswordDialog
        opened={dialog === 'view-key'}
        title="View Key"
        text="Enter your account password to see the webhook key."
        confirmLabel="View Key"
        pendingLabel="Verifying..."
        pending={pending.reveal}
        onConfirm={actions.reveal}
        onClose={close}
      />
    </>
  );
}
