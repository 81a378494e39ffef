import { IconActivity, IconChartCandle, IconRoute, IconUsers, IconWebhook } from '@tabler/icons-react';
import { AdminScreen } from '../../features/admin/admin-screen.tsx';
import { useSession } from '../../lib/session.ts';
import { CardGrid } from '../../ui/card-grid.tsx';
import { CardLink } from '../../ui/card-link.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useNavigationPages } from '../navigation.ts';
import { type AdminScreen as AdminScreenPath, isAdminScreen } from '../screens.ts';

const CARDS: Record<AdminScreenPath, { icon: typeof IconActivity; text: string }> = {
  '/price-logs': { icon: IconChartCandle, text: 'Candles and prices as they were received' },
  '/signals': { icon: IconActivity, text: 'Incoming signals and what the automation did with them' },
  '/configuration': { icon: IconWebhook, text: 'Your webhook endpoint for the charting platform' },
  '/create-client': { icon: IconUsers, text: 'Create users, switch trading and access on or off' },
  '/automation-workflows': { icon: IconRoute, text: 'Every workflow run, step by step' },
};

/** Open to everybody signed in; who is not an administrator sees the overview alone (decisions §4). */
export function AdminPage() {
  return <AdminScreen cards={useSession().user.isAdmin ? <AdminCards /> : null} />;
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
