import { BaselineSeries, LineType, type Time, type UTCTimestamp } from 'lightweight-charts';
import { createBaseChart, paintChart } from '#web/charts/base-chart.ts';
import type { ChartColors, ChartDrawing, DrawingOptions } from '#web/charts/chart-canvas.tsx';
import { formatMoney } from '../../lib/figures.ts';
import type { ProfitModel } from './profit-chart-model.ts';

/** A line that is green above zero and red below it. */
export function createProfitDrawing(options: DrawingOptions): ChartDrawing<ProfitModel> {
  const { container, colors, formatInstant, onPoint } = options;
  let model: ProfitModel | null = null;
  const instantOf = (time: Time) => formatInstant(model?.instants.get(Number(time)) ?? '');

  const chart = createBaseChart({
    container,
    onPoint,
    instantOf,
    indexOf: (time) => model?.points.findIndex((point) => point.time === time) ?? -1,
  });
  const series = chart.addSeries(BaselineSeries, {
    baseValue: { type: 'price', price: 0 },
    // Steps, because nothing is earned between two closed positions.
    lineType: LineType.WithSteps,
    lineWidth: 2,
    priceLineVisible: false,
    pointMarkersVisible: true,
    pointMarkersRadius: 3,
    priceFormat: { type: 'custom', minMove: 0.01, formatter: formatMoney },
    // Keep zero in view, because it separates gain from loss.
    autoscaleInfoProvider: () => {
      const profits = [0, ...(model?.points.map(({ value }) => value) ?? [])];
      return { priceRange: { minValue: Math.min(...profits), maxValue: Math.max(...profits) } };
    },
  });

  function paint(next: ChartColors) {
    const { up, down } = next;
    paintChart(chart, next);
    series.applyOptions({
      topLineColor: up,
      topFillColor1: `${up}40`,
      topFillColor2: `${up}0d`,
      bottomLineColor: down,
      bottomFillColor1: `${down}0d`,
      bottomFillColor2: `${down}40`,
    });
  }

  function draw(next: ProfitModel) {
    const isFirst = model === null;
    model = next;
    series.setData(next.points.map(({ time, value }) => ({ time: time as UTCTimestamp, value })));
    // Later data must not move the visible range.
    if (isFirst) chart.timeScale().fitContent();
  }

  paint(colors);
  return { draw, paint, remove: () => chart.remove() };
}
