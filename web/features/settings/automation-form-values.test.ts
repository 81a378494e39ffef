import { expect, test } from 'vitest';
import { automationBody, pausedForADay, pauseError } from './automation-form-values.ts';

const timeZone = 'America/Los_Angeles';
const nowMs = Date.parse('2026-01-15T20:00:00Z');
const stored = {
  isTestUser: true,
  pausedUntil: '2026-01-16T08:00',
  tradeOrderSet: 'M',
  oppositeSignal: 'reverse',
} as const;

test('a pause is sent as the instant that the display time zone means', () => {
  const values = { ...stored, pausedUntil: '2026-01-17T09:15' };
  expect(automationBody({ values, stored, timeZone }).tradingPausedUntil).toBe('2026-01-17T17:15:00.000Z');
});

test('an emptied pause is sent as null, an untouched one not at all', () => {
  const resumed = automationBody({ values: { ...stored, pausedUntil: '' }, stored, timeZone });
  expect(resumed.tradingPausedUntil).toBeNull();
  expect(automationBody({ values: { ...stored, tradeOrderSet: 'A' }, stored, timeZone })).toEqual({
    isTestUser: true,
    tradeOrderSet: 'A',
    oppositeSignal: 'reverse',
  });
});

test('a new pause ends in the future; one that is over may stay as it is', () => {
  const check = (pausedUntil: string, before: string = stored.pausedUntil) =>
    pauseError({ pausedUntil, stored: before, timeZone, nowMs });
  expect(check('2026-01-15T12:00')).toBe('The end of the pause must lie in the future');
  expect(check('2026-01-15T12:01')).toBeNull();
  expect(check('2020-01-01T00:00', '2020-01-01T00:00')).toBeNull();
  expect(check('')).toBeNull();
  expect(check('20260-01-01T00:00')).toBe('Enter a date and a time');
});

test('a pause of a day ends at the same time tomorrow', () => {
  expect(pausedForADay(nowMs, timeZone)).toBe('2026-01-16T12:00');
});
