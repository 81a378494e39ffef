import { orderSubmissionAllowed } from '#domain/eligibility/trading-mode.ts';
import { fitPosition } from '#domain/limits/fit-position.ts';
import type { Position } from '#domain/sizing/position.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import {
  findStandingTrade,
  findTrade,
  findTradeOfCalculation,
  type TradeRow,
} from '#server/engine/records/trades.store.ts';
import type { PositionGeneratorLogRow } from '#server/engine/sizing/position-generator.store.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import { randomId } from '#server/platform/ids.ts';
import { type Lease, LeaseLostError, withLease } from '#server/platform/jobs/leases.ts';
import { commitOrderIntent } from './commit-order-intent.ts';
import { type AssessmentDeps, assessCalculation } from './prepare-assessment.ts';
import { findTradable } from './prepare-order.ts';

/*
 * An order by hand, up to its committed intent; the engine does the rest, whether or not the caller waits.
 *  I2 one order per calculation, and per signal and user: checked before, and again by the intent under the user's
 *     lease.
 *  I5 refuses an estimate, an order without stop and target, and an order when the exchange does not answer.
 */

export type SubmitDeps = AssessmentDeps & Pick<Deps, 'transitions'>;

export interface Submission {
  positionGeneratorLogId: string;
  customEntryPrice?: string | undefined;
  actor: AuditActor;
}

export type Submitted = { ok: true; tradeId: string } | { ok: false; denial: Denial };

const LEASE_PATIENCE_MS = 15_000;
const LEASE_POLL_MS = 100;
const FOLLOW_POLL_MS = 200;

/**
 * Commits a calculated order at an operator's request: assesses it again, under the user's lease, once per
 * calculation. A refusal is a denial; throws an AppError where submitting is not allowed at all, or when the
 * calculation was already traded.
 */
export async function submitOrder(deps: SubmitDeps, submission: Submission): Promise<Submitted> {
  const { appEnv: environment, exchangeMode, manualOrders } = deps.config;
  if (!orderSubmissionAllowed({ environment, exchangeMode, manualOrders })) {
    throw new AppError('tradingDisabledInLiveMode');
  }
  const found = await findTradable(deps, submission.positionGeneratorLogId);
  if (!found.ok) return found;
  const { log, position } = found;
  await refuseTraded(deps, log);
  const { customEntryPrice, actor } = submission;
  const { username: owner } = required(await findUser(deps.db, log.userId), 'userNotFound').user;
  return await underUserLease(deps, log.userId, (lease) =>
    commit(deps, { log, position, customEntryPrice, lease, by: { actor, owner } }),
  );
}

async function commit(
  deps: SubmitDeps,
  order: {
    log: PositionGeneratorLogRow;
    position: Position;
    customEntryPrice: string | undefined;
    lease: Lease;
    by: { actor: AuditActor; owner: string };
  },
): Promise<Submitted> {
  const { log, lease, by } = order;
  await refuseTraded(deps, log);
  const { position, denial } = await assessCalculation(deps, order);
  if (denial !== null) return { ok: false, denial };
  const intent = await commitOrderIntent(deps, {
    log,
    position,
    triggerType: 'manual',
    lease,
    by,
    smaller(room) {
      const fitted = fitPosition(position, room);
      return fitted === null ? null : { position: fitted, also: {} };
    },
  });
  if (intent.ok) return intent;
  if (intent.reason === 'denied') return { ok: false, denial: intent.denial };
  throw alreadyTraded(log, intent.standing);
}

/** One order at a time per user, so that the next order sees what this one left of token and account. */
async function underUserLease<Result>(
  deps: SubmitDeps,
  userId: string,
  work: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  const holder = `${deps.config.instanceId} by hand ${randomId()}`;
  const busy = () =>
    new AppError('unavailable', { message: 'Another order of this user is being prepared. Try again.' });
  for (let waitedMs = 0; waitedMs <= LEASE_PATIENCE_MS; waitedMs += LEASE_POLL_MS) {
    try {
      const leased = await withLease({ db: deps.db, clock: deps.clock, key: `user:${userId}`, holder }, work);
      if (leased.held) return leased.result;
    } catch (error) {
      if (error instanceof LeaseLostError) throw busy();
      throw error;
    }
    await deps.clock.sleep(LEASE_POLL_MS);
  }
  throw busy();
}

async function refuseTraded({ db }: SubmitDeps, log: PositionGeneratorLogRow): Promise<void> {
  const trade = (await findTradeOfCalculation(db, log.id)) ?? (await findStandingTrade(db, log));
  if (trade !== null) throw alreadyTraded(log, trade);
}

/** A 409 that names the existing order. */
function alreadyTraded(log: PositionGeneratorLogRow, standing: TradeRow | null): AppError {
  if (standing === null) return new AppError('alreadyTraded');
  const what = standing.positionGeneratorLogId === log.id ? 'calculation' : 'signal';
  const order = standing.orderId === null ? '' : `, order ${standing.orderId}`;
  const state = standing.state === 'done' ? (standing.fillStatus ?? 'done') : 'under way';
  const message = `This ${what} was already traded: trade ${standing.id}${order} is ${state}`;
  return new AppError('alreadyTraded', { message });
}

/** Returns when the trade is done, after `limitMs`, or when the caller is gone. The trade continues regardless. */
export async function followOrder(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  options: { tradeId: string; limitMs: number; signal: AbortSignal },
): Promise<void> {
  const { tradeId, limitMs, signal } = options;
  const deadline = clock.monotonicMs() + limitMs;
  while (!signal.aborted && clock.monotonicMs() < deadline) {
    const trade = await findTrade(db, tradeId);
    if (trade === null || trade.state === 'done') return;
    await clock.sleep(FOLLOW_POLL_MS, signal).catch(() => undefined);
  }
}
