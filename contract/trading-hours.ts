import { z } from 'zod';
import { readTimeOfDay, WEEKDAYS } from '#domain/limits/trading-hours.ts';
import { limitedText } from './text.ts';

const ZONE = 'zone must be a time zone such as Europe/Berlin';
const DAYS = `days must name at least one of ${WEEKDAYS.join(', ')}`;
const MAX_WINDOWS = 20;
const WINDOWS = `windows must be a list of 1 to ${MAX_WINDOWS} windows`;

const timeOfDay = (name: 'from' | 'to') => {
  const message =
    name === 'from'
      ? 'from must be a time of day from 00:00 to 23:59'
      : 'to must be a time of day from 00:00 to 24:00';
  return limitedText(5, message).refine((text) => {
    const minutes = readTimeOfDay(text);
    return minutes !== null && (name === 'to' || text !== '24:00');
  }, message);
};

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** When entries are allowed: times of day in one zone; a window whose end is not after its beginning crosses midnight. */
export const tradingHours = z.strictObject({
  // An offset such as +02:00 is a time zone for Intl, but knows no summer time.
  zone: limitedText(60, ZONE)
    .regex(/^[A-Za-z]/, ZONE)
    .refine(isTimeZone, ZONE),
  windows: z
    .array(
      z.strictObject({
        days: z
          .array(z.enum(WEEKDAYS, DAYS), DAYS)
          .min(1, DAYS)
          .max(WEEKDAYS.length, DAYS)
          .transform((days) => WEEKDAYS.filter((day) => days.includes(day))),
        from: timeOfDay('from'),
        to: timeOfDay('to'),
      }),
      WINDOWS,
    )
    .min(1, WINDOWS)
    .max(MAX_WINDOWS, WINDOWS),
});

export const tradingHoursAnswer = z.object({
  zone: z.string(),
  windows: z.array(z.object({ days: z.array(z.enum(WEEKDAYS)), from: z.string(), to: z.string() })),
});
export type TradingHoursAnswer = z.infer<typeof tradingHoursAnswer>;
