import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { requestJson } from '../../../lib/api-client.ts';
import { sessionKey } from '../../../lib/session.ts';
import { ConfirmChange } from '../../../ui/confirm-change.tsx';
import { factorsPath } from './factors-data.ts';

interface RemoveFactorDialogProps {
  title: string;
  path: string;
  /** The toast's title. */
  done: string;
  /** No other factor stays. */
  isLast: boolean;
  required: boolean;
  onClose: () => void;
  children: ReactNode;
}

export function RemoveFactorDialog(props: RemoveFactorDialogProps) {
  const { title, path, done, isLast, required, onClose, children } = props;
  return (
    <ConfirmChange
      title={title}
      confirmLabel="Remove"
      pendingLabel="Removing..."
      destructive
      send={() => requestJson(path, { method: 'DELETE' })}
      done={() => ({ title: done })}
      failed={{ title: 'Not removed', otherwise: 'The factor was not removed' }}
      // The session says whether the user has to set up another one.
      refresh={[factorsPath, sessionKey[0]]}
      onClose={onClose}
    >
      <Text size="sm">{children}</Text>
      {isLast ? <Text size="sm">{required ? NEEDS_ANOTHER : PASSWORD_ONLY}</Text> : null}
    </ConfirmChange>
  );
}

const PASSWORD_ONLY = 'You then sign in with your password alone.';
const NEEDS_ANOTHER =
  'Administrators need a second factor in live mode: you have to set up another one at once.';
