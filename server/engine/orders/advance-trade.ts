import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { isTerminal } from '#domain/orders/order-lifecycle.ts';
import type { CallRecord } from '#server/exchanges/exchange.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { withCommit } from '#server/platform/db/drizzle-over.ts';
import { orderAttempts, trades } from '#server/platform/db/schema.ts';
import { assertHeld, type Lease, LeaseLostError, withLeaseAndRead } from '#server/platform/jobs/leases.ts';
import { closeUnprotected } from './close-unprotected.ts';
import { doubtInterrupted, lookUpAttempt } from './look-up-attempt.ts';
import { placeAttempt } from './place-attempt.ts';
import { watchFills } from './protect-position.ts';
import { restoreProtection } from './restore-protection.ts';
import { settleAttempt } from './settle-attempt.ts';
import { openTradeAccount, slowDown } from './trade-account.ts';
import { exchangeOf, type StepResult, type TradeDeps, type TradeWork } from './trade-work.ts';
import { type AttemptRow, addCalls, findTradeWithAttempts, type TradeRow } from './trades.store.ts';
import { confirmCancel, verifyAttempt } from './verify-attempt.ts';

/**
 * Advances a trade as far as it can go now. Safe to call at any time, twice, or after a crash: it reads the state
 * from the database and, in doubt, from the exchange. Waits are due times in the row, never only timers.
 * I3 fills never exceed the plan: the second attempt orders only the confirmed rest.
 * I4 no filled entry without a stop: the stop is read back or placed, or the position is closed.
 * I5 no order without stop and target, leverage and margin mode.
 * I6 doubt never becomes a new order: an attempt in doubt is looked up, and the next attempt starts only after the
 *    previous one has provably ended.
 */
export async function advanceTrade(deps: TradeDeps, tradeId: string): Promise<void> {
  const key = `trade:${tradeId}`;
  const read = (on: Queryable) => findTradeWithAttempts(on, tradeId);
  const options = { db: deps.db, key, holder: deps.config.instanceId, log: deps.log, read };
  const leased = await withLeaseAndRead(options, async (lease, first) => {
    const pending: RecordedCall[] = [];
    try {
      if (first !== null && !(await isDue(deps, first.trade))) return;
      for (let found = first; found !== null && found.trade.state !== 'done'; found = await read(deps.db)) {
        if (found.attempts.some(({ state }) => isTerminal(state))) await recordCalls(deps, tradeId, pending);
        const result = await advanceOnce(deps, lease, { ...found, pending });
        if (result.next === 'never') return;
        if (result.next === 'later') {
          await wakeAt(deps, lease, tradeId, result.at);
          return;
        }
      }
    } catch (error) {
      // Another worker continues this trade; nothing more was written here.
      if (!(error instanceof LeaseLostError)) throw error;
      deps.log.warn({ tradeId }, 'the trade was taken over');
    } finally {
      await recordCalls(deps, tradeId, pending);
    }
  });
  // The holder may be dead: send this job again.
  if (!leased.held) {
    await deps.jobs.send(deps.db, 'advance-trade', { tradeId }, { waitMs: HELD_RETRY_MS });
  }
}

export const HELD_RETRY_MS = 2_000;
// Sleep through a shorter rest: a new job would be fetched half a second later at the earliest.
const SHORT_REST_MS = 250;

/**
 * Whether the trade is due. An early job is a duplicate, or comes from an instance whose clock is ahead. It is sent
 * again for the rest unless another job waits: with no job the trade would wait for the sweep, and two jobs would start
 * two chains.
 */
async function isDue(deps: TradeDeps, { id: tradeId, dueAt }: TradeRow): Promise<boolean> {
  const restMs = () => (dueAt?.getTime() ?? 0) - deps.clock.now().getTime();
  if (restMs() > 0 && restMs() <= SHORT_REST_MS) await sleep(restMs() + 1);
  if (restMs() <= 0) return true;
  await deps.jobs.sendMissing(deps.db, 'advance-trade', [{ tradeId }], { waitMs: restMs() });
  return false;
}

/** A call to the exchange and the attempt that made it. */
interface RecordedCall {
  call: CallRecord;
  attemptId: string;
}

async function advanceOnce(
  deps: TradeDeps,
  lease: Lease,
  { trade, attempts, pending }: { trade: TradeRow; attempts: AttemptRow[]; pending: RecordedCall[] },
): Promise<StepResult> {
  const exchange = exchangeOf(deps, trade);
  const { account } = await openTradeAccount(deps, trade);
  const attempt = attempts.at(-1);
  if (attempt === undefined) throw new Error(`trade ${trade.id} has no attempt`);
  const calls: CallRecord[] = [];
  const work: TradeWork = {
    deps,
    lease,
    trade,
    attempts,
    attempt,
    exchange,
    account,
    onCall(call) {
      calls.push(call);
      pending.push({ call, attemptId: attempt.id });
    },
  };
  const result = await takeStep(work);
  if (result.next !== 'later') return result;
  return { next: 'later', at: await slowDown(work, { at: result.at, calls }) };
}

function takeStep(work: TradeWork): Promise<StepResult> {
  if (work.trade.state === 'closing') return closeUnprotected(work);
  if (work.trade.state === 'protecting') return restoreProtection(work);
  if (isTerminal(work.attempt.state)) return settleAttempt(work);
  switch (work.attempt.state) {
    case 'planned':
      return placeAttempt(work);
    case 'submitting':
      return doubtInterrupted(work);
    default:
      return followOrder(work);
  }
}

/** For an order that is or may be at the exchange: protects its fills while the order is still open (I4). */
async function followOrder(work: TradeWork): Promise<StepResult> {
  const { lookAt, isOverdue } = await watchFills(work);
  const result = await takeOrderStep(work, { atOnce: isOverdue });
  // Look-ups of an order in doubt keep their own pace; only a position without a stop is more urgent.
  const isInDoubt = work.attempt.state === 'unknown' || work.attempt.doubt !== null;
  const isUrgent = !isInDoubt || work.trade.unprotectedSince !== null;
  if (result.next !== 'later' || lookAt === null || !isUrgent) return result;
  return { next: 'later', at: new Date(Math.min(lookAt.getTime(), result.at.getTime())) };
}

function takeOrderStep(work: TradeWork, { atOnce }: { atOnce: boolean }): Promise<StepResult> {
  switch (work.attempt.state) {
    case 'unknown':
      return lookUpAttempt(work);
    case 'open':
      return verifyAttempt(work, { atOnce });
    default:
      return confirmCancel(work);
  }
}

/** Records each call once, for the dialogs. A failure does not stop the order. */
async function recordCalls(deps: TradeDeps, tradeId: string, pending: RecordedCall[]): Promise<void> {
  if (pending.length === 0) return;
  const unrecorded = pending.splice(0);
  const calls = unrecorded.map(({ call }) => call);
  const placements = unrecorded.filter(({ call }) => call.type === 'place-order');
  try {
    if (placements.length === 0) return await addCalls(deps.db, tradeId, calls);
    await deps.db.transaction(async (tx) =>
      withCommit(
        tx,
        addCalls(tx, tradeId, calls),
        ...placements.map(({ call, attemptId }) =>
          tx
            .update(orderAttempts)
            .set({ orderPayload: call.requestData })
            .where(eq(orderAttempts.id, attemptId))
            .execute(),
        ),
      ),
    );
  } catch (error) {
    deps.log.error({ err: error, tradeId }, 'the call sequence of a trade could not be recorded');
  }
}

async function wakeAt(deps: TradeDeps, lease: Lease, tradeId: string, at: Date): Promise<void> {
  // Computed before the transaction: the database counts the wait from its start, and a job must not come too early.
  const waitMs = at.getTime() - deps.clock.now().getTime();
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    withCommit(tx, tx.update(trades).set({ dueAt: at }).where(eq(trades.id, tradeId)).execute());
    await deps.jobs.sendWithCommit(tx, 'advance-trade', { tradeId }, { waitMs });
  });
}
