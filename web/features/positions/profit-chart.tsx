import { Button } from '@mantine/core';
import { IconChartLine, IconTable } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { ChartCanvas, type LoadDrawing } from '#web/charts/chart-canvas.tsx';
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
  const [asTable, setAsTable] = useState(false);
  const [pointed, setPointed] = useState<number | null>(null);
  const points = useMemo(() => readablePoints(given), [given]);
  const model = useMemo(() => toProfitModel(points, displayTimezone), [points, displayTimezone]);
  if (points.length === 0) return <EmptyState>No closed positions yet</EmptyState>;

  const point = points[pointed ?? -1] ?? points.at(-1);
  return (
    <figure className={classes.chart}>
      <div className={classes.head}>
        {point && !asTable ? (
          <p className={classes.figures} aria-hidden>
            <span>{formatInstant(point.at)}</span> <Profit amount={point.profit} />
          </p>
        ) : (
          <span />
        )}
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          leftSection={
            asTable ? <IconChartLine size={14} aria-hidden /> : <IconTable size={14} aria-hidden />
          }
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </div>
      {asTable ? (
        <ProfitTable points={points} />
      ) : (
        <ChartCanvas
          load={loadDrawing}
          model={model}
          label={describeProfit(points, formatInstant)}
          onPoint={setPointed}
        />
      )}
      <figcaption className={classes.credit}>
        TradingView Lightweight Charts™, © TradingView, Inc.{' '}
        <a href="https://www.tradingview.com/" target="_blank" rel="noopener noreferrer">
          www.tradingview.com
        </a>
      </figcaption>
    </figure>
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
