import { useSession } from '../../lib/session.ts';
import { BackLink } from '../../ui/link.tsx';
import { CardGrid, CardLink, StatusList } from '../../ui/overview.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { type AdminScreen, isAdminScreen, useNavigationPages } from '../navigation.ts';
import { NavIcon } from '../shell/nav-icon.tsx';

const TEXTS: Record<AdminScreen, string> = {
  '/price-logs': 'Candles and prices as they were received',
  '/signals': 'Incoming signals and what the automation did with them',
  '/configuration': 'Your webhook endpoint for the charting platform',
  '/position-calculator': 'Calculate and submit an order for a signal by hand',
  '/create-client': 'Create users, switch trading and access on or off',
  '/position-maker': 'The workers that place orders, and the last orders they placed',
  '/automation-workflows': 'Every workflow run, step by step',
  '/positions': 'Open and closed positions, profit, and closing by hand',
  '/strategies': 'Who follows which signals, and how far entries may go',
  '/performance': 'What closed trades brought, for whom, and what execution cost',
  '/audit': 'Who changed what, and when',
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
          {pages.map((page) => {
            const { path, displayName } = page;
            return isAdminScreen(path) ? (
              <CardLink
                key={path}
                to={path}
                icon={<NavIcon page={page} size={20} />}
                title={displayName}
                text={TEXTS[path]}
              />
            ) : null;
          })}
        </CardGrid>
      )}
    </QueryView>
  );
}
