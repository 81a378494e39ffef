import type { EquityAnswer } from '#contract/performance.ts';
import { formatMoney } from '../lib/figures.ts';
import { formatCount } from '../lib/format.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import { AsTable } from './as-table.tsx';
import { linePoints, worthPoints } from './equity-model.ts';
import classes from './picture.module.css';
import { FallPlot, LinePlot, Plots } from './plots.tsx';

/** Seconds only say when the account was read. */
const TO_MINUTE = 'YYYY/MM/DD HH:MM'.length;
const TO_DAY = 'YYYY/MM/DD'.length;

interface EquityPictureProps {
  answer: EquityAnswer;
  asTable: boolean;
  /** Below it on the same time axis: how far equity was below its highest value. */
  withFall?: boolean;
}

/** What accounts were worth over time, as recorded. */
export function EquityPicture({ answer, asTable, withFall = false }: EquityPictureProps) {
  const formatInstant = useFormatInstant();
  const points = worthPoints(answer.points);
  const worths = points.map(({ worth }) => worth);
  const [low, high] = [Math.min(...worths), Math.max(...worths)];
  const middle = (low + high) / 2;
  const deepest = Math.max(...points.map(({ fall }) => fall));
  const incomplete = points.filter(({ complete }) => !complete).length;
  const [first = '', last = ''] = [points[0]?.at, points.at(-1)?.at].map((at) =>
    formatInstant(at ?? null).slice(0, answer.unit === 'hour' ? TO_MINUTE : TO_DAY),
  );
  const note =
    incomplete === 0 ? null : (
      <p className={classes.note}>
        Incomplete: at {formatCount(incomplete)} of {formatCount(points.length)} times an account was not
        read. It counts there with what was recorded before.
      </p>
    );
  if (asTable) {
    return (
      <>
        <AsTable
          label="Equity"
          head={['Time', 'Equity', 'Below the highest']}
          rows={points
            .toReversed()
            .map(({ at, worth, fall, complete }) => [
              `${formatInstant(at).slice(0, TO_MINUTE)}${complete ? '' : ' (incomplete)'}`,
              formatMoney(worth),
              formatMoney(-fall),
            ])}
        />
        {note}
      </>
    );
  }
  return (
    <>
      <Plots first={first} last={last}>
        <LinePlot
          label={`Equity from ${first} to ${last}: ends at ${formatMoney(worths.at(-1) ?? 0)}, between ${formatMoney(low)} and ${formatMoney(high)}`}
          values={points.map(({ at, worth }) => ({ at, value: worth }))}
          low={low}
          high={high}
          base={low}
          rules={low === high ? [low] : [low, middle, high]}
          scale={
            <>
              <span>{formatMoney(high)}</span>
              <span>{formatMoney(middle)}</span>
              <span>{formatMoney(low)}</span>
            </>
          }
        />
        {withFall ? (
          <FallPlot
            label={`Drawdown: at most ${formatMoney(deepest)} below the highest equity`}
            falls={points.map(({ at, fall }) => ({ at, value: fall }))}
            deepest={deepest}
          />
        ) : null}
      </Plots>
      {note}
    </>
  );
}

/** A small line without a scale. */
export function Sparkline({
  label,
  points,
  wide = false,
}: {
  label: string;
  points: readonly { at: string; equity: string }[];
  /** As wide as there is space. */
  wide?: boolean;
}) {
  const values = points.map(({ at, equity }) => ({ at, value: Number(equity) }));
  const all = values.map(({ value }) => value);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const line = linePoints(values, { width: 92, height: 30, low, high });
  return (
    <svg
      viewBox="0 -2 92 34"
      className={classes.spark}
      data-wide={wide || undefined}
      preserveAspectRatio={wide ? 'none' : undefined}
      role="img"
      aria-label={label}
    >
      <polygon points={`0,30 ${line} 92,30`} className={classes.worthFill} />
      <polyline points={line} fill="none" vectorEffect="non-scaling-stroke" className={classes.worthLine} />
    </svg>
  );
}
