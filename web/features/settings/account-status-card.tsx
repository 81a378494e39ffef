import { Button } from '@mantine/core';
import { IconUserCheck, IconUserOff } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';

const AccountStatusDialog = lazy(() => import('./account-status-dialog.tsx'));

interface AccountStatusCardProps {
  user: { id: string; username: string; isActive: boolean };
}

/** Of another user: administrators cannot deactivate themselves. */
export function AccountStatusCard({ user }: AccountStatusCardProps) {
  const [asking, setAsking] = useState(false);
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
      <Suspense fallback={null}>
        {asking ? <AccountStatusDialog user={user} onClose={() => setAsking(false)} /> : null}
      </Suspense>
    </Panel>
  );
}
