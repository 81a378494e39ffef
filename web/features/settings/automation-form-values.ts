import type { AdminSettingsBody, UserSettings } from '#contract/settings.ts';
import { fromWallClock, toWallClock } from './wall-clock.ts';

const DAY_MS = 86_400_000;

export const TRADE_ORDER_SETS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

export interface AutomationFormValues {
  isTestUser: boolean;
  /** The text of a date-and-time field in the display time zone; empty for no pause. */
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

/** A pause that was not touched is not sent: the field shows no seconds, and would cut them off. */
export function automationBody(options: {
  values: AutomationFormValues;
  stored: AutomationFormValues;
  timeZone: string;
}): AdminSettingsBody {
  const { values, stored, timeZone } = options;
  const { pausedUntil, ...fields } = values;
  if (pausedUntil === stored.pausedUntil) return fields;
  return { ...fields, tradingPausedUntil: fromWallClock(pausedUntil, timeZone) };
}

/** What is wrong with a changed pause, or null. */
export function pauseError(options: {
  pausedUntil: string;
  stored: string;
  timeZone: string;
  nowMs: number;
}): string | null {
  const { pausedUntil, stored, timeZone, nowMs } = options;
  if (pausedUntil === '' || pausedUntil === stored) return null;
  const instant = fromWallClock(pausedUntil, timeZone);
  if (instant === null) return 'Enter a date and a time';
  return Date.parse(instant) > nowMs ? null : 'The end of the pause must lie in the future';
}

export const pausedForADay = (nowMs: number, timeZone: string): string =>
  toWallClock(new Date(nowMs + DAY_MS).toISOString(), timeZone);
