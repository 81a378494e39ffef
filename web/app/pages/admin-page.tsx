import {
  IconActivity,
  IconCalculator,
  IconChartCandle,
  IconCpu,
  IconRoute,
  IconUsers,
  IconWallet,
  IconWebhook,
} from '@tabler/icons-react';
import { useSession } from '../../lib/session.ts';
import { BackLink } from '../../ui/link.tsx';
import { CardGrid, CardLink, StatusList } from '../../ui/overview.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { type AdminScreen, isAdminScreen, useNavigationPages } from '../navigation.ts';

const CARDS: Record<AdminScreen, { icon: typeof IconActivity; text: string }> = {
  '/price-logs': { icon: IconChartCandle, text: 'Candles and prices as they were received' },
  '/signals': { icon: IconActivity, text: 'Incoming signals and what the automation did with them' },
  '/configuration': { icon: IconWebhook, text: 'Your webhook endpoint for the charting platform' },
  '/position-calculator': {
    icon: IconCalculator,
    text: 'Calculate and submit an order for a signal by hand',
  },
  '/create-client': { icon: IconUsers, text: 'Create users, switch trading and access on or off' },
  '/position-maker': {
    icon: IconCpu,
    text: 'The workers that place orders, and the last orders they placed',
  },
  '/automation-workflows': { icon: IconRoute, text: 'Every workflow run, step by step' },
  '/positions': { icon: IconWallet, text: 'Open and closed positions, profit, and closing by hand' },
};

/** Any signed-in user can open it; only administrators see the cards. */
export function AdminPage() {
  return (
    <Page
      title="Admin Dashboard"
      subtitle="Signals, workflows, users and configuration"
      back={<BackLink to="/">Back to Main</BackLink>}
    >
      {useSession().user.isAdmin ? <AdminCards /> : null}
      <Panel title="System Overview">
        <StatusList
          items={[
            ['System Status', 'Active'],
            ['Data Processing', 'Real-time'],
            ['Access', 'Secure'],
          ]}
        />
      </Panel>
    </Page>
  );
}

function AdminCards() {
  return (
    <QueryView query={useNavigationPages()} errorTitle="Failed to fetch pages">
      {(pages) => (
        <CardGrid>
          {pages.map(({ path, displayName }) => {
            if (!isAdminScreen(path)) return null;
            const { icon: Icon, text } = CARDS[path];
            return (
              <CardLink
                key={path}
                to={path}
                icon={<Icon size={20} aria-hidden />}
                title={displayName}
                text={text}
              />
            );
          })}
        </CardGrid>
      )}
    </QueryView>
  );
}
