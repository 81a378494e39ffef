import { describe, expect, test } from 'vitest';
import { feedState, graceOf, missingBetween, skewSeconds, type WatchedFeed } from './feed-state.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 4, 4, 10) + seconds * 1_000);
const FEED = { candles: 3, minutes: 15, muted: false, graceSeconds: null, lastReceivedAt: at(0) };
const always = new Date(0);

describe('the state of a feed', () => {
  // Requirements: additions-alerts-14
  test.each([
    [0, 'ok'],
    [15 * 60 + 120, 'ok'],
    [15 * 60 + 121, 'late'],
    [45 * 60, 'late'],
    [45 * 60 + 1, 'silent'],
  ])('%d seconds after the last candle of 15 minutes is %s', (seconds, state) => {
    expect(feedState(FEED, { now: at(seconds), countFrom: always })).toEqual({ state, expectedAt: at(900) });
  });

  test.each<[Partial<WatchedFeed>, string]>([
    [{ candles: 2 }, 'learning'],
    [{ minutes: null }, 'learning'],
    [{ muted: true }, 'muted'],
    [{ graceSeconds: 90_000 }, 'ok'],
  ])('with %j is %s a day later', (change, state) => {
    expect(feedState({ ...FEED, ...change }, { now: at(86_400), countFrom: always }).state).toBe(state);
  });

  test('counts from when somebody began to listen', () => {
    const countFrom = at(80_000);
    expect(feedState(FEED, { now: at(80_900), countFrom }).state).toBe('ok');
    expect(feedState(FEED, { now: at(82_701), countFrom }).state).toBe('silent');
    expect(feedState(FEED, { now: at(86_400), countFrom: null }).state).toBe('ok');
  });
});

test.each([
  [1, 120],
  [15, 120],
  [60, 360],
  [1_440, 8_640],
])('the grace of %d minutes is %d seconds', (minutes, seconds) => {
  expect(graceOf({ minutes, graceSeconds: null })).toBe(seconds);
  expect(graceOf({ minutes, graceSeconds: 5 })).toBe(5);
});

test('finds the candles between two', () => {
  expect(missingBetween(at(0), at(900), 15)).toEqual([]);
  expect(missingBetween(at(0), at(2_700), 15)).toEqual([at(900), at(1_800)]);
  expect(missingBetween(at(2_700), at(0), 15)).toEqual([]);
});

test.each([
  [2, 2],
  [-30, -30],
  [900 + 2, 2],
  [900 - 5, -5],
])('a candle of 15 minutes that comes %d seconds after its time is off by %d', (seconds, skew) => {
  expect(skewSeconds({ candleTime: at(0), receivedAt: at(seconds), minutes: 15 })).toBe(skew);
});
