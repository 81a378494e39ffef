import type { RiskLimitsAnswer, RiskUse } from '#contract/risk-limits.ts';
import { formatRelative } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import classes from './limits.module.css';
import {
  consequenceOf,
  LIMIT_NAMES,
  type Limits,
  levelOf,
  limitLabel,
  showUse,
  showWindow,
  type TradingHours,
} from './limits-data.ts';

/** Each limit with how far it is used, what it stops now, and what is not known. */
export function LimitGauges({ answer }: { answer: RiskLimitsAnswer }) {
  const formatInstant = useFormatInstant();
  const { limits, uses, breaches, unknown } = answer;
  const set = LIMIT_NAMES.filter((name) => limits[name] !== null);
  if (set.length === 0 && limits.schedule === null)
    return <p className={classes.none}>No limits: entries go as far as the settings allow</p>;
  return (
    <>
      {breaches.length > 0 || unknown.length > 0 ? (
        <ul className={classes.list} aria-label="What the limits stop now">
          {breaches.map(({ id, limit, saw, maximum, until }) => (
            <li key={id} className={classes.breach}>
              {limitLabel(limit)} is {saw}, the limit is {maximum}. New entries are stopped{' '}
              {until === null ? 'until an administrator resets it' : `until ${formatInstant(until)}`}.
            </li>
          ))}
          {unknown.map(({ username, what }) => (
            <li key={username} className={classes.breach}>
              Entries of {username} are denied: {what}.
            </li>
          ))}
        </ul>
      ) : null}
      <ul className={classes.gauges} aria-label="Limits">
        {set.map((name) => (
          <Gauge key={name} name={name} limits={limits} use={uses.find(({ limit }) => limit === name)} />
        ))}
        {limits.schedule === null ? null : <Hours hours={limits.schedule} opensAt={answer.opensAt} />}
      </ul>
    </>
  );
}

/** When entries are allowed, and when they are again. */
function Hours({ hours, opensAt }: { hours: TradingHours; opensAt: string | null }) {
  const formatInstant = useFormatInstant();
  return (
    <li className={classes.gauge} data-level={opensAt === null ? 'low' : 'near'}>
      <div className={classes.head}>
        Trading hours
        <span className={classes.figures}>
          {opensAt === null ? 'Open' : `Opens ${formatRelative(opensAt, Date.now())}`}
        </span>
      </div>
      <p className={classes.note}>
        {hours.windows.map(showWindow).join('; ')} ({hours.zone})
        {opensAt === null ? '' : `. New entries are denied until ${formatInstant(opensAt)}`}
      </p>
    </li>
  );
}

function Gauge({
  name,
  limits,
  use,
}: {
  name: (typeof LIMIT_NAMES)[number];
  limits: Limits;
  use: RiskUse | undefined;
}) {
  const written = limits[name];
  const label = limitLabel(name);
  if (Array.isArray(written)) {
    return (
      <li className={classes.gauge}>
        <div className={classes.head}>{label}</div>
        <p className={classes.note}>{written.length === 0 ? 'None' : written.join(', ')}</p>
      </li>
    );
  }
  if (use === undefined) {
    return (
      <li className={classes.gauge}>
        <div className={classes.head}>
          {label}
          <span className={classes.figures}>unknown of {written}</span>
        </div>
        <p className={classes.note}>How far it is used is not known yet</p>
      </li>
    );
  }
  const { fraction, level } = levelOf(use);
  const { used, maximum } = showUse(use);
  return (
    <li className={classes.gauge} data-level={level}>
      <div className={classes.head}>
        {label}
        <span className={classes.figures}>
          <b>{used}</b> of {maximum}
        </span>
      </div>
      <div className={classes.track}>
        <meter
          className={classes.meter}
          aria-label={label}
          value={fraction}
          aria-valuetext={`${used} of ${maximum}${level === 'reached' ? ', reached' : ''}`}
        />
        <div className={classes.bar} style={{ width: `${fraction * 100}%` }} />
      </div>
      <p className={classes.note}>
        {level === 'reached' ? 'Reached: ' : ''}
        {consequenceOf(name, limits)}
      </p>
    </li>
  );
}
