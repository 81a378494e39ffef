import type { AdminSettingsBody, UserSettings } from '#contract/settings.ts';
import { fromWallClock, toWallClock } from '../../lib/wall-clock.ts';

const DAY_MS = 86_400_000;

export const TRADE_ORDER_SETS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

export interface AutomationFormValues {
  isTestUser: boolean;
  /** Text of the date-and-time field in the display time zone; empty for no pause. */
  pausedUntil: string;
  tradeOrderSet: string;
  oppositeSignal: UserSettings['oppositeSignal'];
}

export const automationFormValues = (settings: UserSettings, timeZone: string): AutomationFormValues => ({
  isTestUser: settings.isTestUser,
  pausedUntil: toWallClock(settings.tradingPausedUntil, timeZone),
  tradeOrderSet: settings.tradeOrderSet,
  oppositeSignal: settings.oppositeSignal,
});

/** Sends only changed fields: the pause field shows no seconds, so sending it untouched would truncate them. */
export function automationBody(options: {
  values: AutomationFormValues;
  initial: AutomationFormValues;
  timeZone: string;
}): AdminSettingsBody {
  const { values, initial, timeZone } = options;
  const isChanged = (name: keyof AutomationFormValues) => values[name] !== initial[name];
  return {
    ...(isChanged('isTestUser') ? { isTestUser: values.isTestUser } : {}),
    ...(isChanged('pausedUntil') ? { tradingPausedUntil: fromWallClock(values.pausedUntil, timeZone) } : {}),
    ...(isChanged('tradeOrderSet') ? { tradeOrderSet: values.tradeOrderSet } : {}),
    ...(isChanged('oppositeSignal') ? { oppositeSignal: values.oppositeSignal } : {}),
  };
}

/** The error of a changed pause, or null. */
export function pauseError(options: {
  pausedUntil: string;
  initial: string;
  timeZone: string;
  nowMs: number;
}): string | null {
  const { pausedUntil, initial, timeZone, nowMs } = options;
  if (pausedUntil === '' || pausedUntil === initial) return null;
  const instant = fromWallClock(pausedUntil, timeZone);
  if (instant === null) return 'Enter a date and a time';
  return Date.parse(instant) > nowMs ? null : 'The end of the pause must lie in the future';
}

export const pausedForADay = (nowMs: number, timeZone: string): string =>
  toWallClock(new Date(nowMs + DAY_MS).toISOString(), timeZone);

export const OPPOSITE_SIGNAL_LABELS = { reverse: 'Reverse', skip: 'Skip' } as const;

/** A field's label and its value in words. */
export function automationField(
  name: keyof AutomationFormValues,
  values: AutomationFormValues,
): { label: string; stored: string } {
  const { isTestUser, pausedUntil, tradeOrderSet, oppositeSignal } = values;
  return {
    isTestUser: { label: 'Test user', stored: isTestUser ? 'on' : 'off' },
    pausedUntil: { label: 'Trading paused until', stored: pausedUntil.replace('T', ' ') || 'not paused' },
    tradeOrderSet: { label: 'Trade order set', stored: tradeOrderSet },
    oppositeSignal: { label: 'Opposite signal', stored: OPPOSITE_SIGNAL_LABELS[oppositeSignal] },
  }[name];
}
