import type { Room } from '#domain/limits/check-entry.ts';
import { describeFit } from '#domain/limits/fit-position.ts';
import type { Position } from '#domain/sizing/position.ts';
import { CALCULATION_MAX_AGE_MINUTES } from '#domain/sizing/trading-constants.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import type { Deps } from '#server/deps.ts';
import {
  type AttemptRow,
  findTradeOfCalculation,
  newAttempt,
  type TradeRow,
} from '#server/engine/records/trades.store.ts';
import type { Transition } from '#server/engine/records/transitions.ts';
import type { PositionGeneratorLogRow } from '#server/engine/sizing/position-generator.store.ts';
import { aboutTrade } from '#server/platform/audit/audit-subjects.ts';
import type { AuditActor, AuditRecord } from '#server/platform/audit/audit-trail.ts';
import { isUniqueViolation } from '#server/platform/db/database-errors.ts';
import { randomId, timeOrderedId } from '#server/platform/ids.ts';
import type { Lease } from '#server/platform/jobs/leases.ts';
import { clientOrderId } from './client-order-id.ts';
import type { HeldTrade } from './trade-work.ts';

type Intent =
  /** `held`: the trade with its lease, if the caller follows it. */
  | { ok: true; tradeId: string; held: HeldTrade | null }
  | { ok: false; reason: 'denied'; denial: Denial }
  | { ok: false; reason: 'already-traded'; standing: TradeRow | null };

interface IntentRequest {
  log: PositionGeneratorLogRow;
  /** As calculated, or with an operator's entry price. */
  position: Position;
  triggerType: 'automatic' | 'manual';
  lease: Lease;
  /** The user's place in the order of trading of the workflow. */
  place?: number;
  /** When the account was read, if that was before the signal. */
  accountReadAt?: Date | null;
  /** The caller follows the trade under its lease, as this holder; otherwise a job is sent. */
  follower?: { holder: string };
  /** Of an order by hand: who submitted it, and the name of the user that it is for. */
  by?: { actor: AuditActor; owner: string };
  /** Of the account reading that the size follows from, in USDT; null when there was none. */
  equity?: string | null;
  /** What else becomes true with the order. */
  also?: Also;
  /** A smaller position that fits a risk limit, and what then becomes true; null when that would be too small. */
  smaller?: (room: Room) => { position: Position; also: Also } | null;
}

type Also = Pick<Transition, 'calculation' | 'decision' | 'steps' | 'releases'>;

/**
 * Commits a trade and its first attempt with its client order id before any request leaves. I2: one trade per
 * calculation, per workflow and user, and per signal and user with a standing order, enforced by unique keys and the
 * user's lease. I9: permission is read in the same transaction. A calculation that waited too long is refused.
 */
export async function commitOrderIntent(
  deps: Pick<Deps, 'db' | 'clock' | 'config' | 'transitions'>,
  request: IntentRequest,
): Promise<Intent> {
  const { log, position, triggerType, lease, place, accountReadAt = null, follower, by } = request;
  const { equity = null, also = {}, smaller } = request;
  const now = deps.clock.now();
  const ageMinutes = (now.getTime() - log.createdAt.getTime()) / 60_000;
  if (ageMinutes > CALCULATION_MAX_AGE_MINUTES) {
    const age = { ageMinutes: ageMinutes.toFixed(1), maxAgeMinutes: String(CALCULATION_MAX_AGE_MINUTES) };
    return { ok: false, reason: 'denied', denial: deny('calculation_too_old', age) };
  }
  const transitionOf = (sized: Position, besides: Also, room?: Room): Transition => {
    const trade = plannedTrade(deps, { log, position: sized, triggerType, accountReadAt, now });
    return {
      lease,
      ...besides,
      order: trade,
      intent: { trade, attempt: firstAttempt(trade), follower: follower ?? 'job', equity },
      ...(by === undefined ? {} : { audit: submitted(trade, by) }),
      events: [
        {
          tradeId: trade.id,
          at: now,
          kind: 'timeline',
          text: describePlan(log, { sized, whole: position, room }),
        },
      ],
    };
  };
  const whole = transitionOf(position, also);
  if (whole.intent !== undefined && smaller !== undefined) {
    whole.intent.fit = (room) => {
      const fitting = smaller(room);
      return fitting === null ? null : transitionOf(fitting.position, fitting.also, room);
    };
  }
  try {
    const committed = await deps.transitions.commit(whole);
    if (!committed.ok) return committed;
    const { planned } = committed;
    if (planned === null) throw new Error(`the order of the calculation ${log.id} was not written`);
    const { intent, exchangeAccountId } = planned;
    const { id } = intent.trade;
    if (planned.lease === null) return { ok: true, tradeId: id, held: null };
    const held = {
      lease: planned.lease,
      trade: { ...intent.trade, exchangeAccountId },
      attempts: [intent.attempt],
    };
    return { ok: true, tradeId: id, held: { ...held, position: place ?? null } };
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return { ok: false, reason: 'already-traded', standing: await findTradeOfCalculation(deps.db, log.id) };
  }
}

function submitted(
  trade: Omit<TradeRow, 'exchangeAccountId'>,
  { actor, owner }: Required<IntentRequest>['by'],
): AuditRecord {
  const { userId, signalId, exchangePlatform, exchangeMode, side, plannedQuantity: quantity } = trade;
  const { entryPrice, stopLoss, takeProfit, leverage } = trade;
  const order = { side, quantity, entryPrice, stopLoss, takeProfit, leverage };
  return {
    actor,
    action: 'order submitted',
    subject: aboutTrade(trade, owner),
    after: { userId, signalId, exchangePlatform, exchangeMode, ...order },
  };
}

/** The row of a new trade, without the account, which is that of the key stored when it is committed. */
function plannedTrade(
  { config }: Pick<Deps, 'config'>,
  {
    log,
    position,
    triggerType,
    accountReadAt,
    now,
  }: Pick<IntentRequest, 'log' | 'position' | 'triggerType'> & { accountReadAt: Date | null; now: Date },
): Omit<TradeRow, 'exchangeAccountId'> {
  return {
    id: randomId(),
    exchangeMode: config.exchangeMode,
    positionGeneratorLogId: log.id,
    workflowId: log.workflowId,
    signalId: log.signalId,
    userId: log.userId,
    triggerType,
    profile: log.profile,
    exchangePlatform: log.exchangePlatform,
    token: log.token,
    side: position.action,
    plannedQuantity: position.assetQuantity,
    entryPrice: position.entryPrice,
    stopLoss: position.stopLoss,
    takeProfit: position.takeProfit,
    leverage: position.leverage,
    plannedMargin: position.investment,
    state: 'working',
    success: null,
    fillStatus: null,
    error: null,
    orderId: null,
    filledQuantity: '0',
    averagePrice: null,
    fee: null,
    protectionStatus: null,
    exchangeResponse: null,
    createdAt: now,
    completedAt: null,
    dueAt: now,
    positionClosedAt: null,
    unprotectedSince: null,
    protectedQuantity: null,
    writtenOffBy: null,
    writtenOffAt: null,
    restoredAt: null,
    movedStopLoss: null,
    movedTakeProfit: null,
    accountReadAt,
  };
}

const firstAttempt = (trade: Omit<TradeRow, 'exchangeAccountId'>): AttemptRow =>
  newAttempt({
    id: timeOrderedId(),
    tradeId: trade.id,
    attempt: 1,
    clientOrderId: clientOrderId(trade.id, 1),
    price: trade.entryPrice,
    quantity: trade.plannedQuantity,
    state: 'planned',
  });

function describePlan(
  log: PositionGeneratorLogRow,
  { sized, whole, room }: { sized: Position; whole: Position; room: Room | undefined },
): string {
  const { action, assetQuantity, entryPrice, stopLoss, takeProfit } = sized;
  const fitNote = room === undefined ? '' : `; ${describeFit({ whole, sized, because: room.because })}`;
  const order = `${action} ${assetQuantity} ${log.token} at ${entryPrice}${customEntryNote(log, sized)}`;
  return `Order planned: ${order}, stop ${stopLoss}, target ${takeProfit}${fitNote}`;
}

function customEntryNote(log: PositionGeneratorLogRow, position: Position): string {
  if (position.hyperparameters.customEntryPrice === undefined) return '';
  return ` (custom entry price in place of ${log.position?.entryPrice ?? 'none'})`;
}
