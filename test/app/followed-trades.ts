import type { EngineDeps } from '#server/deps.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { assessCalculation } from '#server/engine/orders/prepare-assessment.ts';
import { listOrdersInDoubt, writeOffOrder } from '#server/engine/orders/write-off.ts';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import type { TradeRow } from '#server/engine/records/trades.store.ts';
import { findPositionGeneratorLog } from '#server/engine/sizing/position-generator.store.ts';
import { users } from '#server/platform/db/schema.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { OPERATOR } from './test-audit.ts';
import type { TestEngine } from './test-engine.ts';

/* Trades followed step by step, and what operators see and do meanwhile. */

const MOST_STEPS = 80;
const MOST_FOLLOWED = 500;

/** One call at the trade's next due time, looks at its fills included. */
export async function stepTrade(engine: TestEngine, tradeId: string): Promise<TradeRow> {
  const { dueAt } = await engine.trade(tradeId);
  if (dueAt !== null && dueAt > engine.clock.now()) engine.clock.set(dueAt);
  await advanceTrade(engine.deps, tradeId);
  return await engine.trade(tradeId);
}

/** Advances the trade until it is there; throws with its timeline when it ends, or takes 80 steps, without that. */
export async function stepUntil(
  engine: TestEngine,
  tradeId: string,
  isThere: (trade: TradeRow) => boolean | Promise<boolean>,
  step = (id: string) => stepTrade(engine, id),
): Promise<TradeRow> {
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const trade = await step(tradeId);
    if (await isThere(trade)) return trade;
    if (trade.state === 'done') break;
  }
  const { timeline } = await engine.events(tradeId);
  throw new Error(`the trade never came to that: ${timeline.join('; ')}`);
}

/** Advances the trade for this long, or until it is done. */
export async function follow(
  engine: TestEngine,
  tradeId: string,
  ms: number,
  deps?: EngineDeps,
): Promise<void> {
  const until = engine.clock.now().getTime() + ms;
  for (let steps = 0; engine.clock.now().getTime() < until; steps += 1) {
    if ((await engine.advance(tradeId, deps)).state === 'done') return;
    if (steps > MOST_FOLLOWED) throw new Error(`the trade took ${steps} steps in less than ${ms} ms`);
  }
}

/** Why the trade's order is shown as in doubt; undefined when it is not. */
export async function doubtOf(engine: TestEngine, tradeId: string): Promise<string | undefined> {
  return (await listOrdersInDoubt(engine.deps)).find((one) => one.tradeId === tradeId)?.problem;
}

/** An administrator writes the trade's order off. */
export async function writeOff(engine: TestEngine, tradeId: string): Promise<TradeRow> {
  const [admin] = await engine.db.select().from(users).limit(1);
  if (admin === undefined) throw new Error('there is no user');
  const by = { id: admin.id, username: 'an administrator' };
  return await writeOffOrder(engine.deps, { tradeId, by, actor: OPERATOR });
}

/** Audits all open positions once; throws when another audit is at work. */
export async function auditOnce(
  engine: TestEngine,
  audit = createProtectionAudit(engine.deps),
): Promise<void> {
  const key = { db: engine.db, key: 'protection:audit', holder: 'test' };
  const { held } = await withLease(key, (lease) => audit.run(lease));
  if (!held) throw new Error('another audit is at work');
}

/** The assessment of the trade's calculation, as for an order by hand. */
export async function assessAgain(engine: TestEngine, trade: TradeRow) {
  const log = await findPositionGeneratorLog(engine.db, trade.positionGeneratorLogId);
  if (log?.position == null) throw new Error('no calculation');
  return await assessCalculation(engine.deps, { log, position: log.position });
}
