import { type PriceLogCandidate, priceLogWindow, selectPriceLog } from '#domain/sizing/price-log-match.ts';
import { otherSpellings, timeframeMinutes } from '#domain/timeframe.ts';
import { pipelineStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import { findStep } from '#server/engine/records/workflow-steps.store.ts';
import { findCandidates, findPriceLog, type PriceLogRow } from '#server/ingest/stored-price-logs.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { readKeptSince } from '#server/platform/db/partitions.ts';

/** The first few nearly always include the match; later pages are read only when newer candles do not fit. */
const FIRST_LOOK = 20;
const NEXT_LOOKS = 1_000;

interface MatchedSignal {
  token: string;
  timeframe: string;
  processor: string;
  hookId: string;
  signalTimeServer: Date | null;
  receivedAt: Date;
}

/** The price log that belongs to a signal; null when there is none. */
export async function findMatch(db: Queryable, signal: MatchedSignal): Promise<PriceLogCandidate | null> {
  const { token, timeframe, processor, hookId } = signal;
  const signalTime = signal.signalTimeServer ?? signal.receivedAt;
  const window = priceLogWindow({ signalTime, timeframe });
  const timeframes = timeframeTexts(timeframe);
  // A candle that arrives between two pages shifts the rest: one is read twice, none is skipped.
  let offset = 0;
  for (let limit = FIRST_LOOK; ; limit = NEXT_LOOKS) {
    const candidates = await findCandidates(db, { token, timeframes, hookId, ...window, offset, limit });
    const match = selectPriceLog(candidates, { token, timeframe, processor, signalTime, hookId });
    if (match !== null || candidates.length < limit) return match;
    offset += limit;
  }
}

/** Like `findMatch`, with the price log itself. */
export async function matchPriceLog(db: Queryable, signal: MatchedSignal): Promise<PriceLogRow | null> {
  const match = await findMatch(db, signal);
  return match === null ? null : await findPriceLog(db, match.id);
}

/** The price log that the workflow's step has matched; null when it matched none. */
export async function readMatchedPriceLog(db: Queryable, workflowId: string): Promise<PriceLogRow | null> {
  const match = await findStep(db, { workflowId, stepNumber: pipelineStepNumber('price_log_match') });
  const matched = match?.outputData as { priceLogId?: string | null } | null | undefined;
  return matched?.priceLogId == null ? null : await findPriceLog(db, matched.priceLogId);
}

/** Whether all price logs that could belong to the signal are still stored. */
export async function arePriceLogsKept(
  db: Queryable,
  signal: { timeframe: string; signalTimeServer: Date | null; receivedAt: Date },
): Promise<boolean> {
  const signalTime = signal.signalTimeServer ?? signal.receivedAt;
  const { notBefore } = priceLogWindow({ signalTime, timeframe: signal.timeframe });
  const since = await readKeptSince(db, 'price_logs');
  return since === null || notBefore >= since;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** The units that a timeframe can be written in, including none. */
const UNITS = ['', ...LETTERS].flatMap((unit) => {
  const minutes = timeframeMinutes(`1${unit}`);
  return minutes === null ? [] : [{ unit, minutes }];
});
const MAX_DIGITS = 5;

/**
 * Every way to write a timeframe of the same minutes ('60', '1h', 'h', '01H', 'H1', '1 hour', …), to look candles up by equality;
 * null for a timeframe without minutes.
 */
export function timeframeTexts(timeframe: string): string[] | null {
  const minutes = timeframeMinutes(timeframe);
  if (minutes === null) return null;
  const letters = UNITS.filter((unit) => minutes % unit.minutes === 0).flatMap(
    ({ unit, minutes: unitMinutes }) => {
      const digits = String(minutes / unitMinutes);
      const padded = Array.from({ length: MAX_DIGITS + 1 - digits.length }, (_, zeros) =>
        digits.padStart(digits.length + zeros, '0'),
      );
      const counts = digits === '1' && unit !== '' ? ['', ...padded] : padded;
      return counts.map((count) => `${count}${unit}`);
    },
  );
  return [...letters, ...otherSpellings(minutes)];
}
