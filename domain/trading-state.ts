import { isWithinHours, type TradingHours } from './limits/trading-hours.ts';

/** Whether new positions are opened for a user, in one word; the first that applies, most serious first. */
export const TRADING_STATES = [
  'halted',
  'off',
  'key_refused',
  'no_key',
  'paused',
  'outside_hours',
  'trading',
] as const;
export type TradingState = (typeof TRADING_STATES)[number];

export const TRADING_STATE_WORDS: Readonly<Record<TradingState, string>> = {
  halted: 'Halted',
  off: 'Off',
  key_refused: 'Key refused',
  no_key: 'No key',
  paused: 'Paused',
  outside_hours: 'Outside trading hours',
  trading: 'Trading',
};

/** The key of the user's exchange. `unchecked`: the exchange is asked about it before its first order. */
export const KEY_STATES = ['paper', 'valid', 'unchecked', 'refused', 'missing'] as const;
export type KeyState = (typeof KEY_STATES)[number];

export function tradingState(user: {
  isActive: boolean;
  activeTrading: boolean;
  pausedUntil: Date | null;
  isHalted: boolean;
  /** Null: entries at any time. */
  schedule: TradingHours | null;
  key: KeyState;
  now: Date;
}): TradingState {
  if (user.isHalted) return 'halted';
  if (!user.isActive || !user.activeTrading) return 'off';
  if (user.key === 'refused') return 'key_refused';
  if (user.key === 'missing') return 'no_key';
  if (user.pausedUntil !== null && user.pausedUntil > user.now) return 'paused';
  return user.schedule === null || isWithinHours(user.schedule, user.now) ? 'trading' : 'outside_hours';
}
