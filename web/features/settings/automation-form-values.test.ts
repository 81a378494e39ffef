import { expect, test } from 'vitest';
import {
  type AutomationFormValues,
  automationBody,
  automationField,
  pausedForADay,
  pauseError,
} from './automation-form-values.ts';

const timeZone = 'America/Los_Angeles';
const nowMs = Date.parse('2026-01-15T20:00:00Z');
const initial = {
  isTestUser: true,
  pausedUntil: '2026-01-16T08:00',
  tradeOrderSet: 'M',
  oppositeSignal: 'reverse',
} as const;

test('sends a pause as an instant, read in the display time zone', () => {
  const values = { ...initial, pausedUntil: '2026-01-17T09:15' };
  expect(automationBody({ values, initial, timeZone }).tradingPausedUntil).toBe('2026-01-17T17:15:00.000Z');
});

test('sends only changed fields, and a cleared pause as null', () => {
  const sent = (change: Partial<AutomationFormValues>) =>
    automationBody({ values: { ...initial, ...change }, initial, timeZone });
  expect(sent({ pausedUntil: '' })).toEqual({ tradingPausedUntil: null });
  expect(sent({ tradeOrderSet: 'A' })).toEqual({ tradeOrderSet: 'A' });
  expect(sent({ isTestUser: false, oppositeSignal: 'skip' })).toEqual({
    isTestUser: false,
    oppositeSignal: 'skip',
  });
  expect(sent({})).toEqual({});
});

test('requires a new pause to end in the future, but accepts an old one', () => {
  const check = (pausedUntil: string, before: string = initial.pausedUntil) =>
    pauseError({ pausedUntil, initial: before, timeZone, nowMs });
  expect(check('2026-01-15T12:00')).toBe('The end of the pause must lie in the future');
  expect(check('2026-01-15T12:01')).toBeNull();
  expect(check('2020-01-01T00:00', '2020-01-01T00:00')).toBeNull();
  expect(check('')).toBeNull();
  expect(check('20260-01-01T00:00')).toBe('Enter a date and a time');
});

test('ends a one-day pause at the same time tomorrow', () => {
  expect(pausedForADay(nowMs, timeZone)).toBe('2026-01-16T12:00');
});

test('describes a field by its label and its value in words', () => {
  const told = (name: keyof AutomationFormValues, change: Partial<AutomationFormValues> = {}) => {
    const { label, stored } = automationField(name, { ...initial, ...change });
    return `${label}: ${stored}`;
  };
  expect(told('isTestUser')).toBe('Test user: on');
  expect(told('pausedUntil')).toBe('Trading paused until: 2026-01-16 08:00');
  expect(told('pausedUntil', { pausedUntil: '' })).toBe('Trading paused until: not paused');
  expect(told('tradeOrderSet')).toBe('Trade order set: M');
  expect(told('oppositeSignal')).toBe('Opposite signal: Reverse');
});
