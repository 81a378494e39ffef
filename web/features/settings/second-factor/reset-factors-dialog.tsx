import { Text } from '@mantine/core';
import { requestJson } from '../../../lib/api-client.ts';
import { userPath } from '../../../lib/user-paths.ts';
import { ConfirmChange } from '../../../ui/confirm-change.tsx';
import { Notice } from '../../../ui/notice.tsx';

interface ResetFactorsDialogProps {
  user: { id: string; username: string };
  onClose: () => void;
}

export default function ResetFactorsDialog({ user, onClose }: ResetFactorsDialogProps) {
  const { id, username } = user;
  return (
    <ConfirmChange
      title="Reset Second Factor"
      confirmLabel="Reset Second Factor"
      pendingLabel="Resetting..."
      destructive
      send={() => requestJson(`${userPath(id)}/factors`, { method: 'DELETE' })}
      done={() => ({
        title: 'Second Factor Reset',
        message: `${username} signs in with the password alone until a new factor is set up.`,
      })}
      failed={{ title: 'Failed to Reset Second Factor', otherwise: 'The second factor was not reset' }}
      onClose={onClose}
    >
      <Text size="sm" fw={600}>
        {username}
      </Text>
      <Text size="sm">
        Removes the authenticator app, the recovery codes and all passkeys. The user's sessions end at once.
      </Text>
      <Notice look="warning" title="Warning">
        Until a new factor is set up, the password alone signs in. Do this only if you are sure who asked.
      </Notice>
    </ConfirmChange>
  );
}
