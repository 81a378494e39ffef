import type { TradingHaltView } from '#contract/trading-halts.ts';

type Halt = Pick<TradingHaltView, 'kind' | 'clearedAt' | 'clearedHow'>;

/** What has to happen before the user trades again, as a sentence. */
export function haltEnding({ kind, clearedAt, clearedHow }: Halt, { isAdmin }: { isAdmin: boolean }): string {
  if (kind === 'unverified') return 'It ends by itself when the exchange shows the stop.';
  if (clearedAt === null) return 'It is being protected or closed in the background.';
  const who = isAdmin ? 'it can be resumed' : 'an administrator can resume it';
  return `${clearedHow ?? 'The exchange shows it closed or protected'}: ${who}.`;
}

/** How it ended, of a halt that has. */
export const haltEnd = ({ endedBy }: Pick<TradingHaltView, 'endedBy'>): string =>
  endedBy === null ? 'By itself' : `Resumed by ${endedBy}`;

/** By user, for a list of users: why they are halted. */
export const reasonsByUser = (
  halts: readonly Pick<TradingHaltView, 'userId' | 'reason'>[],
): ReadonlyMap<string, string> => new Map(halts.map(({ userId, reason }) => [userId, reason]));
