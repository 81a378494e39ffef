import { Text } from '@mantine/core';
import { requestJson } from '../../lib/api-client.ts';
import { userPath, usersPath } from '../../lib/user-paths.ts';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { WebhookConsequence } from '../../ui/webhook-consequence.tsx';

interface AccountStatusDialogProps {
  user: { id: string; username: string; isActive: boolean };
  onClose: () => void;
}

export default function AccountStatusDialog({ user, onClose }: AccountStatusDialogProps) {
  const { id, username, isActive } = user;
  const verb = isActive ? 'Deactivate' : 'Reactivate';
  const path = `${usersPath}/${encodeURIComponent(id)}/${verb.toLowerCase()}`;
  return (
    <ConfirmChange
      title={`${verb} User`}
      confirmLabel={`${verb} User`}
      pendingLabel="Updating..."
      destructive={isActive}
      send={() => requestJson<{ message: string }>(path, { method: 'PATCH' })}
      done={({ message }) => ({ title: `User ${verb}d`, message })}
      failed={{ title: `Failed to ${verb} User`, otherwise: 'The change was not saved' }}
      refresh={[userPath(id), usersPath]}
      onClose={onClose}
    >
      <Text size="sm" fw={600}>
        {username}
      </Text>
      <Text size="sm">
        {isActive
          ? 'Inactive users cannot log in, and their sessions end at once. Their data is kept.'
          : 'The user will be able to log in again.'}
      </Text>
      <WebhookConsequence userId={id} active={!isActive} />
    </ConfirmChange>
  );
}
