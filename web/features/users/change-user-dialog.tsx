import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { requestJson } from '../../lib/api-client.ts';
import { settingsPath, userPath, usersPath } from '../../lib/user-paths.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toastFailure, toastSuccess } from '../../ui/toast.ts';
import { WebhookConsequence } from '../../ui/webhook-consequence.tsx';

export interface UserChange {
  kind: 'activeTrading' | 'status';
  userId: string;
  username: string;
  on: boolean;
}

interface Words {
  title: string;
  question: string;
  warning: string;
  confirm: string;
  done: string;
  failed: string;
}

function wordsFor({ kind, username, on }: UserChange): Words {
  if (kind === 'activeTrading') {
    return {
      title: on ? 'Enable Active Trading' : 'Disable Active Trading',
      question: `${on ? 'Enable' : 'Disable'} active trading for ${username}?`,
      warning: on
        ? 'This affects live trading: the system will execute positions automatically for this user when signals arrive.'
        : 'This affects live trading: all automated execution for this user stops.',
      confirm: on ? 'Enable Trading' : 'Disable Trading',
      done: 'Active Trading Updated',
      failed: 'Failed to Update Active Trading',
    };
  }
  return {
    title: on ? 'Activate User' : 'Deactivate User',
    question: `${on ? 'Activate' : 'Deactivate'} ${username}?`,
    warning: on
      ? 'The user will be able to log in again.'
      : 'Inactive users cannot log in, and their sessions end at once. Their data is kept.',
    confirm: on ? 'Activate User' : 'Deactivate User',
    done: 'User Status Updated',
    failed: 'Failed to Update User Status',
  };
}

interface ChangeUserDialogProps {
  change: UserChange;
  /** Whether the list includes inactive users. */
  staysListed: boolean;
  onClose: () => void;
}

export default function ChangeUserDialog({ change, staysListed, onClose }: ChangeUserDialogProps) {
  const client = useQueryClient();
  const changeUser = useMutation({
    mutationFn: ({ kind, on }: UserChange) => {
      const [path, body] =
        kind === 'activeTrading' ? ['active-trading', { activeTrading: on }] : ['status', { isActive: on }];
      return requestJson<{ message: string }>(`${userPath(change.userId)}/${path}`, { method: 'PUT', body });
    },
    // Also after a refusal, which means the list is outdated: the user is gone, or was changed elsewhere.
    onSettled: () =>
      Promise.all(
        [usersPath, userPath(change.userId), settingsPath(change.userId)].map((path) =>
          client.invalidateQueries({ queryKey: [path] }),
        ),
      ),
  });
  const words = wordsFor(change);
  const leavesList = change.kind === 'status' && !change.on && !staysListed;
  const confirm = () =>
    changeUser.mutate(change, {
      onSuccess: ({ message }) => {
        const where = leavesList ? ". 'Include inactive' shows the user again." : '';
        toastSuccess({ title: words.done, message: `${change.username}: ${message}${where}` });
        onClose();
      },
      onError: (error) => toastFailure(error, 'The change was not saved', words.failed),
    });
  return (
    <ConfirmDialog
      opened
      title={words.title}
      confirmLabel={words.confirm}
      pendingLabel="Updating..."
      pending={changeUser.isPending}
      destructive={!change.on}
      onConfirm={confirm}
      onClose={onClose}
    >
      <Text size="sm">{words.question}</Text>
      <Alert color="yellow" title="Warning" icon={<IconAlertTriangle aria-hidden />}>
        {words.warning}
      </Alert>
      {change.kind === 'status' ? <WebhookConsequence userId={change.userId} active={change.on} /> : null}
    </ConfirmDialog>
  );
}
