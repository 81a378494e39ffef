import { Button, Stack } from '@mantine/core';
import { IconShieldOff, IconUserCheck, IconUserOff } from '@tabler/icons-react';
import { useState } from 'react';
import type { CurrentUser } from '#contract/auth.ts';
import type { User } from '#contract/users.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts } from '../../ui/facts.tsx';
import { CopyButton } from '../../ui/icon-button.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import classes from './settings-screen.module.css';

const AccountStatusDialog = lazily(() => import('./account-status-dialog.tsx'));
const ResetFactorsDialog = lazily(() => import('./second-factor/reset-factors-dialog.tsx'));

const NOTHING = 'Not provided';

export function UserInfoCard({ user }: { user: CurrentUser }) {
  const phone = user.mobileNumber ? [user.countryCode, user.mobileNumber].filter(Boolean).join(' ') : NOTHING;
  return (
    <Panel title="User information">
      <Facts
        columns={1}
        facts={[
          [
            'User ID',
            <span key="id" className={classes.id}>
              <span className="mono">{user.id}</span>
              <CopyButton
                value={user.id}
                label="Copy user ID"
                done={{ title: 'Copied!', message: 'User ID copied to clipboard.' }}
              />
            </span>,
          ],
          ['Username', user.username],
          [
            'Administrator',
            <Badge key="role" tone={user.isAdmin ? 'accent' : 'neutral'}>
              {user.isAdmin ? 'Yes' : 'No'}
            </Badge>,
          ],
          ['First name', user.firstName || NOTHING],
          ['Last name', user.lastName || NOTHING],
          ['Mobile', phone],
        ]}
      />
    </Panel>
  );
}

/** For other users only: administrators cannot deactivate themselves. */
export function AccountStatusCard({ user }: { user: User }) {
  const [asking, setAsking] = useState<'status' | 'factors' | null>(null);
  const close = () => setAsking(null);
  const Icon = user.isActive ? IconUserOff : IconUserCheck;
  return (
    <Panel
      title="Account status"
      aside={
        <Badge tone={user.isActive ? 'success' : 'neutral'}>{user.isActive ? 'Active' : 'Inactive'}</Badge>
      }
    >
      <Stack gap="sm">
        <Button
          fullWidth
          variant="default"
          leftSection={<Icon size={16} aria-hidden />}
          onClick={() => setAsking('status')}
        >
          {user.isActive ? 'Deactivate' : 'Reactivate'}
        </Button>
        <Button
          fullWidth
          variant="default"
          leftSection={<IconShieldOff size={16} aria-hidden />}
          onClick={() => setAsking('factors')}
        >
          Reset Second Factor
        </Button>
      </Stack>
      {asking === 'status' ? <AccountStatusDialog user={user} onClose={close} /> : null}
      {asking === 'factors' ? <ResetFactorsDialog user={user} onClose={close} /> : null}
    </Panel>
  );
}
