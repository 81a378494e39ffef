import { IconChartCandle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { EnvironmentStatus } from '#contract/environment.ts';
import { lazily } from '../../ui/lazily.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { DeliveriesCard } from './deliveries-card.tsx';
import { EndpointsCard } from './endpoints-card.tsx';
import { useWebhookActions } from './use-webhook-actions.ts';
import { NoWebhook, WebhookDetails, WebhookSkeleton } from './webhook-card.tsx';
import classes from './webhook-screen.module.css';
import { useWebhook } from './webhooks.ts';

const WebhookDialogs = lazily(() => import('./webhook-dialogs.tsx'));
const TestDeliveryDialog = lazily(() => import('./test-delivery-dialog.tsx'));

const TEST_KINDS = ['signal', 'candle'] as const;

interface WebhookScreenProps {
  /** Null when unknown, as for ordinary users. */
  environment: EnvironmentStatus | null;
  below?: ReactNode;
}

export function WebhookScreen({ environment, below }: WebhookScreenProps) {
  const webhook = useWebhook();
  const actions = useWebhookActions(webhook.data ?? null);
  const testKind = TEST_KINDS.find((kind) => actions.dialog === `test-${kind}`);
  return (
    <Page
      title="Webhook Configuration"
      subtitle="Manage your webhook endpoints for receiving TradingView signals and price data"
      actions={
        <ButtonLink to="/" variant="default" leftSection={<IconChartCandle size={16} aria-hidden />}>
          Price Logs
        </ButtonLink>
      }
    >
      <div className={classes.columns}>
        <Panel title="Webhook Endpoint">
          <QueryView query={webhook} errorTitle="Failed to fetch webhooks" loading={<WebhookSkeleton />}>
            {(hook) =>
              hook ? <WebhookDetails hook={hook} actions={actions} /> : <NoWebhook actions={actions} />
            }
          </QueryView>
        </Panel>
        <div className={classes.documents}>
          <EndpointsCard />
        </div>
        {webhook.data ? <DeliveriesCard hookId={webhook.data.id} /> : null}
      </div>
      {below}
      {testKind && webhook.data ? (
        <TestDeliveryDialog
          kind={testKind}
          hookId={webhook.data.id}
          environment={environment}
          onClose={actions.close}
        />
      ) : null}
      {actions.dialog && !testKind ? <WebhookDialogs actions={actions} /> : null}
    </Page>
  );
}
