import { Button } from '@mantine/core';
import { IconUserCheck, IconUserOff } from '@tabler/icons-react';
import { useState } from 'react';
import { serverMessage } from '../../lib/api-client.ts';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Panel } from '../../ui/panel.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { useChangeUserStatus } from './change-user-status.ts';
import classes from './settings-screen.module.css';

interface AccountStatusCardProps {
  user: { id: string; username: string; isActive: boolean };
}

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

/** Of another user: administrators cannot deactivate themselves (part 1 §4). */
export function AccountStatusCard({ user }: AccountStatusCardProps) {
  const [asking, setAsking] = useState(false);
  const changeStatus = useChangeUserStatus(user.id);
  const change = user.isActive ? 'deactivate' : 'reactivate';
  const words = WORDS[change];

  const confirm = () =>
    changeStatus.mutate(change, {
      onSuccess: ({ message }) => toastSuccess({ title: words.done, message }),
      onError: (error) =>
        toastError({ title: words.failed, message: serverMessage(error, 'The change was not saved') }),
      onSettled: () => setAsking(false),
    });

  return (
    <Panel
      title="Account status"
      aside={
        <Badge tone={user.isActive ? 'success' : 'neutral'}>{user.isActive ? 'Active' : 'Inactive'}</Badge>
      }
    >
      <Button
        fullWidth
        variant="default"
        leftSection={
          user.isActive ? <IconUserOff size={16} aria-hidden /> : <IconUserCheck size={16} aria-hidden />
        }
        onClick={() => setAsking(true)}
      >
        {user.isActive ? 'Deactivate' : 'Reactivate'}
      </Button>
      <ConfirmDialog
        opened={asking}
        title={words.title}
        confirmLabel={words.title}
        pendingLabel="Updating..."
        pending={changeStatus.isPending}
        destructive={user.isActive}
        onConfirm={confirm}
        onClose={() => setAsking(false)}
      >
        <p className={classes.text}>
          <strong>{user.username}</strong>
        </p>
        <p className={classes.text}>{words.explanation}</p>
      </ConfirmDialog>
    </Panel>
  );
}
