import { Button } from '@mantine/core';
import { useState } from 'react';
import type { TradingHaltsAnswer, TradingHaltView } from '#contract/trading-halts.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import { haltEnd, haltEnding } from './halt-text.ts';
import { ResumeDialog } from './resume-dialog.tsx';
import classes from './trading-halts.module.css';

/** Who is halted and why, with the way out; below it how the last halts ended. */
export default function TradingHaltsPanel({ answer: { halts, ended } }: { answer: TradingHaltsAnswer }) {
  const formatInstant = useFormatInstant();
  const [resuming, setResuming] = useState<TradingHaltView | null>(null);
  const common: CardColumn<TradingHaltView>[] = [
    { header: 'Token', place: 'title', cell: ({ token }) => <TokenBadge token={token} /> },
    { header: 'User', cell: ({ username }) => username },
    { header: 'Exchange', cell: ({ exchangePlatform }) => exchangePlatform },
    { header: 'Since', cell: ({ since }) => formatInstant(since) },
  ];
  const open: CardColumn<TradingHaltView>[] = [
    ...common,
    {
      header: 'State',
      cell: ({ kind, clearedAt }) => {
        if (kind === 'unverified') return <Badge tone="warning">Not verified</Badge>;
        return clearedAt === null ? (
          <Badge tone="failure">No stop</Badge>
        ) : (
          <Badge tone="success">Can be resumed</Badge>
        );
      },
    },
    {
      header: 'Actions',
      place: 'action',
      cell: (halt) =>
        halt.kind === 'unverified' ? null : (
          <Button
            size="compact-xs"
            disabled={halt.clearedAt === null}
            aria-label={`Resume trading of ${halt.username} after ${halt.token}`}
            onClick={() => setResuming(halt)}
          >
            Resume trading
          </Button>
        ),
    },
  ];
  const over: CardColumn<TradingHaltView>[] = [
    ...common,
    { header: 'Ended', cell: ({ endedAt }) => formatInstant(endedAt) },
    { header: 'How', cell: haltEnd },
  ];
  const idOf = ({ id }: TradingHaltView) => id;
  return (
    <Panel
      flush
      title="Trading Halts"
      description="Users who open nothing, because a position has no verified stop loss"
    >
      <CardTable
        label="Trading Halts"
        columns={open}
        rows={halts}
        rowId={idOf}
        emptyText="Nobody is halted"
        minWidth={760}
        note={(halt) => (
          <p className={classes.reason}>
            {halt.reason}. {haltEnding(halt, { isAdmin: true })}
          </p>
        )}
      />
      {ended.length === 0 ? null : (
        <details className={classes.ended}>
          <summary>Halts that have ended ({ended.length})</summary>
          <CardTable
            label="Ended Trading Halts"
            columns={over}
            rows={ended}
            rowId={idOf}
            emptyText="None has ended"
            minWidth={760}
            note={({ reason, clearedHow }) => (
              <p className={classes.reason}>
                {reason}. {clearedHow === null ? '' : `${clearedHow}.`}
              </p>
            )}
          />
        </details>
      )}
      {resuming === null ? null : <ResumeDialog halt={resuming} onClose={() => setResuming(null)} />}
    </Panel>
  );
}
