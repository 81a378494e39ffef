import type { CurrentUser } from '#contract/auth.ts';
import { Badge } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Panel } from '../../ui/panel.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import classes from './settings-screen.module.css';

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
                onCopied={() => toastSuccess({ title: 'Copied!', message: 'User ID copied to clipboard.' })}
                onFailed={() => toastError({ title: 'Error', message: 'Failed to copy to clipboard' })}
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
