import { eq } from 'drizzle-orm';
import { findTradingSettings } from '#server/admin/settings/settings.store.ts';
import { commitOrderIntent } from '#server/engine/orders/commit-order-intent.ts';
import { generatePosition, recordCalculation } from '#server/engine/sizing/generate-position.ts';
import type { PositionGeneratorLogRow } from '#server/engine/sizing/position-generator.store.ts';
import { findSignal, isEntry } from '#server/ingest/stored-signals.ts';
import { workflows } from '#server/platform/db/schema.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import type { TestEngine } from './test-engine.ts';
import type { SignalFields } from './test-engine-rows.ts';

interface Wanted {
  userId: string;
  signalId: string;
}

/** Calculates a manual order for a signal, as the calculator does. */
export const calculateByHand = (engine: TestEngine, wanted: Wanted): Promise<PositionGeneratorLogRow> =>
  calculate(engine, { ...wanted, profile: 'manual', workflowId: null });

/** Calculates for a workflow without planning the order, as earlier versions committed it. */
export const calculateForWorkflow = (
  engine: TestEngine,
  wanted: Wanted & { workflowId: string },
): Promise<PositionGeneratorLogRow> => calculate(engine, { ...wanted, profile: 'automatic' });

async function calculate(
  engine: TestEngine,
  options: Wanted & { profile: 'manual' | 'automatic'; workflowId: string | null },
): Promise<PositionGeneratorLogRow> {
  const { userId, signalId, profile, workflowId } = options;
  const signal = await findSignal(engine.db, signalId);
  const settings = await findTradingSettings(engine.db, userId);
  if (signal === null || !isEntry(signal) || settings === null) throw new Error('no such signal or user');
  const request = { signal, priceLog: null, userId, settings, profile, workflowId };
  const result = await generatePosition(engine.deps, request);
  if (!result.ok) throw new Error(result.denial.reason);
  return await recordCalculation(engine.deps, { ...request, result, isEstimate: false });
}

/** Commits the order of a calculation, as the operator's button does. */
export async function commitByHand(engine: TestEngine, log: PositionGeneratorLogRow) {
  const { position } = log;
  if (position === null) throw new Error('the calculation has no position');
  const key = { db: engine.db, key: `user:${log.userId}`, holder: `by hand ${log.id}` };
  for (;;) {
    const leased = await withLease(key, (lease) =>
      commitOrderIntent(engine.deps, { log, position, triggerType: 'manual', lease }),
    );
    if (leased.held) return leased.result;
  }
}

/** A manual trade of a new user whose order is planned but not sent. */
export async function planByHand(engine: TestEngine, fields: SignalFields & { token: string }) {
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const { signalId, workflowId } = await engine.storeSignal(fields);
  // Only the test trades the signal.
  await engine.db.delete(workflows).where(eq(workflows.id, workflowId));
  const log = await calculateByHand(engine, { userId, signalId });
  const intent = await commitByHand(engine, log);
  if (!intent.ok) throw new Error(`not committed: ${intent.reason}`);
  return { token: fields.token, userId, signalId, trade: await engine.trade(intent.tradeId) };
}
