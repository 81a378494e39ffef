import { serverMessage } from '../../lib/api-client.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { WebhookConsequence } from '../../ui/webhook-consequence.tsx';
import { useChangeUserStatus } from './change-user-status.ts';
import classes from './settings-screen.module.css';

const WORDS = {
  deactivate: {
    title: 'Deactivate User',
    explanation: 'Inactive users cannot log in, and their sessions end at once. Their data is kept.',
    done: 'User Deactivated',
    failed: 'Failed to Deactivate User',
  },
  reactivate: {
    title: 'Reactivate User',
    explanation: 'The user will be able to log in again.',
    done: 'User Reactivated',
    failed: 'Failed to Reactivate User',
  },
} as const;

interface AccountStatusDialogProps {
  user: { id: string; username: string; isActive: boolean };
  onClose: () => void;
}

export default function AccountStatusDialog({ user, onClose }: AccountStatusDialogProps) {
  const changeStatus = useChangeUserStatus(user.id);
  const change = user.isActive ? 'deactivate' : 'reactivate';
  const words = WORDS[change];
  const confirm = () =>
    changeStatus.mutate(change, {
      onSuccess: ({ message }) => toastSuccess({ title: words.done, message }),
      onError: (error) =>
        toastError({ title: words.failed, message: serverMessage(error, 'The change was not saved') }),
      onSettled: onClose,
    });
  // Closed while the answer is under way, the dialog could not tell what came of it.
  const close = () => (changeStatus.isPending ? undefined : onClose());
  return (
    <ConfirmDialog
      opened
      title={words.title}
      confirmLabel={words.title}
      pendingLabel="Updating..."
      pending={changeStatus.isPending}
      destructive={user.isActive}
      onConfirm={confirm}
      onClose={close}
    >
      <p className={classes.text}>
        <strong>{user.username}</strong>
      </p>
      <p className={classes.text}>{words.explanation}</p>
      <WebhookConsequence userId={user.id} active={!user.isActive} />
    </ConfirmDialog>
  );
}
