import { Button } from '@mantine/core';
import { IconChartLine, IconTable } from '@tabler/icons-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useSession } from '../lib/session.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import { EmptyState } from '../ui/states.tsx';
import classes from './candle-chart.module.css';
import { type ChartModel, toChartModel } from './candle-chart-model.ts';
import { type CandlePicture, describeEvents, describePicture, readablePart } from './candle-chart-picture.ts';
import { ChartCanvas, type LoadDrawing } from './chart-canvas.tsx';

const loadTable = () => import('./candle-chart-table.tsx');
const CandleTable = lazy(loadTable);
const prepareTable = () => void loadTable().catch(() => {});

const loadDrawing: LoadDrawing<ChartModel> = async () =>
  (await import('./candle-chart-drawing.ts')).createDrawing;

/** Candles with their mark, levels and fills, as a picture or as a table. */
export function CandleChart({ picture: given }: { picture: CandlePicture }) {
  const { displayTimezone } = useSession();
  const formatInstant = useFormatInstant();
  const [asTable, setAsTable] = useState(false);
  const [pointed, setPointed] = useState<number | null>(null);
  const picture = useMemo(() => readablePart(given), [given]);
  const model = useMemo(() => toChartModel(picture, displayTimezone), [picture, displayTimezone]);
  if (picture.candles.length === 0) return <WithoutCandles picture={picture} />;

  const candle = picture.candles[pointed ?? -1] ?? picture.candles.at(-1);
  return (
    <figure className={classes.chart}>
      <div className={classes.head}>
        {candle && !asTable ? (
          <p className={classes.figures} aria-hidden>
            <span>{formatInstant(candle.time)}</span> <span>O {candle.open}</span>{' '}
            <span>H {candle.high}</span> <span>L {candle.low}</span>{' '}
            <span className={Number(candle.close) < Number(candle.open) ? 'sell' : 'buy'}>
              C {candle.close}
            </span>
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
          onPointerEnter={prepareTable}
          onFocus={prepareTable}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </div>
      {asTable ? (
        <Suspense fallback={<div className={classes.frame} data-loading />}>
          <CandleTable picture={picture} />
        </Suspense>
      ) : (
        <ChartCanvas
          load={loadDrawing}
          model={model}
          label={describePicture(picture, formatInstant)}
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
