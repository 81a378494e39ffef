import type { TradingHaltView } from '#contract/trading-halts.ts';

type Halt = Pick<TradingHaltView, 'kind' | 'clearedAt' | 'clearedHow'>;

/** A sentence on what must happen before the user trades again. */
export function haltEnding({ kind, clearedAt, clearedHow }: Halt, { isAdmin }: { isAdmin: boolean }): string {
  if (kind === 'unverified') return 'It ends by itself when the exchange shows the stop.';
  if (clearedAt === null && kind === 'surplus') {
    return 'It waits until the exchange shows the position closed or protected.';
  }
  if (clearedAt === null) return 'It is being protected or closed in the background.';
  const who = isAdmin ? 'it can be resumed' : 'an administrator can resume it';
  return `${clearedHow ?? 'The exchange shows it closed or protected'}: ${who}.`;
}

/** How an ended halt ended. */
export const haltEnd = ({ endedBy }: Pick<TradingHaltView, 'endedBy'>): string =>
  endedBy === null ? 'By itself' : `Resumed by ${endedBy}`;
