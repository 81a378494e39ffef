import { IconChevronRight, IconSettings, IconShieldLock } from '@tabler/icons-react';
import { useSession } from '../../lib/session.ts';
import { CardGrid, CardLink, StatusList } from '../../ui/overview.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { AttentionCard } from './attention-card.tsx';
import { MyPositions } from './my-positions.tsx';

export function DashboardScreen() {
  const { user } = useSession();
  return (
    <Page
      title={`Welcome, ${user.username}`}
      documentTitle="Dashboard"
      subtitle="Your trading automation at a glance"
    >
      {user.isAdmin ? <AttentionCard /> : null}
      <CardGrid>
        <CardLink
          to="/settings"
          icon={<IconSettings size={20} aria-hidden />}
          title="User Settings"
          text="How positions are sized for you, your exchange and your password"
          aside={<IconChevronRight size={18} aria-hidden />}
        />
        {user.isAdmin ? (
          <CardLink
            to="/admin"
            icon={<IconShieldLock size={20} aria-hidden />}
            title="Admin Dashboard"
            text="Signals, workflows, users and configuration"
            aside={<IconChevronRight size={18} aria-hidden />}
          />
        ) : null}
      </CardGrid>
      <MyPositions />
      <Panel title="System Status">
        <StatusList
          items={[
            ['System', 'Online'],
            ['Session', 'Active'],
            ['Access Level', user.isAdmin ? 'Admin' : 'User'],
          ]}
        />
      </Panel>
    </Page>
  );
}
