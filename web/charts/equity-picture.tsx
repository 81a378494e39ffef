import type { EquityAnswer } from '#contract/performance.ts';
import { formatMoney } from '../lib/figures.ts';
import { formatCount } from '../lib/format.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import { AsTable } from './as-table.tsx';
import { linePoints, worthPoints } from './equity-model.ts';
import classes from './picture.module.css';

const WIDTH = 800;
const [WORTH_HEIGHT, FALL_HEIGHT] = [190, 70];

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
  const line = linePoints(
    points.map(({ at, worth }) => ({ at, value: worth })),
    { width: WIDTH, height: WORTH_HEIGHT, low, high },
  );
  const falls = linePoints(
    points.map(({ at, fall }) => ({ at, value: -fall })),
    { width: WIDTH, height: FALL_HEIGHT, low: -deepest, high: 0 },
  );
  return (
    <figure className={classes.picture}>
      <div className={classes.plot}>
        <svg
          viewBox={`0 -4 ${WIDTH} ${WORTH_HEIGHT + 8}`}
          preserveAspectRatio="none"
          className={classes.worth}
          role="img"
          aria-label={`Equity from ${first} to ${last}: ends at ${formatMoney(worths.at(-1) ?? 0)}, between ${formatMoney(low)} and ${formatMoney(high)}`}
        >
          {[0, 0.5, 1].map((share) => (
            <line
              key={share}
              x1="0"
              x2={WIDTH}
              y1={share * WORTH_HEIGHT}
              y2={share * WORTH_HEIGHT}
              className={classes.line}
            />
          ))}
          <polygon
            points={`0,${WORTH_HEIGHT} ${line} ${WIDTH},${WORTH_HEIGHT}`}
            className={classes.worthFill}
          />
          <polyline points={line} className={classes.worthLine} />
        </svg>
        <div className={classes.scale} aria-hidden>
          <span>{formatMoney(high)}</span>
          <span>{formatMoney((low + high) / 2)}</span>
          <span>{formatMoney(low)}</span>
        </div>
      </div>
      {withFall ? (
        <div className={classes.plot}>
          <svg
            viewBox={`0 -2 ${WIDTH} ${FALL_HEIGHT + 4}`}
            preserveAspectRatio="none"
            className={classes.fall}
            role="img"
            aria-label={`Drawdown: at most ${formatMoney(deepest)} below the highest equity`}
          >
            <polygon points={`0,0 ${falls} ${WIDTH},0`} className={classes.fallFill} />
            <polyline points={falls} className={classes.fallLine} />
          </svg>
          <div className={classes.scale} aria-hidden>
            <span>$0.00</span>
            <span>{formatMoney(-deepest)}</span>
          </div>
        </div>
      ) : null}
      <div className={classes.axis} aria-hidden>
        <span>{first}</span>
        <span>{last}</span>
      </div>
      {note}
    </figure>
  );
}

/** A small line without a scale. */
export function Sparkline({
  label,
  points,
}: {
  label: string;
  points: readonly { at: string; equity: string }[];
}) {
  const values = points.map(({ at, equity }) => ({ at, value: Number(equity) }));
  const all = values.map(({ value }) => value);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const line = linePoints(values, { width: 92, height: 30, low, high });
  return (
    <svg viewBox="0 -2 92 34" className={classes.spark} role="img" aria-label={label}>
      <polygon points={`0,30 ${line} 92,30`} className={classes.worthFill} />
      <polyline points={line} fill="none" className={classes.worthLine} />
    </svg>
  );
}
