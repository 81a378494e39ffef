import { Button } from '@mantine/core';
import { IconLock, IconRobot, IconWebhook } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import type { CurrentUser } from '#contract/auth.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { BackToUsers } from './back-to-users.tsx';
import { useSettings } from './get-settings.ts';
import { AutomationCard, ExchangeConnectionCard } from './later-cards.tsx';
import { SETTINGS_SUBTITLE } from './settings-form-values.ts';
import classes from './settings-screen.module.css';
import { TradingSettingsCard } from './trading-settings-card.tsx';
import { UserInfoCard } from './user-info-card.tsx';

const ChangePasswordDialog = lazy(() => import('./change-password-dialog.tsx'));

interface OwnSettingsProps {
  user: CurrentUser;
  /** An administrator who named the own id: with the Automation card, without the warning about others. */
  adminMode: boolean;
  passwordDialog: boolean;
  onPasswordDialog: (opened: boolean) => void;
}

export function OwnSettings({ user, adminMode, passwordDialog, onPasswordDialog }: OwnSettingsProps) {
  const settings = useSettings(null);
  return (
    <Page
      title={adminMode ? `User Settings - ${user.username}` : 'User Settings'}
      subtitle={SETTINGS_SUBTITLE}
      back={adminMode ? <BackToUsers /> : null}
      actions={
        <>
          {user.isAdmin && !adminMode ? (
            <ButtonLink
              to="/settings"
              search={{ userId: user.id }}
              variant="default"
              leftSection={<IconRobot size={16} aria-hidden />}
            >
              Automation settings
            </ButtonLink>
          ) : null}
          <ButtonLink to="/webhook" variant="default" leftSection={<IconWebhook size={16} aria-hidden />}>
            Webhook
          </ButtonLink>
        </>
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
              onClick={() => onPasswordDialog(true)}
            >
              Change Password
            </Button>
          </Panel>
        </div>
        <QueryView query={settings} errorTitle="Failed to fetch settings">
          {(data) => (
            <div className={classes.column}>
              <TradingSettingsCard settings={data} otherUser={null} />
              {adminMode ? <AutomationCard settings={data} user={{ ...user, isSelf: true }} /> : null}
              <ExchangeConnectionCard savedPlatform={data.exchangePlatform} userId={null} />
            </div>
          )}
        </QueryView>
      </div>
      {passwordDialog ? (
        <Suspense fallback={null}>
          <ChangePasswordDialog isAdmin={user.isAdmin} onClose={() => onPasswordDialog(false)} />
        </Suspense>
      ) : null}
    </Page>
  );
}
