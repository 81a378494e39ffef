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

/** Open to everybody signed in; who is not an administrator sees the overview alone. */
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
