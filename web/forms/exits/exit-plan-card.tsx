import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ExitPlanAnswer } from '#contract/exit-plans.ts';
import { requestJson } from '../../lib/api-client.ts';
import { useSession } from '../../lib/session.ts';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Section } from '../../ui/section.tsx';
import { LoadingState } from '../../ui/states.tsx';
import classes from './exits.module.css';
import { planSteps } from './exits-data.ts';
import { Steps } from './steps.tsx';

const EditExitPlanDialog = lazily(() => import('./edit-exit-plan-dialog.tsx'));
const ApplyExitPlanDialog = lazily(() => import('./apply-exit-plan-dialog.tsx'));

/** The exit plan at this path: as a card of its own, or as a section of another card. */
export default function ExitPlanCard({ path, within = false }: { path: string; within?: boolean }) {
  const query = useQuery<ExitPlanAnswer>({ queryKey: [path] });
  const actions = query.data ? <ExitPlanActions path={path} answer={query.data} /> : null;
  const plan = (
    <QueryView query={query} errorTitle="Failed to fetch the exit plan" loading={<LoadingState isLine />}>
      {(answer) => <PlanSteps answer={answer} />}
    </QueryView>
  );
  return within ? (
    <Section
      spaced
      title={
        <span className={classes.sectionHead}>
          Exit plan
          <span>{actions}</span>
        </span>
      }
    >
      {plan}
    </Section>
  ) : (
    <Panel title="Exit plan" description="What happens to a position after its entry" aside={actions}>
      {plan}
    </Panel>
  );
}

function PlanSteps({ answer: { plan, scope } }: { answer: ExitPlanAnswer }) {
  if (plan !== null) return <Steps steps={planSteps(plan)} />;
  return (
    <p className={classes.note}>
      {scope.kind === 'user'
        ? 'None: positions follow the plan of their strategy, or only stop and target'
        : 'None: positions follow only stop and target'}
    </p>
  );
}

function ExitPlanActions({ path, answer }: { path: string; answer: ExitPlanAnswer }) {
  const { scope, plan } = answer;
  const { user } = useSession();
  const [asking, setAsking] = useState<'edit' | 'remove' | 'apply' | null>(null);
  const close = () => setAsking(null);
  const isThere = plan !== null;
  return (
    <>
      {isThere && user.isAdmin ? (
        <Button size="xs" variant="default" onClick={() => setAsking('apply')}>
          Apply to open positions
        </Button>
      ) : null}
      {isThere ? (
        <Button size="xs" variant="default" onClick={() => setAsking('remove')}>
          Remove plan
        </Button>
      ) : null}
      <Button size="xs" variant="default" onClick={() => setAsking('edit')}>
        Edit plan
      </Button>
      {asking === 'edit' ? <EditExitPlanDialog path={path} answer={answer} onClose={close} /> : null}
      {asking === 'apply' ? <ApplyExitPlanDialog scope={scope} onClose={close} /> : null}
      {asking === 'remove' ? (
        <ConfirmChange
          title="Remove Exit Plan"
          confirmLabel="Remove"
          pendingLabel="Removing..."
          send={() => requestJson<ExitPlanAnswer>(path, { method: 'DELETE' })}
          done={() => ({ title: 'Exit Plan Removed', message: `${scope.title} has no exit plan any more.` })}
          failed={{ otherwise: 'The exit plan was not removed' }}
          refresh={[path]}
          onClose={close}
        >
          <p className={classes.note}>
            {scope.title}: later entries do not follow it. Open positions keep the plan that they have.
          </p>
        </ConfirmChange>
      ) : null}
    </>
  );
}
