import type { ChartModel } from './candle-chart-model.ts';

/** The line names are right of the last bar. */
const SPACE_PX = { withLines: 72, without: 24 };
/** Largest share of the chart's width, so that the bars keep most of a phone's screen. */
const SPACE_SHARE = 0.15;
/** Width of the widest character of a mark, at the chart's text size. */
const CHARACTER_PX = 7;

/**
 * Free space right of the last bar. It always fits the texts of the last marks, however narrow the chart: each text is
 * centred on its bar, and the price axis would cut it off.
 */
export function rightSpacePx(
  { bars, lines, marks }: Pick<ChartModel, 'bars' | 'lines' | 'marks'>,
  { widthPx, barWidthPx }: { widthPx: number; barWidthPx: number },
): number {
  const forTexts = marks.map(({ time, text }) => {
    const barsAfter = bars.length - 1 - bars.findIndex((bar) => bar.time === time);
    return Math.ceil((text.length * CHARACTER_PX) / 2) - barsAfter * barWidthPx;
  });
  const forLines = lines.length > 0 ? SPACE_PX.withLines : SPACE_PX.without;
  return Math.max(Math.min(forLines, Math.round(widthPx * SPACE_SHARE)), ...forTexts);
}
