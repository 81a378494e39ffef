import { useQuery } from '@tanstack/react-query';
import type { SignalsAnswer } from '#contract/signals.ts';
import { Ago } from '#web/lists/ago.tsx';
import { Link } from '../../ui/link.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Section } from '../../ui/section.tsx';
import { SideBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import { OutcomeBadge } from '../../ui/workflow-outcome.tsx';
import classes from './strategies.module.css';

const SHOWN = 3;

/** What became of the strategy's last signals. */
export function LastSignals({ processor }: { processor: string }) {
  const query = useQuery<SignalsAnswer>({ queryKey: ['/api/signals', { processor, page: 1, limit: SHOWN }] });
  return (
    <Section
      spaced
      title={
        <span className={classes.lastHead}>
          Last signals
          <Link to="/signals" search={{ processor }}>
            All signals
          </Link>
        </span>
      }
    >
      <QueryView query={query} errorTitle="Failed to fetch the last signals">
        {({ signals }) =>
          signals.length === 0 ? (
            <p className={classes.line}>No signals yet</p>
          ) : (
            <ul className={classes.last} aria-label={`Last signals of ${processor}`}>
              {signals.map(({ id, token, action, workflowStatus, outcome, receivedAt }) => (
                <li key={id}>
                  <TokenBadge token={token} />
                  <SideBadge side={action} />
                  {workflowStatus && outcome ? (
                    <OutcomeBadge status={workflowStatus} outcome={outcome} />
                  ) : (
                    <span>–</span>
                  )}
                  <span className={classes.reason} title={outcome?.topReason ?? undefined}>
                    {outcome?.topReason}
                  </span>
                  <Ago instant={receivedAt} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </Section>
  );
}
