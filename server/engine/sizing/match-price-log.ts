import { barCandleWindow, isBarCandleMissing } from '#domain/sizing/bar-candle.ts';
import { type PriceLogCandidate, priceLogWindow, selectPriceLog } from '#domain/sizing/price-log-match.ts';
import { otherSpellings, timeframeMinutes } from '#domain/timeframe.ts';
import { pipelineStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import { findStep } from '#server/engine/records/workflow-steps.store.ts';
import { findShownWorkflow } from '#server/engine/records/workflows.store.ts';
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

/** More than the candles of all series that may serve one signal. */
const BAR_CANDLES = 200;

/** Whether a series that serves the signal is about to send the candle of the bar that just closed. */
export async function isBarCandleDue(db: Queryable, signal: MatchedSignal): Promise<boolean> {
  const { token, timeframe, processor, hookId, receivedAt } = signal;
  const signalTime = signal.signalTimeServer ?? receivedAt;
  const wanted = { token, timeframe, processor, hookId, signalTime, receivedAt };
  const window = barCandleWindow(wanted);
  if (window === null) return false;
  const timeframes = timeframeTexts(timeframe);
  const look = { token, timeframes, hookId, ...window, offset: 0, limit: BAR_CANDLES };
  return isBarCandleMissing(await findCandidates(db, look), wanted);
}

/**
 * The price log that the signal was decided with: that of the workflow that stands for it, or null when it found none.
 * Before that decision the one that belongs to the signal now.
 */
export async function findSignalPriceLog(
  db: Queryable,
  signal: MatchedSignal & { id: string },
): Promise<PriceLogRow | null> {
  const workflow = await findShownWorkflow(db, signal.id);
  const matched = workflow === null ? undefined : await readMatch(db, workflow.id);
  if (matched !== undefined) return matched === null ? null : await findPriceLog(db, matched);
  const match = await findMatch(db, signal);
  return match === null ? null : await findPriceLog(db, match.id);
}

/** The price log that the workflow's step has matched; null when it matched none. */
export async function readMatchedPriceLog(db: Queryable, workflowId: string): Promise<PriceLogRow | null> {
  const matched = await readMatch(db, workflowId);
  return matched == null ? null : await findPriceLog(db, matched);
}

/** The id of the price log that the step has matched, null when none; undefined before the step has ended. */
async function readMatch(db: Queryable, workflowId: string): Promise<string | null | undefined> {
  const match = await findStep(db, { workflowId, stepNumber: pipelineStepNumber('price_log_match') });
  const output = match?.outputData as { priceLogId?: string | null } | null | undefined;
  return output?.priceLogId;
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
