import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import type { WebhookActions } from './use-webhook-actions.ts';

const PASSWORD_DIALOGS = {
  'renew-password': {
    action: 'renew',
    title: 'Confirm Renewal',
    text: 'Enter your account password to renew the webhook key.',
    pendingLabel: 'Renewing...',
  },
  'delete-password': {
    action: 'remove',
    title: 'Confirm Deletion',
    text: 'Enter your account password to delete the webhook.',
    pendingLabel: 'Deleting...',
  },
  'view-key': {
    action: 'reveal',
    title: 'View Key',
    text: 'Enter your account password to see the webhook key.',
    pendingLabel: 'Verifying...',
  },
} as const;

export default function WebhookDialogs({ actions }: { actions: WebhookActions }) {
  const { dialog, open, close, pending } = actions;
  switch (dialog) {
    case 'renew-warning':
      return (
        <ConfirmDialog
          opened
          title="Renew Webhook Key"
          confirmLabel="Continue"
          onConfirm={() => open('renew-password')}
          onClose={close}
        >
          <Notice look="warning" title="This cannot be undone">
            Renewing generates a new key and invalidates the old one at once. Existing alerts stop working
            until they use the new URLs.
          </Notice>
        </ConfirmDialog>
      );
    case 'delete-warning':
      return (
        <ConfirmDialog
          opened
          title="Delete Webhook"
          confirmLabel="Continue"
          destructive
          onConfirm={() => open('delete-password')}
          onClose={close}
        >
          <Notice look="failure" title="Permanent and irreversible">
            All alerts that use this webhook stop. To receive data again, a new webhook must be created and
            every alert changed to its URLs.
          </Notice>
        </ConfirmDialog>
      );
    case 'renew-password':
    case 'delete-password':
    case 'view-key': {
      const { action, ...texts } = PASSWORD_DIALOGS[dialog];
      return (
        <PasswordDialog
          {...texts}
          confirmLabel={texts.title}
          pending={pending}
          destructive={action === 'remove'}
          onConfirm={actions[action]}
          onClose={close}
        />
      );
    }
    default:
      return null;
  }
}
