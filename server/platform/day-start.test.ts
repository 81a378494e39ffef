import { expect, test } from 'vitest';
import { calendarDay, dayStart } from './day-start.ts';

test.each([
  ['2026-11-21T18:30:00Z', 'America/Los_Angeles', '2026-11-21T08:00:00.000Z'],
  ['2026-11-21T07:59:59.999Z', 'America/Los_Angeles', '2026-11-20T08:00:00.000Z'],
  ['2026-11-21T08:00:00Z', 'America/Los_Angeles', '2026-11-21T08:00:00.000Z'],
  // Days with a clock change are 25 or 23 hours long.
  ['2026-11-02T07:30:00Z', 'America/Los_Angeles', '2026-11-01T07:00:00.000Z'],
  ['2026-03-09T06:30:00Z', 'America/Los_Angeles', '2026-03-08T08:00:00.000Z'],
  ['2026-11-21T12:00:00Z', 'UTC', '2026-11-21T00:00:00.000Z'],
  ['2026-11-21T12:00:00Z', 'Asia/Kolkata', '2026-11-20T18:30:00.000Z'],
])('finds that the day of %s in %s began at %s', (at, zone, start) => {
  expect(dayStart(new Date(at), zone).toISOString()).toBe(start);
});

test('uses the calendar day of the time zone', () => {
  expect(calendarDay(new Date('2026-11-21T03:00:00Z'), 'America/Los_Angeles')).toBe('2026-11-20');
});

test('starts a day on a quarter of an hour in every time zone', () => {
  const minutesBesideUtc = (timeZone: string) => {
    const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
    const offset = format.formatToParts(new Date()).find(({ type }) => type === 'timeZoneName');
    return Number(/:(\d\d)/.exec(offset?.value ?? '')?.[1] ?? 0);
  };
  expect(minutesBesideUtc('Asia/Kathmandu')).toBe(45);
  const zones = Intl.supportedValuesOf('timeZone');
  expect(zones.filter((zone) => minutesBesideUtc(zone) % 15 !== 0)).toEqual([]);
});
