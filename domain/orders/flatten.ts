import { D, smallest, toPlain } from '../decimal.ts';

/** Failures after which a position counts as failed, spread over the first minute. */
const TRIES = 3;
export interface FlattenWaits {
  /** Between the first tries. */
  firstMs: number;
  /** Between further ones, of a position that counts as failed. */
  laterMs: number;
}
export const FLATTEN_WAITS: FlattenWaits = { firstMs: 30_000, laterMs: 60_000 };

/**
 * What of a held position must stay open because it was not opened here, in units of the token: all above what our
 * trade has filled and not closed. `filled`: of the trade; `closed`: by closes of a part; `left`: what the last of those
 * left open, null without one.
 */
export function othersPart(quantities: {
  held: string;
  filled: string;
  closed: string;
  left: string | null;
}): string {
  const { held, filled, closed, left } = quantities;
  const rest = D(filled).minus(closed);
  const ours = smallest(rest.isNegative() ? D(0) : rest, left ?? filled);
  const others = D(held).minus(ours);
  return toPlain(others.isNegative() ? D(0) : others);
}

/** What follows the failure of a try; `tries` counts this one. */
export function afterFailure(
  { tries, firstFailedAt, now }: { tries: number; firstFailedAt: Date; now: Date },
  { firstMs, laterMs }: FlattenWaits,
): { state: 'waiting' | 'failed'; nextAt: Date } {
  const isFailed = tries >= TRIES && now.getTime() - firstFailedAt.getTime() >= (TRIES - 1) * firstMs;
  if (isFailed) return { state: 'failed', nextAt: new Date(now.getTime() + laterMs) };
  const planned = firstFailedAt.getTime() + tries * firstMs;
  return { state: 'waiting', nextAt: new Date(Math.max(planned, now.getTime())) };
}
