import { useEnvironmentStatus } from '../../features/environment/environment-status.ts';
import { WebhookScreen } from '../../features/hooks/webhook-screen.tsx';
import { useSession } from '../../lib/session.ts';

/** Only administrators may ask for the environment. */
export function WebhookPage() {
  return useSession().user.isAdmin ? <AdministratorsWebhookPage /> : <WebhookScreen environment={null} />;
}

function AdministratorsWebhookPage() {
  return <WebhookScreen environment={useEnvironmentStatus().data ?? null} />;
}
