import { expect, test } from 'vitest';
import { fromWallClock, toWallClock } from './wall-clock.ts';

const LOS_ANGELES = 'America/Los_Angeles';

test.each([
  ['2026-01-15T12:30', LOS_ANGELES, '2026-01-15T20:30:00.000Z'],
  ['2026-07-15T12:30', LOS_ANGELES, '2026-07-15T19:30:00.000Z'],
  ['2026-01-01T00:00', 'UTC', '2026-01-01T00:00:00.000Z'],
  ['2026-01-15T00:15', 'Asia/Kathmandu', '2026-01-14T18:30:00.000Z'],
  ['2026-12-31T23:59', 'Pacific/Kiritimati', '2026-12-31T09:59:00.000Z'],
])('converts %s in %s to %s and back', (text, timeZone, instant) => {
  expect(fromWallClock(text, timeZone)).toBe(instant);
  expect(toWallClock(instant, timeZone)).toBe(text);
});

test('takes the earlier instant of a repeated hour', () => {
  expect(fromWallClock('2026-11-01T01:30', LOS_ANGELES)).toBe('2026-11-01T08:30:00.000Z');
});

test('moves a skipped hour to the next one', () => {
  const instant = fromWallClock('2026-03-08T02:30', LOS_ANGELES);
  expect(instant).toBe('2026-03-08T10:30:00.000Z');
  expect(toWallClock(instant, LOS_ANGELES)).toBe('2026-03-08T03:30');
});

test('converts the hours around a clock change', () => {
  expect(fromWallClock('2026-03-08T01:59', LOS_ANGELES)).toBe('2026-03-08T09:59:00.000Z');
  expect(fromWallClock('2026-03-08T03:00', LOS_ANGELES)).toBe('2026-03-08T10:00:00.000Z');
  expect(fromWallClock('2026-11-01T02:00', LOS_ANGELES)).toBe('2026-11-01T10:00:00.000Z');
});

test('drops seconds, and shows no instant as an empty field', () => {
  expect(toWallClock('2026-01-15T20:30:59.999Z', LOS_ANGELES)).toBe('2026-01-15T12:30');
  expect(toWallClock(null, LOS_ANGELES)).toBe('');
});

test.each(['', '2026-01-15', '2026-13-01T00:00', '12026-01-01T00:00', 'tomorrow'])(
  'rejects %j as a time',
  (text) => {
    expect(fromWallClock(text, LOS_ANGELES)).toBeNull();
  },
);
