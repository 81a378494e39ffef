import type { UserTradingState } from '#contract/overview.ts';
import { TRADING_STATE_WORDS, type TradingState } from '#domain/trading-state.ts';
import type { BadgeTone } from '../ui/badge.tsx';

/** Not green: green is for profit and outcome. */
const TONES: Readonly<Record<string, BadgeTone>> = {
  halted: 'failure',
  key_refused: 'failure',
  no_key: 'warning',
  paused: 'warning',
  outside_hours: 'warning',
  off: 'neutral',
  trading: 'accent',
} satisfies Record<TradingState, BadgeTone>;

const MINUTES = 'yyyy/MM/dd HH:mm'.length;

/** A user's state as a badge: one word, a pause or closed hours with their end, and why as its tip. */
export function describeTradingState(
  { state, pausedUntil, reason }: Pick<UserTradingState, 'state' | 'pausedUntil' | 'reason'>,
  formatInstant: (instant: string) => string,
): { word: string; tone: BadgeTone; tip: string | undefined } {
  const word = TRADING_STATE_WORDS[state] ?? '–';
  const until = pausedUntil === null ? '' : ` until ${formatInstant(pausedUntil)}`;
  return {
    word: until === '' ? word : `${word}${until.slice(0, ' until '.length + MINUTES)}`,
    tone: TONES[state] ?? 'outline',
    tip: reason ?? undefined,
  };
}
