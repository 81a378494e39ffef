import { Button } from '@mantine/core';
import type { TradingStopView } from '#contract/trading-stops.ts';
import { type CardColumn, CardTable } from '#web/lists/card-table.tsx';
import { formatCount } from '../../lib/format.ts';
import { stopDialog, useTradingStops } from '../../lib/trading-stops.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { isPause, scopeText } from './stop-text.ts';
import { useUserNames } from './use-user-names.ts';

/** All stops of new entries, each with the way to lift it; a pause is lifted in its user's settings or on the overview. */
export function ActiveStops() {
  const stops = useTradingStops();
  const nameOf = useUserNames();
  const formatInstant = useFormatInstant();
  const columns: CardColumn<TradingStopView>[] = [
    { header: 'Stopped', place: 'title', cell: ({ scope }) => scopeText(scope, nameOf) },
    { header: 'Reason', cell: (stop) => (isPause(stop) ? 'Paused in the settings' : stop.reason) },
    {
      header: 'Since',
      cell: ({ createdAt, createdBy }) =>
        createdAt === null
          ? null
          : `${formatInstant(createdAt)}${createdBy === null ? '' : `, ${createdBy}`}`,
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
