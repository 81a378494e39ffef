import type { SignalStats } from '#contract/signals.ts';
import { formatCount } from '../../lib/format.ts';
import classes from './signal-sparkline.module.css';

type Days = SignalStats['perDay'];

/** In drawing units; the drawing stretches to the width of its card. */
const HEIGHT = 40;
const BAR_WIDTH = 8;
const BAR_PITCH = 10;
/** A day without signals still gets a bar. */
const LEAST_HEIGHT = 1;

/** Signals per day as small bars. */
export function SignalSparkline({ days: given }: { days: Days | undefined }) {
  const days = given?.filter(({ day, count }) => day !== '' && Number.isFinite(count));
  return (
    <figure className={classes.card}>
      <figcaption className={classes.caption}>Signals per Day</figcaption>
      {days ? <Bars days={days} /> : <div className={classes.bars} />}
      <div className={classes.ends} aria-hidden>
        <span>{days?.[0] ? formatDay(days[0].day) : ''}</span>
        <span>{days ? 'Today' : ''}</span>
      </div>
    </figure>
  );
}

function Bars({ days }: { days: Days }) {
  const most = Math.max(...days.map(({ count }) => count), 1);
  return (
    <svg
      className={classes.bars}
      viewBox={`0 0 ${days.length * BAR_PITCH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={describeDays(days)}
    >
      {days.map(({ day, count }, index) => {
        const height = Math.max((count / most) * HEIGHT, LEAST_HEIGHT);
        const x = index * BAR_PITCH;
        return (
          <g key={day} className={classes.day} data-tip={`${formatDay(day)}: ${signals(count)}`}>
            {/* The whole column reacts to the pointer, not only its bar. */}
            <rect className={classes.column} x={x} y={0} width={BAR_PITCH} height={HEIGHT} />
            <rect
              className={classes.bar}
              data-empty={count === 0 || undefined}
              x={x + (BAR_PITCH - BAR_WIDTH) / 2}
              y={HEIGHT - height}
              width={BAR_WIDTH}
              height={height}
            />
          </g>
        );
      })}
    </svg>
  );
}

/** Describes the days in words, as the drawing's accessible description. */
export function describeDays(days: Days): string {
  const total = days.reduce((sum, { count }) => sum + count, 0);
  const text = `${signals(total)} in the last ${days.length} days`;
  const most = Math.max(...days.map(({ count }) => count), 0);
  if (most === 0) return text;
  const busiest = days.findLast(({ count }) => count === most);
  return `${text}, today ${formatCount(days.at(-1)?.count ?? 0)}, most on ${formatDay(busiest?.day ?? '')}: ${formatCount(most)}`;
}

const formatDay = (day: string) => day.replaceAll('-', '/');
const signals = (count: number) => `${formatCount(count)} signal${count === 1 ? '' : 's'}`;
