import { useMutation, useQueryClient } from '@tanstack/react-query';
import { requestJson } from '../../lib/api-client.ts';
import { userPath, usersPath } from '../../lib/user-paths.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toastFailure, toastSuccess } from '../../ui/toast.ts';
import { WebhookConsequence } from '../../ui/webhook-consequence.tsx';
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
  const client = useQueryClient();
  const change = user.isActive ? 'deactivate' : 'reactivate';
  const words = WORDS[change];
  const changeStatus = useMutation({
    mutationFn: () =>
      requestJson<{ message: string }>(`/api/admin/users/${encodeURIComponent(user.id)}/${change}`, {
        method: 'PATCH',
      }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: [userPath(user.id)] }),
        client.invalidateQueries({ queryKey: [usersPath] }),
      ]),
  });
  const confirm = () =>
    changeStatus.mutate(undefined, {
      onSuccess: ({ message }) => toastSuccess({ title: words.done, message }),
      onError: (error) => toastFailure(error, 'The change was not saved', words.failed),
      onSettled: onClose,
    });
  return (
    <ConfirmDialog
      opened
      title={words.title}
      confirmLabel={words.title}
      pendingLabel="Updating..."
      pending={changeStatus.isPending}
      destructive={user.isActive}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p className={classes.text}>
        <strong>{user.username}</strong>
      </p>
      <p className={classes.text}>{words.explanation}</p>
      <WebhookConsequence userId={user.id} active={!user.isActive} />
    </ConfirmDialog>
  );
}
