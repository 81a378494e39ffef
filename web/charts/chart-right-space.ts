import type { ChartModel } from './candle-chart-model.ts';

/** The names of the lines stand right of the last bar. */
const SPACE_PX = { withLines: 72, without: 24 };
/** On a phone the bars get most of the width. */
const SPACE_SHARE = 0.15;
/** The widest character of a mark, at the size of the chart's text. */
const CHARACTER_PX = 7;

/**
 * How much is left free right of the last bar, however narrow the chart is at least as much as the texts of the last
 * marks need: each stands in the middle below or above its bar, and the price axis would cut it off.
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
