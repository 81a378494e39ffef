import {
  BaselineSeries,
  ColorType,
  createChart,
  LineType,
  type TickMarkType,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import type { ChartColors, ChartDrawing, DrawingOptions } from '#web/charts/chart-canvas.tsx';
import { tickText } from '#web/charts/chart-ticks.ts';
import { formatMoney } from '../../lib/figures.ts';
import type { ProfitModel } from './profit-chart-model.ts';

/** A line that is green above zero and red below it. */
export function createProfitDrawing(options: DrawingOptions): ChartDrawing<ProfitModel> {
  const { container, colors, formatInstant, onPoint } = options;
  let model: ProfitModel | null = null;
  const instantOf = (time: Time) => formatInstant(model?.instants.get(Number(time)) ?? '');

  const chart = createChart(container, {
    autoSize: true,
    // The logo injects a <style> element; the link required by the licence is below the chart.
    layout: { attributionLogo: false, fontSize: 11 },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.12, bottom: 0.1 } },
    timeScale: {
      borderVisible: false,
      timeVisible: true,
      tickMarkFormatter: (time: Time, type: TickMarkType) => tickText(instantOf(time), type),
    },
    localization: { timeFormatter: instantOf },
    // Leave the wheel and vertical swipes to the page's scrolling.
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
    handleScale: { mouseWheel: false },
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
  chart.subscribeCrosshairMove(({ time }) => {
    const index = time === undefined ? -1 : (model?.points.findIndex((point) => point.time === time) ?? -1);
    onPoint(index < 0 ? null : index);
  });

  function paint({ text, grid, up, down, font }: ChartColors) {
    chart.applyOptions({
      layout: {
        background: { type: ColorType.Solid, color: 'transparent' },
        textColor: text,
        fontFamily: font,
      },
      grid: { vertLines: { color: grid }, horzLines: { color: grid } },
    });
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
