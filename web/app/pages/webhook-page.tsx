import { lazy, Suspense } from 'react';
import { useEnvironmentStatus } from '../../features/environment/environment-status.ts';
import { WebhookScreen } from '../../features/hooks/webhook-screen.tsx';
import { useSession } from '../../lib/session.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { NearScreen } from '../../ui/near-screen.tsx';
import { LoadingState } from '../../ui/states.tsx';

const AllWebhooksCard = lazy(() => import('../../features/hooks/all-webhooks-card.tsx'));

/** Only administrators may read the environment status. */
export function WebhookPage() {
  return useSession().user.isAdmin ? <AdministratorsWebhookPage /> : <WebhookScreen environment={null} />;
}

function AdministratorsWebhookPage() {
  return <WebhookScreen environment={useEnvironmentStatus().data ?? null} />;
}

/** The administrator's own webhook above the webhooks of all users. */
export function ConfigurationPage() {
  const below = (
    <>
      <ButtonLink to="/feeds" variant="default" style={{ alignSelf: 'flex-start' }}>
        Feeds: are candles still coming?
      </ButtonLink>
      <NearScreen>
        <Suspense fallback={<LoadingState />}>
          <AllWebhooksCard />
        </Suspense>
      </NearScreen>
    </>
  );
  return <WebhookScreen environment={useEnvironmentStatus().data ?? null} below={below} />;
}
