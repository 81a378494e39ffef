import { pipelineStepNumber } from '#domain/workflow/workflow-lifecycle.ts';
import { findPriceLog, type PriceLogRow } from '#server/ingest/stored-price-logs.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Db } from '#server/platform/db/database.ts';
import { findStep } from './workflow-steps.store.ts';
import { findWorkflowWithSignal } from './workflows.store.ts';

/* A workflow's signal and candle never change and serve all of its users, so they are read once. */

/** Enough for the workflows in progress at the same time. */
const MOST_REMEMBERED = 64;

type Memory = Map<string, Promise<unknown>>;
const memories = new WeakMap<Db, Memory>();

/** Remembers the result of `read`, unless it is null. */
async function readOnce<Found>(
  db: Db,
  key: string,
  read: () => Promise<Found | null>,
): Promise<Found | null> {
  const memory: Memory = memories.get(db) ?? new Map();
  memories.set(db, memory);
  const known = memory.get(key) as Promise<Found | null> | undefined;
  if (known !== undefined) return known;
  const reading = read();
  memory.set(key, reading);
  const [oldest] = memory.keys();
  if (memory.size > MOST_REMEMBERED && oldest !== undefined) memory.delete(oldest);
  const found = await reading.catch((error: unknown) => {
    memory.delete(key);
    throw error;
  });
  if (found === null) memory.delete(key);
  return found;
}

const signalOf = (workflowId: string) => `signal ${workflowId}`;

/** Null when the workflow does not exist. */
export const readSignal = (db: Db, workflowId: string): Promise<SignalRow | null> =>
  readOnce(
    db,
    signalOf(workflowId),
    async () => (await findWorkflowWithSignal(db, workflowId))?.signal ?? null,
  );

/** The instance that runs the workflow already has its signal. */
export function rememberSignal(db: Db, workflowId: string, signal: SignalRow): void {
  void readOnce(db, signalOf(workflowId), async () => signal);
}

/** Null when none was matched. Call it after the workflow's own steps have ended. */
export const readMatchedPriceLog = (db: Db, workflowId: string): Promise<PriceLogRow | null> =>
  readOnce(db, `price log ${workflowId}`, async () => {
    const match = await findStep(db, { workflowId, stepNumber: pipelineStepNumber('price_log_match') });
    const matched = match?.outputData as { priceLogId?: string | null } | null | undefined;
    return matched?.priceLogId == null ? null : await readPriceLog(db, matched.priceLogId);
  });

const readPriceLog = (db: Db, id: string): Promise<PriceLogRow | null> =>
  readOnce(db, `candle ${id}`, () => findPriceLog(db, id));

/** Starts the read at the match, so that the candle is in memory when the users are sized. */
export function rememberPriceLog(db: Db, id: string): void {
  readPriceLog(db, id).catch(() => {});
}
