import { ColorType, createChart, type IChartApi, type TickMarkType, type Time } from 'lightweight-charts';
import type { ChartColors, DrawingOptions } from './chart-canvas.tsx';
import { tickText } from './chart-ticks.ts';

interface BaseChartOptions extends Pick<DrawingOptions, 'container' | 'onPoint'> {
  instantOf: (time: Time) => string;
  /** Index of the bar or point at a time; -1 for none. */
  indexOf: (time: Time) => number;
  maxBarSpacing?: number;
}

/** An empty chart that follows the size of its container and leaves the page's scrolling alone. */
export function createBaseChart(options: BaseChartOptions): IChartApi {
  const { container, onPoint, instantOf, indexOf, maxBarSpacing = 0 } = options;
  const chart = createChart(container, {
    autoSize: true,
    // The logo injects a <style> element; the link required by the licence is below the chart.
    layout: { attributionLogo: false, fontSize: 11 },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.12, bottom: 0.1 } },
    timeScale: {
      borderVisible: false,
      timeVisible: true,
      maxBarSpacing,
      tickMarkFormatter: (time: Time, type: TickMarkType) => tickText(instantOf(time), type),
    },
    localization: { timeFormatter: instantOf },
    // Leave the wheel and vertical swipes to the scrolling of the page or dialog.
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
    handleScale: { mouseWheel: false },
  });
  chart.subscribeCrosshairMove(({ time }) => {
    const index = time === undefined ? -1 : indexOf(time);
    onPoint(index < 0 ? null : index);
  });
  return chart;
}

export function paintChart(chart: IChartApi, { text, grid, font }: ChartColors): void {
  chart.applyOptions({
    layout: {
      background: { type: ColorType.Solid, color: 'transparent' },
      textColor: text,
      fontFamily: font,
    },
    grid: { vertLines: { color: grid }, horzLines: { color: grid } },
  });
}
