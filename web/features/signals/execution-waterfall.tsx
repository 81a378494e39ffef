import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import type { ExecutionReport } from '#contract/execution.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import classes from './execution-waterfall.module.css';

type User = ExecutionReport['users'][number];
type Signal = ExecutionReport['signal'];

const STAGES = [
  ['decided', 'Decided'],
  ['sent', 'Sent'],
  ['accepted', 'Accepted'],
  ['filled', 'Filled'],
  ['protected', 'Stop verified'],
] as const satisfies readonly (readonly [keyof User, string])[];

const SPENT_ON = { queue: 'our queue', limits: 'request limits', exchange: 'the exchange' } as const;

/** How each user's order of a signal went, stage by stage from receipt, as bars on one time axis. */
export default function ExecutionWaterfall({ signalId }: { signalId: string }) {
  const query = useQuery<ExecutionReport>({
    queryKey: [`/api/signals/${encodeURIComponent(signalId)}/execution`],
    staleTime: 0,
  });
  return (
    <QueryView query={query} errorTitle="Failed to fetch the execution">
      {({ signal, users }) =>
        users.length === 0 ? (
          <EmptyState>No user was eligible for this signal, so nothing was executed</EmptyState>
        ) : (
          <Report signal={signal} users={users} />
        )
      }
    </QueryView>
  );
}

function Report({ signal, users }: { signal: Signal; users: User[] }) {
  const endMs = Math.max(1, ...users.flatMap((user) => STAGES.map(([stage]) => user[stage] ?? 0)));
  return (
    <div className={classes.report}>
      <p className={classes.summary}>{summarise(signal)}</p>
      {signal.late.map(({ userId, username, accepted, mostly }) => (
        <p key={userId} className={classes.late}>
          {username} was late: accepted after {duration(accepted)}, mostly {SPENT_ON[mostly]}
        </p>
      ))}
      <ul className={classes.legend} aria-label="Stages">
        {STAGES.map(([stage, name]) => (
          <li key={stage}>
            <span className={classes.swatch} data-stage={stage} />
            {name}
          </li>
        ))}
      </ul>
      <div className={classes.scroll}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">User</th>
              <th scope="col">From receipt to {duration(endMs)}</th>
              <th scope="col">Filled</th>
              <th
                scope="col"
                title="Fill against the signal's price and the planned entry; positive is worse"
              >
                Slippage, bps
              </th>
              <th scope="col">Requests</th>
            </tr>
          </thead>
          <tbody>
            {users.map((user) => (
              <tr key={user.userId}>
                <td className="numeric">{user.rank ?? '–'}</td>
                <th scope="row" title={user.username}>
                  {user.username}
                </th>
                <td>
                  <Bar user={user} endMs={endMs} />
                </td>
                <td className="numeric">{user.filled === null ? '–' : duration(user.filled)}</td>
                <td className="numeric">
                  {signed(user.slippageSignalBps)} / {signed(user.slippageEntryBps)}
                </td>
                <td className="numeric">{user.requests}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** The time up to each stage, one part a stage. Waiting for the fill is hatched. */
function Bar({ user, endMs }: { user: User; endMs: number }) {
  let from = 0;
  const parts = STAGES.flatMap(([stage, name]) => {
    const at = user[stage];
    if (at === null) return [];
    const part = { stage, name, at, from: Math.min(from, at) };
    from = Math.max(from, at);
    return [part];
  });
  if (parts.length === 0) return <span className={classes.nothing}>No order</span>;
  return (
    <>
      <div className={classes.bar} aria-hidden="true">
        {parts.map(({ stage, name, at, from: start }) => (
          <span
            key={stage}
            data-stage={stage}
            title={`${name} after ${duration(at)}`}
            style={{ left: percent(start / endMs), width: percent((at - start) / endMs) }}
          />
        ))}
      </div>
      <span className="visually-hidden">
        {parts.map(({ stage, name, at }, index) => (
          <Fragment key={stage}>
            {index > 0 ? ', ' : ''}
            {name} after {duration(at)}
          </Fragment>
        ))}
      </span>
    </>
  );
}

const percent = (share: number) => `${(share * 100).toFixed(2)}%`;

const duration = (ms: number) =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;

const signed = (bps: string | null) =>
  bps === null ? '–' : Number(bps) > 0 ? `+${bps}` : bps.replace('-', '−');

function summarise({ firstOrder, lastOrder, spreadOfFills, sent, filled }: Signal): string {
  if (firstOrder === null || lastOrder === null || sent === null) return 'No order was sent.';
  const orders =
    firstOrder === lastOrder
      ? `Order sent ${duration(firstOrder)} after receipt`
      : `Orders sent ${duration(firstOrder)} to ${duration(lastOrder)} after receipt (median ${duration(sent.p50)}, p95 ${duration(sent.p95)})`;
  if (filled === null || spreadOfFills === null) return `${orders}; nothing filled.`;
  return `${orders}; filled after ${duration(filled.p50)} (p95 ${duration(filled.p95)}), within ${duration(spreadOfFills)} of each other.`;
}
