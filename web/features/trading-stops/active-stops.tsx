import { Button } from '@mantine/core';
import type { TradingStopView } from '#contract/trading-stops.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { formatCount } from '../../lib/format.ts';
import { stopDialog, useTradingStops } from '../../lib/trading-stops.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import classes from './active-stops.module.css';
import { isPause, scopeText } from './stop-text.ts';
import { useUserNames } from './use-user-names.ts';

/** All stops of new entries, each with the way to lift it; a pause is lifted in its user's settings or on the overview. */
export function ActiveStops() {
  const stops = useTradingStops();
  const nameOf = useUserNames();
  const formatInstant = useFormatInstant();
  const columns: CardColumn<TradingStopView>[] = [
    { header: 'Stopped', place: 'title', cell: ({ scope }) => <Whole>{scopeText(scope, nameOf)}</Whole> },
    {
      header: 'Reason',
      cell: (stop) => <Whole>{isPause(stop) ? 'Paused in the settings' : stop.reason}</Whole>,
    },
    {
      header: 'Since',
      cell: ({ createdAt, createdBy }) =>
        createdAt === null ? null : (
          <Whole>{`${formatInstant(createdAt)}${createdBy === null ? '' : `, ${createdBy}`}`}</Whole>
        ),
    },
    { header: 'Until', cell: ({ until }) => (until === null ? 'Until lifted' : formatInstant(until)) },
    {
      header: 'Actions',
      place: 'action',
      cell: (stop) =>
        isPause(stop) ? null : (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Lift the stop of ${scopeText(stop.scope, nameOf)}`}
            onClick={() => stopDialog.set({ action: 'stop', ...stop.scope })}
          >
            Lift
          </Button>
        ),
    },
  ];
  return (
    <Panel
      flush
      title="Active stops"
      description={
        stops.data ? `${formatCount(stops.data.length)}, of new entries only` : 'Of new entries only'
      }
    >
      <QueryView query={stops} errorTitle="Failed to fetch the stops">
        {(rows) => (
          <CardTable
            label="Active stops"
            columns={columns}
            rows={rows}
            rowId={({ id }) => id}
            emptyText="Nothing is stopped"
            minWidth={0}
          />
        )}
      </QueryView>
    </Panel>
  );
}

/** Long names and reasons take more lines, and are seen whole. */
const Whole = ({ children }: { children: string | null }) =>
  children === null ? null : <span className={classes.whole}>{children}</span>;
