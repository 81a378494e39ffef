import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import type { WebhookActions } from './use-webhook-actions.ts';

const PASSWORD_DIALOGS = [
  {
    dialog: 'renew-password',
    action: 'renew',
    title: 'Confirm Renewal',
    text: 'Enter your account password to renew the webhook key.',
    pendingLabel: 'Renewing...',
  },
  {
    dialog: 'delete-password',
    action: 'remove',
    title: 'Confirm Deletion',
    text: 'Enter your account password to delete the webhook.',
    pendingLabel: 'Deleting...',
  },
  {
    dialog: 'view-key',
    action: 'reveal',
    title: 'View Key',
    text: 'Enter your account password to see the webhook key.',
    pendingLabel: 'Verifying...',
  },
] as const;

export default function WebhookDialogs({ actions }: { actions: WebhookActions }) {
  const { open, close } = actions;
  return (
    <>
      <ConfirmDialog
        opened={actions.dialog === 'renew-warning'}
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
        opened={actions.dialog === 'delete-warning'}
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
      {PASSWORD_DIALOGS.map(({ dialog, action, title, text, pendingLabel }) => (
        <PasswordDialog
          key={dialog}
          opened={actions.dialog === dialog}
          title={title}
          text={text}
          confirmLabel={title}
          pendingLabel={pendingLabel}
          pending={actions.pending[action]}
          destructive={action === 'remove'}
          onConfirm={actions[action]}
          onClose={close}
        />
      ))}
    </>
  );
}
