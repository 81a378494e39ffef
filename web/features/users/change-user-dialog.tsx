import { Text } from '@mantine/core';
import { requestJson } from '../../lib/api-client.ts';
import { settingsPath, userPath, usersPath } from '../../lib/user-paths.ts';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { Notice } from '../../ui/notice.tsx';
import { WebhookConsequence } from '../../ui/webhook-consequence.tsx';

export interface UserChange {
  kind: 'activeTrading' | 'status';
  userId: string;
  username: string;
  on: boolean;
}

function wordsFor({ kind, username, on }: UserChange) {
  if (kind === 'activeTrading') {
    const verb = on ? 'Enable' : 'Disable';
    return {
      title: `${verb} Active Trading`,
      question: `${verb} active trading for ${username}?`,
      warning: on
        ? 'This affects live trading: the system will execute positions automatically for this user when signals arrive.'
        : 'This affects live trading: all automated execution for this user stops.',
      confirm: `${verb} Trading`,
      done: 'Active Trading Updated',
      failed: 'Failed to Update Active Trading',
    };
  }
  const verb = on ? 'Activate' : 'Deactivate';
  return {
    title: `${verb} User`,
    question: `${verb} ${username}?`,
    warning: on
      ? 'The user will be able to log in again.'
      : 'Inactive users cannot log in, and their sessions end at once. Their data is kept.',
    confirm: `${verb} User`,
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
  const { kind, userId, username, on } = change;
  const { title, question, warning, confirm, done, failed } = wordsFor(change);
  const leavesList = kind === 'status' && !on && !staysListed;
  const where = leavesList ? ". 'Include inactive' shows the user again." : '';
  const [path, body] =
    kind === 'activeTrading' ? ['active-trading', { activeTrading: on }] : ['status', { isActive: on }];
  return (
    <ConfirmChange
      title={title}
      confirmLabel={confirm}
      pendingLabel="Updating..."
      destructive={!on}
      send={() => requestJson<{ message: string }>(`${userPath(userId)}/${path}`, { method: 'PUT', body })}
      done={({ message }) => ({ title: done, message: `${username}: ${message}${where}` })}
      failed={{ title: failed, otherwise: 'The change was not saved' }}
      refresh={[usersPath, userPath(userId), settingsPath(userId)]}
      onClose={onClose}
    >
      <Text size="sm">{question}</Text>
      <Notice look="warning" title="Warning">
        {warning}
      </Notice>
      {kind === 'status' ? <WebhookConsequence userId={userId} active={on} /> : null}
    </ConfirmChange>
  );
}
