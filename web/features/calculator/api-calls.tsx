import type { ApiCall } from '#contract/position-maker.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import classes from './order.module.css';

/** What was said to the exchange, in its order. */
export function ApiCalls({ calls }: { calls: readonly ApiCall[] }) {
  const formatInstant = useFormatInstant();
  if (calls.length === 0) return <p className={classes.quiet}>The exchange was not called</p>;
  return (
    <ol className={classes.calls} aria-label="API Call Sequence">
      {calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls have no identity and keep their order
        <li key={index}>
          <details>
            <summary>
              <span className={classes.callType}>{call.type}</span>
              <span className={`mono ${classes.endpoint}`}>
                {call.method} {call.endpoint}
              </span>
              <span className={classes.quiet}>{formatInstant(call.timestamp)}</span>
              <Badge tone={call.success ? 'success' : 'failure'}>
                {call.status ?? 'no answer'} {call.success ? 'OK' : 'failed'}
              </Badge>
            </summary>
            <JsonView value={call.requestData} label={`Request ${index + 1}`} />
            <JsonView value={call.responseData} label={`Response ${index + 1}`} />
          </details>
        </li>
      ))}
    </ol>
  );
}
