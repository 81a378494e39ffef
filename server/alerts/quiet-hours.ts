interface QuietHours {
  quietFrom: string | null;
  quietTo: string | null;
}

const DAY_MINUTES = 24 * 60;

/** Minutes since midnight of `HH:MM`. */
export const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

/** Minutes since midnight on the clocks of the time zone. */
export function minuteOfDay(at: Date, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return minutesOf(parts.format(at));
}

/** Whether the time lies between two times of day, over midnight if the second is the earlier one. */
export function isBetween(
  at: Date,
  { from, to, timeZone }: { from: string; to: string; timeZone: string },
): boolean {
  const [begin, end, now] = [minutesOf(from), minutesOf(to), minuteOfDay(at, timeZone)];
  return begin <= end ? now >= begin && now < end : now >= begin || now < end;
}

export function isQuiet(at: Date, { quietFrom, quietTo }: QuietHours, timeZone: string): boolean {
  if (quietFrom === null || quietTo === null) return false;
  return isBetween(at, { from: quietFrom, to: quietTo, timeZone });
}

/** How long the quiet hours last. */
export function quietMs({ quietFrom, quietTo }: QuietHours): number {
  if (quietFrom === null || quietTo === null) return 0;
  return ((minutesOf(quietTo) - minutesOf(quietFrom) + DAY_MINUTES) % DAY_MINUTES) * 60_000;
}
