import { useMemo, useState } from 'react';
import { ChartCanvas, type LoadDrawing } from '#web/charts/chart-canvas.tsx';
import { ChartFrame } from '#web/charts/chart-frame.tsx';
import classes from '../../charts/candle-chart.module.css';
import { useSession } from '../../lib/session.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Profit } from '../../ui/profit.tsx';
import { EmptyState } from '../../ui/states.tsx';
import {
  describeProfit,
  type ProfitModel,
  type ProfitPoints,
  readablePoints,
  toProfitModel,
} from './profit-chart-model.ts';

const loadDrawing: LoadDrawing<ProfitModel> = async () =>
  (await import('./profit-drawing.ts')).createProfitDrawing;

/** Accumulated profit of closed positions, as a picture or as a table. */
export function ProfitChart({ points: given }: { points: ProfitPoints }) {
  const { displayTimezone } = useSession();
  const formatInstant = useFormatInstant();
  const [pointed, setPointed] = useState<number | null>(null);
  const points = useMemo(() => readablePoints(given), [given]);
  const model = useMemo(() => toProfitModel(points, displayTimezone), [points, displayTimezone]);
  if (points.length === 0) return <EmptyState>No closed positions yet</EmptyState>;

  const point = points[pointed ?? -1] ?? points.at(-1);
  return (
    <ChartFrame
      figures={
        point ? (
          <>
            <span>{formatInstant(point.at)}</span> <Profit amount={point.profit} />
          </>
        ) : null
      }
      table={<ProfitTable points={points} />}
    >
      <ChartCanvas
        load={loadDrawing}
        model={model}
        label={describeProfit(points, formatInstant)}
        onPoint={setPointed}
      />
    </ChartFrame>
  );
}

/** The chart's figures, newest first. */
function ProfitTable({ points }: { points: ProfitPoints }) {
  const formatInstant = useFormatInstant();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={classes.tables} aria-label="Figures of the cumulative profit" tabIndex={0}>
      <table className={classes.table} aria-label="Cumulative profit">
        <thead>
          <tr>
            <th scope="col">Closed</th>
            <th scope="col">Cumulative profit</th>
          </tr>
        </thead>
        <tbody>
          {points.toReversed().map(({ at, profit }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two positions may close at the same moment
            <tr key={index}>
              <td>{formatInstant(at)}</td>
              <td>
                <Profit amount={profit} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
