import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { serverMessage } from '../../lib/api-client.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { WebhookConsequence } from '../../ui/webhook-consequence.tsx';
import { type UserChange, useChangeUser } from './change-user.ts';

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
  /** Whether the list shows inactive users too. */
  staysListed: boolean;
  onClose: () => void;
}

export default function ChangeUserDialog({ change, staysListed, onClose }: ChangeUserDialogProps) {
  const changeUser = useChangeUser();
  const words = wordsFor(change);
  const leavesList = change.kind === 'status' && !change.on && !staysListed;
  const confirm = () =>
    changeUser.mutate(change, {
      onSuccess: ({ message }) => {
        const where = leavesList ? ". 'Include inactive' shows the user again." : '';
        toastSuccess({ title: words.done, message: `${change.username}: ${message}${where}` });
        onClose();
      },
      onError: (error) =>
        toastError({ title: words.failed, message: serverMessage(error, 'The change was not saved') }),
    });
  // Closed while the answer is under way, the dialog could not tell what came of it.
  const close = () => (changeUser.isPending ? undefined : onClose());
  return (
    <ConfirmDialog
      opened
      title={words.title}
      confirmLabel={words.confirm}
      pendingLabel="Updating..."
      pending={changeUser.isPending}
      destructive={!change.on}
      onConfirm={confirm}
      onClose={close}
    >
      <Text size="sm">{words.question}</Text>
      <Alert color="yellow" title="Warning" icon={<IconAlertTriangle aria-hidden />}>
        {words.warning}
      </Alert>
      {change.kind === 'status' ? <WebhookConsequence userId={change.userId} active={change.on} /> : null}
    </ConfirmDialog>
  );
}
