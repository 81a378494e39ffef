import { WebhookScreen } from '../../features/hooks/webhook-screen.tsx';

export function WebhookPage() {
  return <WebhookScreen />;
}
