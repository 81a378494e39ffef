import { denyClockApart } from '#domain/orders/clock-difference.ts';
import { LIVE_PRICE_MAX_AGE_MS } from '#domain/sizing/trading-constants.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import { isFresh } from '#server/platform/clock.ts';
import type { Exchange, Ticker } from './exchange.ts';

/** One answer that carried the exchange's time. */
interface ClockSample {
  /** The exchange's time. */
  at: Date;
  /** Our times at the request and at its answer. */
  sentAt: Date;
  receivedAt: Date;
}

/** How far an exchange's clock is from ours, as its answers show. */
export interface ExchangeClock {
  /** Takes the time of an answer into account. */
  measure(sample: ClockSample): void;
  /** The next answer counts, whatever was measured before: the exchange refused a request for its time. */
  doubt(): void;
  /** How far the exchange's clock is ahead of ours, in milliseconds; null while no answer has come. */
  aheadMs(): number | null;
  /** The present time by the exchange's clock; by ours while it is not known. */
  now(): Date;
}

/** A better sample than the newest counts for this long. */
const KEPT_MS = 60_000;
/** Two samples may differ by this much more than their round trips explain. */
const TOLERANCE_MS = 250;

interface Measured {
  aheadMs: number;
  /** Half the round trip: the exchange read its clock at an unknown moment of it. */
  doubtMs: number;
  at: Date;
}

/**
 * Keeps the most exact sample of the last minute. One that contradicts it replaces it: one of the clocks was set.
 */
export function createExchangeClock({ now }: { now: () => Date }): ExchangeClock {
  let best: Measured | null = null;
  let isDoubted = false;

  function measured({ at, sentAt, receivedAt }: ClockSample): Measured | null {
    const doubtMs = (receivedAt.getTime() - sentAt.getTime()) / 2;
    // Our clock stepped back while the answer was under way.
    if (doubtMs < 0) return null;
    return { aheadMs: Math.round(at.getTime() - sentAt.getTime() - doubtMs), doubtMs, at: receivedAt };
  }

  function isBetter({ aheadMs, doubtMs }: Measured): boolean {
    if (best === null || isDoubted || doubtMs <= best.doubtMs) return true;
    if (!isFresh({ at: best.at, maxAgeMs: KEPT_MS, now: now() })) return true;
    return Math.abs(aheadMs - best.aheadMs) > doubtMs + best.doubtMs + TOLERANCE_MS;
  }

  return {
    measure(sample) {
      const next = measured(sample);
      if (next === null || !isBetter(next)) return;
      best = next;
      isDoubted = false;
    },
    doubt() {
      isDoubted = true;
    },
    aheadMs: () => best?.aheadMs ?? null,
    now: () => new Date(now().getTime() + (best?.aheadMs ?? 0)),
  };
}

/** Why nothing is opened at an exchange now because of its clock; null if its clock and ours agree. */
export const denyClock = (exchange: Pick<Exchange, 'platform' | 'clockAheadMs'>): Denial | null =>
  denyClockApart({ exchange: exchange.platform, aheadMs: exchange.clockAheadMs() });

/** Whether a price is at most ten seconds away from `now`, the present time by the exchange's clock. */
export const isLivePrice = ({ at }: Pick<Ticker, 'at'>, now: Date): boolean =>
  Math.abs(now.getTime() - at.getTime()) <= LIVE_PRICE_MAX_AGE_MS;

/** What an exchange's clock shows when ours shows `now`. */
export const exchangeTime = (exchange: Pick<Exchange, 'clockAheadMs'>, now: Date): Date =>
  new Date(now.getTime() + (exchange.clockAheadMs() ?? 0));
