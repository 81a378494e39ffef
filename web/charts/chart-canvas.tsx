import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import { ErrorState } from '../ui/states.tsx';
import classes from './candle-chart.module.css';

export interface ChartColors {
  text: string;
  grid: string;
  up: string;
  down: string;
  entry: string;
  stop: string;
  target: string;
  fill: string;
  font: string;
}

export interface ChartDrawing<Model> {
  draw(model: Model): void;
  paint(colors: ChartColors): void;
  remove(): void;
}

export interface DrawingOptions {
  container: HTMLElement;
  colors: ChartColors;
  formatInstant: (instant: string) => string;
  /** Index of the bar or point under the pointer; null for none. */
  onPoint: (bar: number | null) => void;
}

/** Loads the chart library and the drawing code for this kind of chart. */
export type LoadDrawing<Model> = () => Promise<(options: DrawingOptions) => ChartDrawing<Model>>;

interface ChartCanvasProps<Model> {
  /** Must keep its identity: a new function loads the chart again. */
  load: LoadDrawing<Model>;
  model: Model;
  /** Accessible description of the picture. */
  label: string;
  onPoint: (bar: number | null) => void;
}

/** The chart itself. The chart library loads when the first chart opens. */
export function ChartCanvas<Model>({ load, model, label, onPoint }: ChartCanvasProps<Model>) {
  const { box, drawing, error, retry } = useDrawing(load, onPoint);
  useEffect(() => drawing?.draw(model), [drawing, model]);
  if (error) {
    return (
      <div className={classes.frame}>
        <ErrorState title="The chart could not be loaded" error={error} onRetry={retry} />
      </div>
    );
  }
  return (
    <div className={classes.frame} data-loading={drawing === null || undefined}>
      <div ref={box} className={classes.canvas} role="img" aria-label={label} aria-busy={drawing === null} />
    </div>
  );
}

function useDrawing<Model>(load: LoadDrawing<Model>, onPoint: (bar: number | null) => void) {
  const box = useRef<HTMLDivElement>(null);
  const [drawing, setDrawing] = useState<ChartDrawing<Model> | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const format = useEffectEvent(useFormatInstant());
  const point = useEffectEvent(onPoint);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt loads again
  useEffect(() => {
    let gone = false;
    let made: ChartDrawing<Model> | null = null;
    const scheme = new MutationObserver(() => {
      if (box.current) made?.paint(readColors(box.current));
    });
    load()
      .then((createDrawing) => {
        const container = box.current;
        if (gone || !container) return;
        made = createDrawing({
          container,
          colors: readColors(container),
          formatInstant: (instant) => format(instant),
          onPoint: (bar) => point(bar),
        });
        setDrawing(made);
        scheme.observe(document.documentElement, { attributeFilter: ['data-mantine-color-scheme'] });
      })
      .catch((reason: unknown) => {
        if (!gone) setError(reason);
      });
    return () => {
      gone = true;
      scheme.disconnect();
      made?.remove();
      setDrawing(null);
    };
  }, [load, attempt]);

  const retry = () => {
    setError(null);
    setAttempt(attempt + 1);
  };
  return { box, drawing, error, retry };
}

/** Reads the colours from our style sheets, which a canvas cannot use directly. */
function readColors(container: HTMLElement): ChartColors {
  const style = getComputedStyle(container);
  const read = (name: string) => style.getPropertyValue(`--chart-${name}`).trim();
  return {
    text: read('text'),
    grid: read('grid'),
    up: read('up'),
    down: read('down'),
    entry: read('entry'),
    stop: read('stop'),
    target: read('target'),
    fill: read('fill'),
    font: style.fontFamily,
  };
}
