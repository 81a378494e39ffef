import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { AccountStatusCard } from './account-status-card.tsx';
import { BackToUsers } from './back-to-users.tsx';
import { useOtherUser, useSettings } from './get-settings.ts';
import { AutomationCard, ExchangeConnectionCard } from './later-cards.tsx';
import { SETTINGS_SUBTITLE } from './settings-form-values.ts';
import classes from './settings-screen.module.css';
import { TradingSettingsCard } from './trading-settings-card.tsx';
import { UserInfoCard } from './user-info-card.tsx';

/** Admin mode. */
export function OtherUserSettings({ userId }: { userId: string }) {
  const user = useOtherUser(userId);
  const settings = useSettings(userId);
  return (
    <Page
      title={`User Settings - ${user.data?.username ?? '...'}`}
      subtitle={SETTINGS_SUBTITLE}
      back={<BackToUsers />}
    >
      <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} className={classes.adminMode}>
        Admin Mode: You are editing another user's settings
      </Alert>
      <QueryView query={user} errorTitle="Failed to fetch user">
        {(other) => (
          <div className={classes.columns}>
            <div className={classes.column}>
              <UserInfoCard user={other} />
              <AccountStatusCard user={other} />
            </div>
            <QueryView query={settings} errorTitle="Failed to fetch settings">
              {(data) => (
                <div className={classes.column}>
                  <TradingSettingsCard settings={data} otherUser={other} />
                  <AutomationCard settings={data} user={{ ...other, isSelf: false }} />
                  <ExchangeConnectionCard savedPlatform={data.exchangePlatform} userId={userId} />
                </div>
              )}
            </QueryView>
          </div>
        )}
      </QueryView>
    </Page>
  );
}
