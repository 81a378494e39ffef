import { useQuery } from '@tanstack/react-query';
import type { ApplyExitPlanAnswer, ExitPlanAnswer } from '#contract/exit-plans.ts';
import { requestJson } from '../../lib/api-client.ts';
import { capitalise } from '../../lib/format.ts';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import classes from './exits.module.css';
import { EXIT_PLANS, plannedSteps } from './exits-data.ts';
import { Steps } from './steps.tsx';

const APPLY = `${EXIT_PLANS}/apply`;

/** Shows what the plan does with each open position, then applies it. */
export default function ApplyExitPlanDialog(props: { scope: ExitPlanAnswer['scope']; onClose: () => void }) {
  const { title, ...scope } = props.scope;
  const send = (preview: boolean) =>
    requestJson<ApplyExitPlanAnswer>(APPLY, { method: 'POST', body: { scope: pick(scope), preview } });
  // The prices and quantities of the moment, asked for at every opening.
  const preview = useQuery({
    queryKey: ['exit-plan-preview', scope.kind, scope.value],
    queryFn: () => send(true),
    staleTime: 0,
    gcTime: 0,
  });
  const count = preview.data?.applied ?? 0;
  return (
    <ConfirmChange
      title={`Apply to open positions: ${title}`}
      confirmLabel={count === 1 ? 'Apply to 1 position' : `Apply to ${count} positions`}
      pendingLabel="Applying..."
      disabled={count === 0}
      send={() => send(false)}
      done={({ applied }) => ({
        title: 'Exit Plan Applied',
        message: `${applied === 1 ? '1 open position follows' : `${applied} open positions follow`} it.`,
      })}
      failed={{ otherwise: 'The exit plan was not applied' }}
      refresh={['/api/positions']}
      onClose={props.onClose}
    >
      <QueryView query={preview} errorTitle="Failed to read the open positions">
        {({ positions }) =>
          positions.length === 0 ? (
            <EmptyState>No position is open</EmptyState>
          ) : (
            <ul className={classes.positions} aria-label="Open positions">
              {positions.map((position) => (
                <li key={position.tradeId}>
                  <h4>
                    {position.token} {capitalise(position.side)} of {position.username}, entry{' '}
                    {position.entryPrice}
                  </h4>
                  {position.exits === null ? (
                    <p className={classes.note}>Left as it is: {position.skipped}</p>
                  ) : (
                    <Steps steps={plannedSteps(position.exits, position.token)} />
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </ConfirmChange>
  );
}

const pick = ({ kind, value }: Pick<ExitPlanAnswer['scope'], 'kind' | 'value'>) => ({ kind, value });
