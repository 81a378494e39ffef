import { describe, expect, test } from 'vitest';
import {
  isWithinHours,
  isWithinOther,
  nextOpening,
  readTimeOfDay,
  type TradingHours,
  type TradingWindow,
  WEEKDAYS,
} from './trading-hours.ts';

const hours = (zone: string, ...windows: TradingWindow[]): TradingHours => ({ zone, windows });
const at = (text: string) => new Date(text);

// Requirements: additions-limits-11
describe('a window on work days from 08:00 to 22:00 in Berlin', () => {
  const berlin = hours('Europe/Berlin', {
    days: ['mon', 'tue', 'wed', 'thu', 'fri'],
    from: '08:00',
    to: '22:00',
  });

  test.each([
    ['2026-11-27T06:59:59.999Z', false],
    ['2026-11-27T07:00:00.000Z', true],
    ['2026-11-27T20:59:59.999Z', true],
    ['2026-11-27T21:00:00.000Z', false],
    ['2026-11-28T12:00:00.000Z', false],
    // Summer time.
    ['2026-07-03T06:00:00.000Z', true],
    ['2026-07-03T05:59:00.000Z', false],
  ])('at %s it is open: %s', (text, isOpen) => {
    expect(isWithinHours(berlin, at(text))).toBe(isOpen);
  });

  test.each([
    ['after Friday evening on Monday morning', '2026-11-27T21:00:00.000Z', '2026-11-30T07:00:00.000Z'],
    ['in the night the same morning', '2026-11-27T01:02:03.004Z', '2026-11-27T07:00:00.000Z'],
    ['while it is open in the next minute', '2026-11-27T07:00:10.000Z', '2026-11-27T07:01:00.000Z'],
    [
      'over the weekend in which the clock goes forward',
      '2026-03-28T12:00:00.000Z',
      '2026-03-30T06:00:00.000Z',
    ],
    ['over the weekend in which it goes back', '2026-10-24T12:00:00.000Z', '2026-10-26T07:00:00.000Z'],
  ])('%s it opens next', (_when, from, opening) => {
    expect(nextOpening(berlin, at(from))?.toISOString()).toBe(opening);
  });
});

describe('a window across midnight', () => {
  const nights = hours('America/New_York', { days: ['sun'], from: '18:00', to: '02:30' });

  test.each([
    ['2026-11-29T23:00:00.000Z', true],
    ['2026-11-30T07:29:00.000Z', true],
    ['2026-11-30T07:30:00.000Z', false],
    ['2026-11-29T07:00:00.000Z', false],
  ])('at %s it is open: %s', (text, isOpen) => {
    expect(isWithinHours(nights, at(text))).toBe(isOpen);
  });

  test('ends an hour later by the sun when the clock goes back within it', () => {
    // 1 November 2026, 02:00 in New York is 01:00 again.
    const saturdays = hours('America/New_York', { days: ['sat'], from: '22:00', to: '03:00' });
    expect(isWithinHours(saturdays, at('2026-11-01T07:59:00.000Z'))).toBe(true);
    expect(isWithinHours(saturdays, at('2026-11-01T08:00:00.000Z'))).toBe(false);
  });
});

describe('a change of the clock', () => {
  test('opens a window whose beginning it leaves out with the first minute after it', () => {
    // 29 March 2026, 02:00 in Berlin is 03:00.
    const window = hours('Europe/Berlin', { days: ['sun'], from: '02:20', to: '06:00' });
    expect(nextOpening(window, at('2026-03-28T20:00:00.000Z'))?.toISOString()).toBe(
      '2026-03-29T01:00:00.000Z',
    );
  });

  test('leaves a window out that lies within it, until a week later', () => {
    const window = hours('Europe/Berlin', { days: ['sun'], from: '02:00', to: '03:00' });
    expect(nextOpening(window, at('2026-03-28T20:00:00.000Z'))?.toISOString()).toBe(
      '2026-04-05T00:00:00.000Z',
    );
  });
});

test('a window that ends when it begins lasts a whole day', () => {
  const window = hours('UTC', { days: ['mon'], from: '09:00', to: '09:00' });
  expect(isWithinHours(window, at('2026-11-30T08:59:00.000Z'))).toBe(false);
  expect(isWithinHours(window, at('2026-11-30T09:00:00.000Z'))).toBe(true);
  expect(isWithinHours(window, at('2026-12-01T08:59:00.000Z'))).toBe(true);
  expect(isWithinHours(window, at('2026-12-01T09:00:00.000Z'))).toBe(false);
});

test('a window up to 24:00 lasts until midnight', () => {
  const window = hours('UTC', { days: [...WEEKDAYS], from: '00:00', to: '24:00' });
  expect(isWithinHours(window, at('2026-11-30T23:59:59.000Z'))).toBe(true);
  expect(isWithinHours(window, at('2026-12-01T00:00:00.000Z'))).toBe(true);
});

test.each([
  ['08:00', 480],
  ['24:00', 1440],
  ['24:01', null],
  ['23:60', null],
  ['8:00', null],
  ['', null],
])('reads %j as a time of day', (text, minutes) => {
  expect(readTimeOfDay(text)).toBe(minutes);
});

describe('hours within other hours', () => {
  const day = hours('UTC', { days: ['mon', 'tue'], from: '08:00', to: '20:00' });

  test.each([
    ['the same', day, true],
    ['fewer days', hours('UTC', { days: ['mon'], from: '08:00', to: '20:00' }), true],
    ['two parts', hours('UTC', { days: ['mon'], from: '08:00', to: '09:00' }, day.windows[0] as never), true],
    ['a minute more', hours('UTC', { days: ['mon'], from: '07:59', to: '20:00' }), false],
    ['across midnight', hours('UTC', { days: ['mon'], from: '19:00', to: '01:00' }), false],
    ['another zone', { ...day, zone: 'Europe/London' }, false],
  ])('%s', (_name, inner, isWithin) => {
    expect(isWithinOther(inner, day)).toBe(isWithin);
  });
});
