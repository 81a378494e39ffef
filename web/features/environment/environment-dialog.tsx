import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { EnvironmentStatus } from '#contract/environment.ts';
import { orderSubmissionAllowed } from '#domain/eligibility/trading-mode.ts';
import { useAttention } from '../../lib/attention.ts';
import { truncate } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Notice } from '../../ui/notice.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Section } from '../../ui/section.tsx';
import { environmentBanner } from './environment-banner.ts';
import classes from './environment-dialog.module.css';
import { environmentName, exchangeModeLook } from './environment-look.ts';

const ID_LENGTH = 20;

interface EnvironmentDialogProps {
  query: UseQueryResult<EnvironmentStatus>;
  onClose: () => void;
}

export default function EnvironmentDialog({ query, onClose }: EnvironmentDialogProps) {
  return (
    <Dialog opened onClose={onClose} title="System Environment Details" size="lg">
      <QueryView query={query} errorTitle="Failed to fetch environment status">
        {(status) => <EnvironmentDetails status={status} />}
      </QueryView>
    </Dialog>
  );
}

function EnvironmentDetails({ status }: { status: EnvironmentStatus }) {
  const formatInstant = useFormatInstant();
  const banner = environmentBanner(status);
  const mode = exchangeModeLook(status.exchangeMode);
  const deploymentId: [string, ReactNode][] = status.deploymentId
    ? [['Deployment ID', truncate(status.deploymentId, ID_LENGTH)]]
    : [];
  return (
    <div className={classes.details}>
      <Section title="Environment Configuration">
        <Facts
          columns={2}
          facts={[
            ['Environment', environmentName(status.environment)],
            ['Node Environment', status.nodeEnv],
            onOff('Deployment', status.isDeployment, ['DEPLOYED', 'LOCAL']),
            onOff('Auto-Trade', status.autoTradeEnabled, ['ENABLED', 'DISABLED']),
            onOff('Auto-Trade Config', status.autoTradeConfigured, ['CONFIGURED', 'NOT CONFIGURED']),
            onOff('Signal Processing', status.canProcessSignals, ['ACTIVE', 'INACTIVE']),
            onOff('Orders by Hand', orderSubmissionAllowed(status), ['ENABLED', 'DISABLED']),
            [
              'Exchange Mode',
              <Badge key="m" tone={status.exchangeMode === 'live' ? 'failure' : 'neutral'}>
                {mode.label}
              </Badge>,
            ],
          ]}
        />
      </Section>
      <Section title="Server Information">
        <Facts
          columns={2}
          facts={[
            ['Server Instance ID', truncate(status.serverInstanceId, ID_LENGTH)],
            ...deploymentId,
            onOff('Has Deployment ID', status.hasDeploymentId, ['YES', 'NO']),
          ]}
        />
      </Section>
      <Section title="System Status">
        <Notice look={banner.look} title={banner.title}>
          {banner.text}
          <CriticalConditions />
        </Notice>
        {status.exchangeMode === 'live' ? (
          <Notice className={classes.money} look="failure" title="Real Money">
            {mode.text}
          </Notice>
        ) : (
          <p className={classes.noMoney}>{mode.text}</p>
        )}
      </Section>
      <p className={classes.foot}>
        <span className="numeric">Last updated: {formatInstant(status.timestamp)}</span>
        <span>Auto-refreshes every 30 seconds</span>
      </p>
    </div>
  );
}

/** Separate from the banner, which covers only automatic trading; a critical condition may concern something else. */
function CriticalConditions() {
  const count = useAttention().data?.conditions.filter(({ severity }) => severity === 'critical').length ?? 0;
  if (count === 0) return null;
  return (
    <p className={classes.critical}>
      {count === 1 ? '1 critical condition' : `${count} critical conditions`}
    </p>
  );
}

const onOff = (name: string, on: boolean, words: [on: string, off: string]): [string, ReactNode] => [
  name,
  <Badge key={name} tone={on ? 'accent' : 'neutral'}>
    {on ? words[0] : words[1]}
  </Badge>,
];
