import { expect, test } from 'vitest';
import type { TradingHours } from './limits/trading-hours.ts';
import { type TradingState, tradingState } from './trading-state.ts';

const now = new Date('2026-03-04T12:00:00Z');
const trading = {
  isActive: true,
  activeTrading: true,
  pausedUntil: null,
  isHalted: false,
  schedule: null,
  key: 'valid' as const,
  now,
};
const later = new Date('2026-03-05T12:00:00Z');

const MONDAYS: TradingHours = { zone: 'UTC', windows: [{ days: ['mon'], from: '08:00', to: '22:00' }] };

// Requirements: additions-overview-5
test.each<[TradingState, Partial<Parameters<typeof tradingState>[0]>]>([
  ['trading', {}],
  ['trading', { key: 'paper' }],
  ['trading', { key: 'unchecked' }],
  ['trading', { pausedUntil: now }],
  ['paused', { pausedUntil: later, schedule: MONDAYS }],
  ['outside_hours', { schedule: MONDAYS }],
  ['trading', { schedule: { ...MONDAYS, windows: [{ days: ['wed'], from: '08:00', to: '22:00' }] } }],
  ['no_key', { key: 'missing', pausedUntil: later }],
  ['key_refused', { key: 'refused', pausedUntil: later }],
  ['off', { activeTrading: false, key: 'refused', pausedUntil: later }],
  ['off', { isActive: false }],
  ['halted', { isHalted: true, isActive: false, activeTrading: false, key: 'refused', pausedUntil: later }],
])('is %s for %o', (state, changes) => {
  expect(tradingState({ ...trading, ...changes })).toBe(state);
});
