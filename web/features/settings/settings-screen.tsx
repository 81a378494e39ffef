import { Alert, Button } from '@mantine/core';
import { IconAlertTriangle, IconLock, IconRobot, IconWebhook } from '@tabler/icons-react';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import type { CurrentUser } from '#contract/auth.ts';
import type { UserSettings } from '#contract/settings.ts';
import type { User } from '#contract/users.ts';
import { userLimits } from '#web/forms/limits/limits-data.ts';
import { type Place, UnsavedChangesGuard } from '#web/forms/unsaved-changes-guard.tsx';
import { useKeptWhileLive } from '../../lib/live/live-context.tsx';
import { readSettings, type StoredSettingsAnswer } from '../../lib/read-settings.ts';
import { useSession } from '../../lib/session.ts';
import { useChangeSearch } from '../../lib/use-change-search.ts';
import { settingsPath, userPath } from '../../lib/user-paths.ts';
import { lazily } from '../../ui/lazily.tsx';
import { BackLink, ButtonLink } from '../../ui/link.tsx';
import { NearScreen } from '../../ui/near-screen.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingState } from '../../ui/states.tsx';
import { AccountStatusCard, UserInfoCard } from './account-cards.tsx';
import { SecondFactorCard } from './second-factor/second-factor-card.tsx';
import classes from './settings-screen.module.css';
import type { SettingsSearch } from './settings-search.ts';
import { TradingSettingsCard } from './trading-settings-card.tsx';

const AccessCards = lazily(() => import('./access-cards.tsx'), <LoadingState minHeight={200} />);
const AutomationCard = lazily(() => import('./automation-card.tsx'), <LoadingState minHeight={470} />);
// As high as these cards are at least.
const CONNECTION_HEIGHT = 390;
const ExchangeConnectionCard = lazily(
  () => import('./exchange-connection-card.tsx'),
  <LoadingState minHeight={CONNECTION_HEIGHT} />,
);
const LIMITS_HEIGHT = 90;
const LimitsCard = lazily(
  () => import('#web/forms/limits/limits-card.tsx'),
  <LoadingState isLine minHeight={LIMITS_HEIGHT} />,
);
const EXIT_PLAN_HEIGHT = 100;
const ExitPlanCard = lazily(
  () => import('#web/forms/exits/exit-plan-card.tsx'),
  <LoadingState isLine minHeight={EXIT_PLAN_HEIGHT} />,
);
const FEE_HEIGHT = 100;
const StatementFeeCard = lazily(
  () => import('./statement-fee-card.tsx'),
  <LoadingState isLine minHeight={FEE_HEIGHT} />,
);
const ChangePasswordDialog = lazily(() => import('./change-password-dialog.tsx'));

const SUBTITLE = 'Account information and how positions are sized';

const useSettings = (userId: string | null) =>
  useQuery<StoredSettingsAnswer, Error, UserSettings>({
    queryKey: [settingsPath(userId)],
    select: readSettings,
    ...useKeptWhileLive(),
  });

const userIdOf = ({ search }: Place) => ('userId' in search ? search.userId : undefined);

/** Whether a navigation leaves the forms. Opening a dialog changes the URL but keeps the forms. */
const leavesForms = (from: Place, to: Place) =>
  from.pathname !== to.pathname || userIdOf(from) !== userIdOf(to);

/** A userId in the URL enables admin mode. Ordinary users always see their own settings. */
export function SettingsScreen() {
  const search = useSearch({ from: '/settings' });
  const { user } = useSession();
  const adminModeOf = user.isAdmin ? search.userId : undefined;
  return (
    <>
      {adminModeOf !== undefined && adminModeOf !== user.id ? (
        <OtherUserSettings key={adminModeOf} userId={adminModeOf} />
      ) : (
        <OwnSettings
          key={adminModeOf ?? ''}
          user={user}
          adminMode={adminModeOf !== undefined}
          passwordDialog={search.dialog === 'password'}
        />
      )}
      <UnsavedChangesGuard leaves={leavesForms} />
    </>
  );
}

interface OwnSettingsProps {
  user: CurrentUser;
  /** An administrator put their own id in the URL: shows the Automation card, without the warning about other users. */
  adminMode: boolean;
  passwordDialog: boolean;
}

function OwnSettings({ user, adminMode, passwordDialog }: OwnSettingsProps) {
  const settings = useSettings(null);
  const changeSearch = useChangeSearch<SettingsSearch>();
  return (
    <Page
      title={adminMode ? `User Settings - ${user.username}` : 'User Settings'}
      subtitle={SUBTITLE}
      back={adminMode ? <BackLink to="/create-client">Back to Users</BackLink> : null}
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
              onClick={() => changeSearch({ dialog: 'password' })}
            >
              Change Password
            </Button>
          </Panel>
          <SecondFactorCard />
          <NearScreen>
            <AccessCards />
          </NearScreen>
        </div>
        <SettingsCards settings={settings} user={user} isSelf automation={adminMode} />
      </div>
      {passwordDialog ? (
        <ChangePasswordDialog isAdmin={user.isAdmin} onClose={() => changeSearch({ dialog: undefined })} />
      ) : null}
    </Page>
  );
}

function OtherUserSettings({ userId }: { userId: string }) {
  const user = useQuery<{ user: User }, Error, User>({
    queryKey: [userPath(userId)],
    select: (answer) => answer.user,
    ...useKeptWhileLive(),
  });
  const settings = useSettings(userId);
  return (
    <Page
      title={`User Settings - ${user.data?.username ?? '...'}`}
      subtitle={SUBTITLE}
      back={<BackLink to="/create-client">Back to Users</BackLink>}
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
            <SettingsCards settings={settings} user={other} isSelf={false} automation />
          </div>
        )}
      </QueryView>
    </Page>
  );
}

interface SettingsCardsProps {
  settings: UseQueryResult<UserSettings>;
  user: { id: string; username: string };
  isSelf: boolean;
  /** Shows what only administrators set. */
  automation: boolean;
}

/** The cards below the trading settings load independently, so the screen does not wait for them. */
function SettingsCards({ settings, user, isSelf, automation }: SettingsCardsProps) {
  return (
    <QueryView query={settings} errorTitle="Failed to fetch settings">
      {(data) => (
        <div className={classes.column}>
          <TradingSettingsCard settings={data} otherUser={isSelf ? null : user} />
          {automation ? <AutomationCard settings={data} user={user} isSelf={isSelf} /> : null}
          <NearScreen minHeight={CONNECTION_HEIGHT}>
            <ExchangeConnectionCard savedPlatform={data.exchangePlatform} userId={isSelf ? null : user.id} />
          </NearScreen>
          <NearScreen minHeight={LIMITS_HEIGHT}>
            <LimitsCard path={userLimits(user.id)} title="Risk limits" />
          </NearScreen>
          <NearScreen minHeight={EXIT_PLAN_HEIGHT}>
            <ExitPlanCard path={`/api/exit-plans/users/${user.id}`} />
          </NearScreen>
          {automation ? (
            <NearScreen minHeight={FEE_HEIGHT}>
              <StatementFeeCard user={user} />
            </NearScreen>
          ) : null}
        </div>
      )}
    </QueryView>
  );
}
