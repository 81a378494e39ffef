import type { ChartModel } from './candle-chart-model.ts';
import { ChartCanvas, type LoadDrawing } from './chart-canvas.tsx';

interface CandleCanvasProps {
  model: ChartModel;
  /** The picture in words. */
  label: string;
  onPoint: (bar: number | null) => void;
}

const loadDrawing: LoadDrawing<ChartModel> = async () =>
  (await import('./candle-chart-drawing.ts')).createDrawing;

export const CandleCanvas = (props: CandleCanvasProps) => <ChartCanvas load={loadDrawing} {...props} />;
