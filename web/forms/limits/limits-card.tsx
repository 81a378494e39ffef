import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RiskLimitsAnswer } from '#contract/risk-limits.ts';
import { requestJson } from '../../lib/api-client.ts';
import { useSession } from '../../lib/session.ts';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingState } from '../../ui/states.tsx';
import { LimitGauges } from './limit-gauges.tsx';

const EditLimitsDialog = lazily(() => import('./edit-limits-dialog.tsx'));

/** The program looks every few seconds. */
const REFRESH_MS = 10_000;

/** The limits at this path, as a card of their own. */
export default function LimitsCard({ path, title = 'Limits', description }: LimitsCardProps) {
  const query = useQuery<RiskLimitsAnswer>({ queryKey: [path], refetchInterval: REFRESH_MS });
  return (
    <Panel
      title={title}
      description={description}
      aside={query.data ? <LimitActions path={path} answer={query.data} refresh={[path]} /> : null}
    >
      <QueryView query={query} errorTitle="Failed to fetch limits" loading={<LoadingState isLine />}>
        {(answer) => <LimitGauges answer={answer} />}
      </QueryView>
    </Panel>
  );
}

interface LimitsCardProps {
  path: string;
  title?: string;
  description?: string;
}

/** Edits the limits, and lifts what they stop. */
export function LimitActions(props: { path: string; answer: RiskLimitsAnswer; refresh: readonly string[] }) {
  const { path, answer, refresh } = props;
  const { user } = useSession();
  const [asking, setAsking] = useState<'edit' | 'reset' | null>(null);
  const close = () => setAsking(null);
  return (
    <>
      {user.isAdmin && answer.breaches.length > 0 ? (
        <Button size="xs" variant="default" onClick={() => setAsking('reset')}>
          Reset
        </Button>
      ) : null}
      <Button size="xs" variant="default" onClick={() => setAsking('edit')}>
        Edit limits
      </Button>
      {asking === 'edit' ? (
        <EditLimitsDialog
          path={path}
          answer={answer}
          mayLoosen={user.isAdmin}
          refresh={refresh}
          onClose={close}
        />
      ) : null}
      {asking === 'reset' ? (
        <ConfirmChange
          title="Reset Limits"
          confirmLabel="Reset"
          pendingLabel="Resetting..."
          send={() => requestJson<RiskLimitsAnswer>(`${path}/reset`, { method: 'POST' })}
          done={({ scope }) => ({ title: 'Limits Reset', message: `${scope.title} may enter again.` })}
          failed={{ otherwise: 'The limits were not reset' }}
          refresh={refresh}
          onClose={close}
        >
          <Text size="sm">
            {answer.scope.title}: new entries are allowed again at once. Loss of the day, drawdown and losses
            in a row count from now; the limits stay.
          </Text>
        </ConfirmChange>
      ) : null}
    </>
  );
}
