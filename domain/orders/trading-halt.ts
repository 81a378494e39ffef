import { type Denial, deny } from '../workflow/denials.ts';

/**
 * Why a user is halted (I4). `unprotected`: a position without a stop could not be closed in time; the halt ends only
 * when the exchange shows the position closed or protected and an administrator resumes. `unverified`: the exchange did
 * not answer about the stop of a fill; the halt ends automatically when the exchange shows the stop, or no position.
 * `surplus`: the position is not what our orders filled, because somebody traded by hand; it ends as `unprotected` does.
 */
export const HALT_KINDS = ['unprotected', 'surplus', 'unverified'] as const;
export type HaltKind = (typeof HALT_KINDS)[number];

export interface TradingHalt {
  kind: HaltKind;
  /** A sentence without a full stop. */
  reason: string;
  since: Date;
}

const ENDINGS: Readonly<Record<HaltKind, string>> = {
  unprotected: 'an administrator has to resume it',
  surplus: 'an administrator has to resume it',
  unverified: 'it goes on when the exchange shows the stop',
};

/** Why a halted user opens nothing new, since when, and what ends the halt. */
export function denyHalted({ kind, reason, since }: TradingHalt): Denial {
  return deny('trading_halted', { since: since.toISOString(), reason, ending: ENDINGS[kind] });
}

/** The most severe of a user's halts: one that somebody has to end before one that ends automatically. */
export function worstHalt<Halt extends TradingHalt>(halts: readonly Halt[]): Halt | null {
  const [worst] = [...halts].sort(
    (a, b) =>
      HALT_KINDS.indexOf(a.kind) - HALT_KINDS.indexOf(b.kind) || a.since.getTime() - b.since.getTime(),
  );
  return worst ?? null;
}
