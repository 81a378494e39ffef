import {
  type AutoscaleInfo,
  CandlestickSeries,
  type CandlestickSeriesPartialOptions,
  createSeriesMarkers,
  type IPriceLine,
  LineStyle,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';
import { createBaseChart, paintChart } from './base-chart.ts';
import type { ChartMark, ChartModel } from './candle-chart-model.ts';
import type { ChartColors, ChartDrawing, DrawingOptions } from './chart-canvas.tsx';
import { rightSpacePx } from './chart-right-space.ts';

const MAX_BAR_WIDTH = 14;
const MIN_BAR_WIDTH = 5;

/** Draws into the container, follows its size, and sets no styles that the content security policy forbids. */
export function createDrawing({
  container,
  colors,
  formatInstant,
  onPoint,
}: DrawingOptions): ChartDrawing<ChartModel> {
  let model: ChartModel | null = null;
  let shown = colors;
  let priceLines: IPriceLine[] = [];
  const instantOf = (time: Time) => formatInstant(model?.instants.get(Number(time)) ?? '');

  const chart = createBaseChart({
    container,
    onPoint,
    instantOf,
    indexOf: (time) => model?.bars.findIndex((bar) => bar.time === time) ?? -1,
    maxBarSpacing: MAX_BAR_WIDTH,
  });
  const series = chart.addSeries(CandlestickSeries, {
    priceLineVisible: false,
    autoscaleInfoProvider: (original: () => AutoscaleInfo | null) => {
      const info = original();
      const prices = [...(model?.lines ?? []), ...(model?.marks ?? [])].map(({ price }) => price);
      if (info?.priceRange == null || prices.length === 0) return info;
      const { minValue, maxValue } = info.priceRange;
      return {
        ...info,
        priceRange: { minValue: Math.min(minValue, ...prices), maxValue: Math.max(maxValue, ...prices) },
      };
    },
  });
  const markers = createSeriesMarkers(series, []);

  function drawEvents() {
    for (const line of priceLines) series.removePriceLine(line);
    const lineColors = { Entry: shown.entry, Stop: shown.stop, Target: shown.target };
    priceLines = (model?.lines ?? []).map(({ title, price }) =>
      series.createPriceLine({
        title,
        price,
        color: lineColors[title],
        lineWidth: 1,
        lineStyle: title === 'Entry' ? LineStyle.Solid : LineStyle.Dashed,
        axisLabelVisible: true,
      }),
    );
    markers.setMarkers((model?.marks ?? []).flatMap((mark) => toMarkers(mark, shown)));
  }

  function paint(next: ChartColors) {
    shown = next;
    paintChart(chart, next);
    series.applyOptions(candleColors(next));
    drawEvents();
  }

  function draw(next: ChartModel) {
    const isFirst = model === null;
    model = next;
    series.applyOptions({
      priceFormat: {
        type: 'custom',
        base: 10 ** next.decimals,
        minMove: 10 ** -next.decimals,
        formatter: (price: number) => price.toFixed(next.decimals),
      },
    });
    series.setData(next.bars.map((bar) => ({ ...bar, time: bar.time as UTCTimestamp })));
    drawEvents();
    const rightOffsetPixels = rightSpacePx(next, {
      widthPx: container.clientWidth,
      barWidthPx: MIN_BAR_WIDTH,
    });
    chart.timeScale().applyOptions({ rightOffsetPixels });
    // Later data must not move the visible range.
    if (isFirst) showFocus(next, rightOffsetPixels);
  }

  /** Shows as many bars as fit: the last ones, or those around an earlier focus. */
  function showFocus({ bars, focus }: ChartModel, rightOffsetPixels: number) {
    const widthPx = chart.timeScale().width() || container.clientWidth;
    const fitting = Math.max(Math.floor(widthPx / MIN_BAR_WIDTH), 10);
    const right = Math.ceil(rightOffsetPixels / MIN_BAR_WIDTH);
    if (bars.length + right <= fitting) return chart.timeScale().fitContent();
    const end = bars.length - 1 + right;
    const to = Math.min(end, (focus ?? end) + Math.floor(fitting / 2));
    chart.timeScale().setVisibleLogicalRange({ from: to - fitting, to });
  }

  paint(colors);
  return { draw, paint, remove: () => chart.remove() };
}

const candleColors = ({ up, down }: ChartColors): CandlestickSeriesPartialOptions => ({
  upColor: up,
  wickUpColor: up,
  borderUpColor: up,
  downColor: down,
  wickDownColor: down,
  borderDownColor: down,
});

function toMarkers({ kind, time, price, text, side }: ChartMark, colors: ChartColors): SeriesMarker<Time>[] {
  const at = { time: time as UTCTimestamp };
  switch (kind) {
    case 'signal':
      return side === 'sell'
        ? [{ ...at, text, position: 'aboveBar', shape: 'arrowDown', color: colors.down }]
        : [{ ...at, text, position: 'belowBar', shape: 'arrowUp', color: colors.up }];
    case 'candle':
      return [{ ...at, text, position: 'aboveBar', shape: 'arrowDown', color: colors.entry }];
    case 'fill':
      // A buy signal's arrow is below the bar, so a buy fill's text goes above it, and vice versa.
      return [
        { ...at, position: 'atPriceMiddle', price, shape: 'circle', color: colors.fill, size: 0.5 },
        {
          ...at,
          text,
          position: side === 'sell' ? 'belowBar' : 'aboveBar',
          shape: 'circle',
          color: colors.fill,
          size: 0,
        },
      ];
  }
}
