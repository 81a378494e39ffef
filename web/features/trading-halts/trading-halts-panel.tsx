import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import type { TradingHaltsAnswer, TradingHaltView } from '#contract/trading-halts.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { requestJson } from '../../lib/api-client.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Badge } from '../../ui/badge.tsx';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Panel } from '../../ui/panel.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import { haltsPath } from './get-trading-halts.ts';
import { haltEnd, haltEnding } from './halt-text.ts';
import classes from './trading-halts.module.css';

/** Halted users with reason and remedy; below them, how the last halts ended. */
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
          <Badge tone="failure">{kind === 'surplus' ? 'Traded by hand' : 'No stop'}</Badge>
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
      description="Users who open nothing, because a position has no verified stop loss, or is not what their orders filled"
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

function ResumeDialog({ halt, onClose }: { halt: TradingHaltView; onClose: () => void }) {
  const formatInstant = useFormatInstant();
  const { id, username, token } = halt;
  return (
    <ConfirmChange
      title={`Resume Trading - ${username}`}
      confirmLabel="Resume Trading"
      pendingLabel="Resuming..."
      send={() => requestJson(`${haltsPath}/${id}/resume`, { method: 'POST', body: {} })}
      done={() => ({ title: 'Trading Resumed', message: `${username} trades again` })}
      failed={{ title: 'Failed to Resume Trading' }}
      refresh={[haltsPath]}
      onClose={onClose}
    >
      <Text size="sm">
        From the next signal on, orders are opened for <strong>{username}</strong> again. Look at the position
        at the exchange first.
      </Text>
      <Facts
        columns={1}
        facts={[
          ['Why', halt.reason],
          ['Since', formatInstant(halt.since)],
          ['Now', halt.clearedHow],
          ['Seen', formatInstant(halt.clearedAt)],
          ['Position', `${token}, ${halt.exchangePlatform}`],
        ]}
      />
    </ConfirmChange>
  );
}
