/** When entries are allowed: the hours of a strategy or a user. */
export interface TradingHours {
  /** An IANA time zone such as 'Europe/Berlin'. */
  zone: string;
  windows: readonly TradingWindow[];
}

export interface TradingWindow {
  /** The days on which the window begins. */
  days: readonly Weekday[];
  /** 'HH:mm' of the zone's clock; the minute belongs to the window. */
  from: string;
  /** 'HH:mm' up to '24:00'; the minute belongs to it no more. Not after `from`: the window ends on the next day. */
  to: string;
}

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
/** No time zone changes its clock between two of these. */
const QUARTER_MS = 15 * MINUTE_MS;
/** A window that a change of the clock leaves out on its only day opens a week later. */
const LOOK_AHEAD_MS = 15 * DAY_MINUTES * MINUTE_MS;

/** Whether an entry may be made at `at`. */
export const isWithinHours = (hours: TradingHours, at: Date): boolean =>
  isOpenAt(hours.windows, wallClock(at, hours.zone));

/** The first minute after `at` that is within the hours; null when there is none in the next two weeks. */
export function nextOpening({ zone, windows }: TradingHours, at: Date): Date | null {
  const begin = Math.floor(at.getTime() / QUARTER_MS) * QUARTER_MS;
  for (let quarter = begin; quarter < at.getTime() + LOOK_AHEAD_MS; quarter += QUARTER_MS) {
    const { day, minute } = wallClock(new Date(quarter), zone);
    for (let passed = 0; passed < QUARTER_MS / MINUTE_MS; passed += 1) {
      const instant = quarter + passed * MINUTE_MS;
      if (instant > at.getTime() && isOpenAt(windows, { day, minute: minute + passed })) {
        return new Date(instant);
      }
    }
  }
  return null;
}

/** Whether every minute of the week that `inner` allows is allowed by `outer` too; only of one time zone it is known. */
export function isWithinOther(inner: TradingHours, outer: TradingHours): boolean {
  if (inner.zone !== outer.zone) return false;
  return WEEKDAYS.every((_, day) =>
    Array.from({ length: DAY_MINUTES }, (_, minute) => ({ day, minute })).every(
      (at) => !isOpenAt(inner.windows, at) || isOpenAt(outer.windows, at),
    ),
  );
}

/** Minutes since midnight; null when it is no time of day. */
export function readTimeOfDay(text: string): number | null {
  const [, hours, minutes] = /^(\d{2}):(\d{2})$/.exec(text) ?? [];
  if (hours === undefined || minutes === undefined || Number(minutes) > 59) return null;
  const total = Number(hours) * 60 + Number(minutes);
  return total <= DAY_MINUTES ? total : null;
}

interface WallClock {
  /** Index in WEEKDAYS. */
  day: number;
  minute: number;
}

function isOpenAt(windows: readonly TradingWindow[], { day, minute }: WallClock): boolean {
  return windows.some(({ days, from, to }) => {
    const [begin, end] = [timeOfDay(from), timeOfDay(to)];
    const beginsOn = (index: number) => days.some((name) => WEEKDAYS[index] === name);
    if (begin < end) return beginsOn(day) && minute >= begin && minute < end;
    return (beginsOn(day) && minute >= begin) || (beginsOn((day + 6) % 7) && minute < end);
  });
}

function timeOfDay(text: string): number {
  const minutes = readTimeOfDay(text);
  if (minutes === null) throw new RangeError(`Not a time of day: ${JSON.stringify(text)}`);
  return minutes;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function wallClock(at: Date, zone: string): WallClock {
  let clock = clocks.get(zone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
    clocks.set(zone, clock);
  }
  const parts = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, value]));
  return {
    day: WEEKDAYS.indexOf(String(parts.weekday).toLowerCase() as Weekday),
    minute: Number(parts.hour) * 60 + Number(parts.minute),
  };
}
