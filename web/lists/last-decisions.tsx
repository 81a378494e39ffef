import { formatFullPrice, formatQuantity } from '../lib/figures.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import { Badge } from '../ui/badge.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { EmptyState } from '../ui/states.tsx';
import { SideBadge, TokenBadge } from '../ui/trading-badges.tsx';
import { useReadableInstants } from '../ui/use-readable-instants.ts';
import classes from './decisions.module.css';
import { decisionLook, useDecisions } from './decisions-data.ts';

const SHOWN = 5;

/** The last signals with what became of them for the user, one line each and the reason below. */
export function LastDecisions({ userId }: { userId: string }) {
  const decisions = useDecisions(userId, { page: 1, limit: SHOWN });
  const formatInstant = useFormatInstant();
  const readable = useReadableInstants();
  return (
    <QueryView query={decisions} errorTitle="Failed to fetch the last signals">
      {({ decisions: rows }) =>
        rows.length === 0 ? (
          <EmptyState>No signals have arrived yet</EmptyState>
        ) : (
          <ul className={classes.last} aria-label="Last signals">
            {rows.map(({ workflowId, at, token, action, result, reason, filledQuantity, averagePrice }) => {
              const [word, tone] = decisionLook(result);
              return (
                <li key={workflowId}>
                  <TokenBadge token={token} />
                  <SideBadge side={action} />
                  <Badge tone={tone}>{word}</Badge>
                  {filledQuantity === null ? null : (
                    <span className={classes.quiet}>
                      {formatQuantity(filledQuantity)} at {formatFullPrice(averagePrice)}
                    </span>
                  )}
                  <time className={classes.time} dateTime={at}>
                    {formatInstant(at)}
                  </time>
                  {reason === null ? null : <p className={classes.reason}>{readable(reason)}</p>}
                </li>
              );
            })}
          </ul>
        )
      }
    </QueryView>
  );
}
