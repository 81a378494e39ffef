import { isTerminal } from '#domain/orders/order-lifecycle.ts';
import type { EngineDeps } from '#server/deps.ts';
import {
  addCalls,
  findTradeWithAttempts,
  type TradeWithAttempts,
} from '#server/engine/records/trades.store.ts';
import { tradeKey } from '#server/engine/records/transitions.ts';
import type { CallRecord } from '#server/exchanges/exchange.ts';
import { isDue } from '#server/platform/clock.ts';
import {
  acquireLease,
  keepLeases,
  type Lease,
  LeaseLostError,
  releaseLeases,
} from '#server/platform/jobs/leases.ts';
import { closeUnprotected } from './close-unprotected.ts';
import { sendCancel } from './look-up-attempt.ts';
import { placeAttempt } from './place-attempt.ts';
import { watchFills } from './protect-position.ts';
import { restoreProtection } from './restore-protection.ts';
import { finishFilled, settleAttempt } from './settle-attempt.ts';
import { doubtInterrupted, lookUpAttempt } from './settle-unknown.ts';
import { openTradeAccount, slowDown } from './trade-account.ts';
import {
  exchangeOf,
  type HeldTrade,
  longestWaitMs,
  record,
  type StepResult,
  type TradeWork,
} from './trade-work.ts';
import { cancelStopped, confirmCancel, verifyAttempt } from './verify-attempt.ts';

/** How long a job waits that found the trade held by another worker. */
export const HELD_RETRY_MS = 2_000;
// Sleep through a shorter rest: a new job would be fetched half a second later at the earliest.
const SHORT_REST_MS = 250;
/** By then the orders of a thousand users have left, and their positions were read. */
const POSITION_PATIENCE_MS = 60_000;

/**
 * Advances a trade as far as it can go now. Safe to call at any time, twice, or after a crash: it reads the state
 * from the database and, in doubt, from the exchange. Waits are due times in the row, never only timers.
 * I3 fills never exceed the plan: the second attempt orders only the confirmed rest.
 * I4 no filled entry without a stop: the stop is read back or placed, or the position is closed.
 * I5 no order without stop and target, leverage and margin mode.
 * I6 doubt never becomes a new order: an attempt in doubt is looked up, and the next attempt starts only after the
 *    previous one has provably ended.
 */
export async function advanceTrade(
  deps: EngineDeps,
  tradeId: string,
  { isCancelSent = false }: { isCancelSent?: boolean | undefined } = {},
): Promise<void> {
  const { db, log } = deps;
  const lease = await acquireLease({ db, key: tradeKey(tradeId), holder: deps.config.instanceId });
  if (lease === null) {
    const cancelled = isCancelSent || (await cancelWhileHeld(deps, tradeId));
    // The holder may be dead: send this job again.
    const again = { tradeId, ...(cancelled ? { isCancelSent: true as const } : {}) };
    await deps.jobs.send(db, 'advance-trade', again, { waitMs: HELD_RETRY_MS });
    return;
  }
  const stopKeeping = keepLeases({ db, clock: deps.clock, leases: [lease], log });
  try {
    // After the lease: its former holder writes nothing more.
    const found = await findTradeWithAttempts(db, tradeId, {
      now: deps.clock.now(),
      exitScope: deps.config.exitScope,
    }).catch(async (error: unknown) => {
      await releaseQuietly(deps, lease);
      throw error;
    });
    if (found === null || found.trade.state === 'done' || !(await isItsTime(deps, found))) {
      await releaseQuietly(deps, lease);
      return;
    }
    await advanceHeldTrade(deps, { lease, ...found });
  } finally {
    stopKeeping();
  }
}

/**
 * Cancels the resting order of a trade that another worker has, if new entries are stopped for it: that worker may be
 * dead, or wait for its turn at the exchange for longer than a stop may take. Changes nothing of the trade, so it needs
 * no lease: the worker finds the order cancelled, as if its user had done it. Returns whether a cancel was sent.
 */
async function cancelWhileHeld(deps: EngineDeps, tradeId: string): Promise<boolean> {
  const { clock, config, db } = deps;
  const found = await findTradeWithAttempts(db, tradeId, { now: clock.now(), exitScope: config.exitScope });
  const attempt = found?.attempts.at(-1);
  if (found?.isStopped !== true || found.trade.state !== 'working' || attempt?.state !== 'open') return false;
  const { trade } = found;
  const calls: CallRecord[] = [];
  const { account } = await openTradeAccount(deps, trade);
  const exchange = exchangeOf(deps, trade);
  await sendCancel({ account, exchange, trade, attempt, onCall: (call) => calls.push(call) });
  await addCalls(db, tradeId, calls);
  return true;
}

/** Advances a trade whose lease the caller has taken and keeps; releases the lease. */
export async function advanceHeldTrade(deps: EngineDeps, held: HeldTrade): Promise<void> {
  const { lease, trade } = held;
  const calls: CallRecord[] = [];
  let ended: { isStoppedSince: boolean } | null = null;
  try {
    ended = await takeSteps(deps, held, calls);
  } catch (error) {
    // Another worker continues this trade; nothing more was written here.
    if (!(error instanceof LeaseLostError)) throw error;
    deps.log.warn({ tradeId: trade.id }, 'the trade was taken over');
  } finally {
    if (calls.length > 0) {
      await addCalls(deps.db, trade.id, calls).catch((error: unknown) =>
        deps.log.error({ err: error, tradeId: trade.id }, 'the calls of a trade could not be recorded'),
      );
    }
    if (ended === null) await releaseQuietly(deps, lease);
  }
  // The call of the stop found the trade at work.
  if (ended?.isStoppedSince) await advanceTrade(deps, trade.id);
}

/** A lease that cannot be released expires. */
const releaseQuietly = ({ db }: EngineDeps, lease: Lease): Promise<void> =>
  releaseLeases(db, [lease]).catch(() => undefined);

/**
 * Takes steps until the trade is done or has to wait; the last transition released the lease. `isStoppedSince`: new
 * entries were stopped while it was at work, and its order rests.
 */
async function takeSteps(
  deps: EngineDeps,
  held: HeldTrade,
  calls: CallRecord[],
): Promise<{ isStoppedSince: boolean }> {
  const { trade, attempts } = held;
  const exchange = exchangeOf(deps, trade);
  let { account } = await openTradeAccount(deps, trade);
  for (let steps = 0; ; steps += 1) {
    const attempt = attempts.at(-1);
    if (attempt === undefined) throw new Error(`trade ${trade.id} has no attempt`);
    // Since the first step the key may have been refused or replaced.
    if (steps > 0 && attempt.state === 'planned') ({ account } = await openTradeAccount(deps, trade));
    const ofStep: CallRecord[] = [];
    const onCall = (call: CallRecord) => {
      ofStep.push(call);
      calls.push(call);
    };
    const work: TradeWork = { deps, ...held, attempt, exchange, account, calls, onCall };
    const result = await takeStep(work);
    if (result.next === 'never') return { isStoppedSince: false };
    if (result.next === 'later') {
      await wakeAt(work, await slowDown(work, { at: result.at, calls: ofStep }));
      return {
        isStoppedSince: held.isStopped !== true && work.isStopped === true && attempt.state === 'open',
      };
    }
  }
}

/**
 * Whether the trade is due. An early job is a duplicate, or comes from an instance whose clock is ahead. It is sent
 * again for the rest unless another job waits: with no job the trade would wait for the sweep, and two jobs would start
 * two chains.
 */
async function isItsTime(
  deps: EngineDeps,
  { trade, attempts, isStopped }: TradeWithAttempts,
): Promise<boolean> {
  // It rests at the exchange, and is cancelled at once.
  if (isStopped === true && attempts.at(-1)?.state === 'open') return true;
  const { id: tradeId, dueAt } = trade;
  const restMs = () => (dueAt?.getTime() ?? 0) - deps.clock.now().getTime();
  if (restMs() > 0 && restMs() <= SHORT_REST_MS) await deps.clock.sleep(restMs() + 1);
  if (restMs() <= 0) return true;
  const wait = { longestWaitMs: longestWaitMs(deps.config), now: deps.clock.now() };
  if (dueAt !== null && isDue({ dueAt, ...wait })) return true;
  await deps.jobs.sendMissing(deps.db, 'advance-trade', [{ tradeId }], { waitMs: restMs() });
  return false;
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
  if (work.isStopped === true && work.attempt.state === 'open') return cancelStopped(work);
  const { lookAt, isOverdue, proven, isLimited } = await watchFills(work);
  if (proven !== undefined) return finishFilled(work, proven);
  if (isLimited === true && lookAt !== null && mayWaitForPosition(work)) return { next: 'later', at: lookAt };
  const result = await takeOrderStep(work, { isOverdue });
  // Look-ups of an order in doubt keep their own pace; only a position without a stop is more urgent.
  const isInDoubt = work.attempt.state === 'unknown' || work.attempt.doubt !== null;
  const isUrgent = !isInDoubt || work.trade.unprotectedSince !== null;
  if (result.next !== 'later' || lookAt === null || !isUrgent) return result;
  return { next: 'later', at: new Date(Math.min(lookAt.getTime(), result.at.getTime())) };
}

/**
 * Whether the position is waited for that had no turn at the exchange, behind the orders of other users: looking the order
 * up would wait as long, and the position would have to be read after it.
 */
function mayWaitForPosition({ attempt, deps, isStopped }: TradeWork): boolean {
  if (attempt.state !== 'open' || attempt.doubt !== null || isStopped === true) return false;
  return deps.clock.now().getTime() - (attempt.verifyAt?.getTime() ?? 0) < POSITION_PATIENCE_MS;
}

function takeOrderStep(work: TradeWork, { isOverdue }: { isOverdue: boolean }): Promise<StepResult> {
  switch (work.attempt.state) {
    case 'unknown':
      return lookUpAttempt(work);
    case 'open':
      return verifyAttempt(work, { mustEnd: isOverdue });
    default:
      return confirmCancel(work);
  }
}

async function wakeAt(work: TradeWork, wanted: Date): Promise<void> {
  const { deps, trade } = work;
  const latestMs = deps.clock.now().getTime() + longestWaitMs(deps.config);
  const at = new Date(Math.min(wanted.getTime(), latestMs));
  // Computed before the transaction: the database counts the wait from its start, and a job must not come too early.
  const waitMs = at.getTime() - deps.clock.now().getTime();
  await record(work, {
    trade: { dueAt: at },
    wakes: { tradeId: trade.id, waitMs },
    releases: true,
    // Cancels for which a stop waits go on behind it.
    ...(work.isStopped === true ? {} : { mayWait: true as const }),
  });
}
