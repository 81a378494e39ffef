import { Alert, Button } from '@mantine/core';
import { IconAlertTriangle, IconLock, IconWebhook } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import type { CurrentUser } from '#contract/auth.ts';
import { useSession } from '../../lib/session.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useOtherUser, useSettings } from './get-settings.ts';
import classes from './settings-screen.module.css';
import type { SettingsSearch } from './settings-search.ts';
import { TradingSettingsCard } from './trading-settings-card.tsx';
import { UserInfoCard } from './user-info-card.tsx';

const ChangePasswordDialog = lazy(() => import('./change-password-dialog.tsx'));

interface SettingsScreenProps {
  search: SettingsSearch;
  onSearch: (change: SettingsSearch) => void;
}

const SUBTITLE = 'Account information and how positions are sized';

/** A userId in the address is admin mode; from anybody else it is ignored, and the own settings are shown. */
export function SettingsScreen({ search, onSearch }: SettingsScreenProps) {
  const { user } = useSession();
  const isOther = user.isAdmin && search.userId !== undefined && search.userId !== user.id;
  return isOther ? (
    <OtherUserSettings key={search.userId} userId={search.userId ?? ''} />
  ) : (
    <OwnSettings user={user} search={search} onSearch={onSearch} />
  );
}

function OwnSettings({ user, search, onSearch }: SettingsScreenProps & { user: CurrentUser }) {
  const settings = useSettings(null);
  return (
    <Page
      title="User Settings"
      subtitle={SUBTITLE}
      actions={
        <ButtonLink to="/webhook" variant="default" leftSection={<IconWebhook size={16} aria-hidden />}>
          Webhook
        </ButtonLink>
      }
    >
      <div className={classes.columns}>
        <div className={classes.column}>
          <UserInfoCard user={user} />
          <Panel title="Security">
            <Button
              fullWidth
              variant="default"
              leftSection={<IconLock size={16} aria-hidden />}
              onClick={() => onSearch({ dialog: 'password' })}
            >
              Change Password
            </Button>
          </Panel>
        </div>
        <QueryView query={settings} errorTitle="Failed to fetch settings">
          {(data) => <TradingSettingsCard settings={data} otherUser={null} />}
        </QueryView>
      </div>
      {search.dialog === 'password' ? (
        <Suspense fallback={null}>
          <ChangePasswordDialog onClose={() => onSearch({ dialog: undefined })} />
        </Suspense>
      ) : null}
    </Page>
  );
}

function OtherUserSettings({ userId }: { userId: string }) {
  const user = useOtherUser(userId);
  const settings = useSettings(userId);
  return (
    <Page title={`User Settings - ${user.data?.username ?? '...'}`} subtitle={SUBTITLE}>
      <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} className={classes.adminMode}>
        Admin Mode: You are editing another user's settings
      </Alert>
      <QueryView query={user} errorTitle="Failed to fetch user">
        {(other) => (
          <div className={classes.columns}>
            <div className={classes.column}>
              <UserInfoCard user={other} />
            </div>
            <QueryView query={settings} errorTitle="Failed to fetch settings">
              {(data) => <TradingSettingsCard settings={data} otherUser={other} />}
            </QueryView>
          </div>
        )}
      </QueryView>
    </Page>
  );
}
