import { type Denial, deny } from '../workflow/denials.ts';

/** From this difference of an exchange's clock on, administrators are told. */
export const CLOCK_ATTENTION_MS = 5_000;
/** Above this difference nothing is opened: neither the age of a price nor of a position can be relied on. */
export const CLOCK_ENTRY_LIMIT_MS = 30_000;

interface ClockReading {
  exchange: string;
  /** How far the exchange's clock is ahead of ours, in milliseconds; null: not measured, or it has none of its own. */
  aheadMs: number | null;
}

/** Why nothing is opened at an exchange whose clock differs too much from ours; null if it does not. */
export function denyClockApart({ exchange, aheadMs }: ClockReading): Denial | null {
  if (aheadMs === null || Math.abs(aheadMs) <= CLOCK_ENTRY_LIMIT_MS) return null;
  const limitSeconds = String(CLOCK_ENTRY_LIMIT_MS / 1_000);
  return deny('exchange_clock_apart', { exchange, apart: describeClock(aheadMs), limitSeconds });
}

/** '90.0 s ahead of' or '90.0 s behind'. */
export const describeClock = (aheadMs: number): string =>
  `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead of'}`;
