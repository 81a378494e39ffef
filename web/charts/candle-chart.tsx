import { useMemo, useState } from 'react';
import { useSession } from '../lib/session.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import { lazily } from '../ui/lazily.tsx';
import { EmptyState } from '../ui/states.tsx';
import classes from './candle-chart.module.css';
import { type ChartModel, toChartModel } from './candle-chart-model.ts';
import { type CandlePicture, describeEvents, describePicture, readablePart } from './candle-chart-picture.ts';
import { ChartCanvas, type LoadDrawing } from './chart-canvas.tsx';
import { ChartFrame } from './chart-frame.tsx';

const loadTable = () => import('./candle-chart-table.tsx');
const CandleTable = lazily(loadTable, <div className={classes.frame} data-loading />);
const prepareTable = () => void loadTable().catch(() => {});

const loadDrawing: LoadDrawing<ChartModel> = async () =>
  (await import('./candle-chart-drawing.ts')).createDrawing;

/** Candles with their mark, levels and fills, as a picture or as a table. */
export function CandleChart({ picture: given }: { picture: CandlePicture }) {
  const { displayTimezone } = useSession();
  const formatInstant = useFormatInstant();
  const [pointed, setPointed] = useState<number | null>(null);
  const picture = useMemo(() => readablePart(given), [given]);
  const model = useMemo(() => toChartModel(picture, displayTimezone), [picture, displayTimezone]);
  if (picture.candles.length === 0) return <WithoutCandles picture={picture} />;

  const candle = picture.candles[pointed ?? -1] ?? picture.candles.at(-1);
  return (
    <ChartFrame
      figures={
        candle ? (
          <>
            <span>{formatInstant(candle.time)}</span> <span>O {candle.open}</span>{' '}
            <span>H {candle.high}</span> <span>L {candle.low}</span>{' '}
            <span className={Number(candle.close) < Number(candle.open) ? 'sell' : 'buy'}>
              C {candle.close}
            </span>
          </>
        ) : null
      }
      table={<CandleTable picture={picture} />}
      onPrepareTable={prepareTable}
    >
      <ChartCanvas
        load={loadDrawing}
        model={model}
        label={describePicture(picture, formatInstant)}
        onPoint={setPointed}
      />
    </ChartFrame>
  );
}

function WithoutCandles({ picture }: { picture: CandlePicture }) {
  const events = describeEvents(picture, useFormatInstant());
  return (
    <EmptyState
      action={events.map((event) => (
        <span key={event} className={classes.event}>
          {event}
        </span>
      ))}
    >
      No candles for this token and timeframe
    </EmptyState>
  );
}
