import { useSession } from '../../lib/session.ts';
import { lazily } from '../../ui/lazily.tsx';
import { Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingState } from '../../ui/states.tsx';
import { AttentionCard } from './attention-card.tsx';
import { DashboardLinks } from './dashboard-links.tsx';
import { useFirstRun } from './first-run-data.ts';

const FirstRun = lazily(() => import('./first-run.tsx'));
const Overview = lazily(() => import('./overview.tsx'), <LoadingState />);
const OwnOverview = lazily(() => import('./own-overview.tsx'), <LoadingState />);

export function DashboardScreen() {
  const { user } = useSession();
  return (
    <Page
      title={`Welcome, ${user.username}`}
      documentTitle="Dashboard"
      subtitle="Your trading automation at a glance"
      actions={<DashboardLinks />}
    >
      {user.isAdmin ? <ForAdministrators /> : <OwnOverview />}
    </Page>
  );
}

/** A checklist until the first fill, then the overview, which has its own place for what needs attention. */
function ForAdministrators() {
  const firstRun = useFirstRun();
  const hasOverview = firstRun.data?.filled ?? !firstRun.isError;
  return (
    <>
      {hasOverview ? null : <AttentionCard />}
      <QueryView query={firstRun} errorTitle="Failed to fetch the first steps">
        {(answer) => (answer.filled ? <Overview /> : <FirstRun answer={answer} />)}
      </QueryView>
    </>
  );
}
