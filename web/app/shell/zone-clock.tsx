import { useEffect, useState } from 'react';
import { formatInstant } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import classes from './zone-clock.module.css';

const MINUTE_MS = 60_000;

/** Names the zone of all times on the screens; the rail has room for its abbreviation only. */
export function ZoneClock() {
  const { displayTimezone: zone } = useSession();
  const now = useMinute();
  const time = formatInstant(now.toISOString(), zone).slice(0, 'yyyy/MM/dd HH:mm'.length);
  return (
    <div className={classes.clock} data-tip={`Time zone: ${zone}`}>
      <span className={classes.zone}>{zone}</span>
      <span className={classes.time}>{time}</span>
      <span className={classes.short} aria-hidden>
        {shortName(now, zone)}
      </span>
    </div>
  );
}

function useMinute(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setTimeout(() => setNow(new Date()), MINUTE_MS - (now.getTime() % MINUTE_MS));
    return () => clearTimeout(timer);
  }, [now]);
  return now;
}

const shortName = (at: Date, timeZone: string): string | undefined =>
  new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'short' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value;
