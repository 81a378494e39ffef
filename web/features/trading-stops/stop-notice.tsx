import { Button, Progress } from '@mantine/core';
import { IconHandStop, IconSquareX } from '@tabler/icons-react';
import type { CloseAllRun } from '#contract/close-all.ts';
import type { TradingStopView } from '#contract/trading-stops.ts';
import { requestJson } from '../../lib/api-client.ts';
import { formatCount } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { closeAllPath, stopDialog } from '../../lib/trading-stops.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { useChange } from '../../ui/use-change.ts';
import classes from './stop-notice.module.css';
import { scopeText } from './stop-text.ts';
import { useUserNames } from './use-user-names.ts';

interface StopNoticeProps {
  /** Those for everybody. */
  stops: readonly TradingStopView[];
  runs: readonly CloseAllRun[];
}

export function StopNotice({ stops, runs }: StopNoticeProps) {
  const { isAdmin } = useSession().user;
  const formatInstant = useFormatInstant();
  const [stop] = stops;
  return (
    <>
      {stop === undefined ? null : (
        <aside className={classes.banner} aria-label="Stop of new entries">
          <IconHandStop size={20} aria-hidden />
          <div className={classes.text} role="status">
            <strong>New entries are stopped for everybody</strong>
            {stop.createdAt === null ? '' : ` since ${formatInstant(stop.createdAt)}`} by {stop.createdBy}
            {stop.reason === null ? '' : ` (${stop.reason})`}
            {stop.until === null ? '' : `, until ${formatInstant(stop.until)}`}. Positions stay open and keep
            their stops.
          </div>
          {isAdmin ? (
            <Button
              size="xs"
              variant="default"
              onClick={() => stopDialog.set({ action: 'stop', kind: 'all', value: null })}
            >
              Lift…
            </Button>
          ) : null}
        </aside>
      )}
      {runs.map((run) => (
        <CloseAllNotice key={run.id} run={run} />
      ))}
    </>
  );
}

const MOST_NAMED = 3;

function CloseAllNotice({ run }: { run: CloseAllRun }) {
  const nameOf = useUserNames();
  const dismiss = useChange<null>({
    send: () => requestJson<null>(`${closeAllPath}/${run.id}`, { method: 'DELETE' }),
    failed: { title: 'The closing was not dismissed' },
    refresh: [closeAllPath],
  });
  const { state, total, closed, failed, skipped, scope, createdBy } = run;
  const name = scopeText(scope, nameOf);
  const more = failed.length - MOST_NAMED;
  const counted = total === 1 ? '1 position' : `${formatCount(total)} positions`;
  return (
    <aside
      className={failed.length > 0 ? classes.banner : classes.progress}
      aria-label="Closing of all positions"
    >
      <IconSquareX size={20} aria-hidden />
      <div className={classes.text}>
        <div role="status">
          <strong>
            {state === 'running' ? 'Closing' : 'Closed'} {formatCount(closed)} of {counted}
          </strong>{' '}
          of {name}, asked for by {createdBy}
          {skipped.length === 0 ? '' : `; ${skipped.length} not opened here and not touched`}.
        </div>
        {failed.length === 0 ? null : (
          <ul role="alert">
            {failed.slice(0, MOST_NAMED).map(({ userId, token, reason }) => (
              <li key={`${userId} ${token}`}>
                {token} of {nameOf(userId)} could not be closed and is tried every minute: {reason}
              </li>
            ))}
            {more > 0 ? <li>{more} more</li> : null}
          </ul>
        )}
        {total > 0 ? (
          <Progress
            mt={6}
            size="sm"
            value={(closed / total) * 100}
            aria-label={`${formatCount(closed)} of ${counted} closed`}
          />
        ) : null}
      </div>
      {state === 'running' || failed.length > 0 ? (
        <Button size="xs" variant="default" disabled={dismiss.isPending} onClick={() => dismiss.mutate()}>
          {state === 'running' ? 'Stop closing' : 'Dismiss'}
        </Button>
      ) : null}
    </aside>
  );
}
