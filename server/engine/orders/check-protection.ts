import { D } from '#domain/decimal.ts';
import {
  isFurtherThanPlanned,
  missingProtection,
  plannedProtection,
  protectionNeed,
  standingProtection,
  targetText,
} from '#domain/orders/protection.ts';
import { PROTECTION_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import {
  asExchangeError,
  type CallPriority,
  ExchangeError,
  type Holding,
  type OpenPosition,
  type Protection,
} from '#server/exchanges/exchange.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld } from '#server/platform/jobs/leases.ts';
import { protectionOrderId } from './client-order-id.ts';
import type { TradeWork } from './trade-work.ts';

const NONE: Protection = { stopLoss: null, takeProfit: null };

/**
 * The state of a trade's position after missing stop and target were placed. `missing`: no stop could be placed now;
 * `passed`: the price is beyond the stop; `unreadable`: the exchange did not answer, so nothing is concluded.
 */
export type Finding =
  /** `isOther`: there is a position, but it is not the trade's. */
  | { found: 'flat'; text: string; isOther?: true }
  | {
      found: 'protected';
      status: 'verified' | 'repaired';
      quantity: string;
      text: string;
      /** What was read; left out where something had to be placed. */
      holding?: Holding;
    }
  /** `isLimited`: a request limit kept the reading, not the exchange. */
  | { found: 'unreadable'; text: string; isLimited?: boolean }
  | { found: 'missing' | 'passed'; text: string };

/** Reads stop and target back from the exchange (I4) and places what is missing. `priority` applies to the read. */
export async function checkProtection(
  work: TradeWork,
  { priority = 'protect' }: { priority?: CallPriority } = {},
): Promise<Finding> {
  const { account, exchange, trade, deps, onCall } = work;
  const context = { onCall, priority };
  // Taken before the read, so a process that was frozen afterwards does not act on stale data.
  const notAfter = new Date(deps.clock.now().getTime() + PROTECTION_DEADLINE_MS);
  if (account === null) return { found: 'unreadable', text: 'the exchange credentials are gone' };
  let holding: Holding | null;
  try {
    holding = await exchange.fetchHolding(account, trade.token, context);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { found: 'unreadable', text: error.message, isLimited: error.kind === 'retry-later' };
  }
  if (holding === null) {
    return { found: 'flat', text: 'The position is closed already, nothing to protect' };
  }
  const { position } = holding;
  const { quantity, side, markPrice } = position;
  if (!isOfTrade(work, position)) {
    return {
      found: 'flat',
      text: `The ${side} position is not this order's, it is not touched`,
      isOther: true,
    };
  }
  const standing = standingProtection({ ...position, held: holding.protection });
  const planned = plannedProtection(trade);
  const misplaced = mustBeAsPlanned(work, quantity) ? await misplacedStop(work, standing) : null;
  const held = misplaced === null ? standing : { ...standing, stopLoss: null };
  switch (protectionNeed({ ...position, held, planned })) {
    case 'nothing':
      return {
        found: 'protected',
        status: 'verified',
        quantity,
        holding,
        text: `Protection read back: stop ${held.stopLoss}, target ${targetText(held, 'none, the price has passed it')}`,
      };
    case 'close':
      return {
        found: 'passed',
        text: `${misplaced === null ? 'The position has no stop loss' : sentence(misplaced)}, and the price ${markPrice} has passed it (${planned.stopLoss})`,
      };
    default:
      return placeMissing(work, { holding, held, misplaced, notAfter });
  }
}

/**
 * Whether only a stop at its planned price, or nearer, counts (I4): until the stop of this quantity was read back, and
 * while it counts as missing. After that the user may move it.
 */
const mustBeAsPlanned = (work: TradeWork, quantity: string): boolean =>
  work.trade.unprotectedSince !== null || (work.trade.completedAt === null && !isCovered(work, quantity));

/** What the exchange holds instead of the planned stop, in words; null if it is as planned, nearer, or missing. */
async function misplacedStop(work: TradeWork, { stopLoss }: Protection): Promise<string | null> {
  const { stopLoss: planned } = plannedProtection(work.trade);
  if (stopLoss === null || !(await isFurther(work, { stopLoss, than: planned }))) return null;
  return `the stop loss is ${stopLoss} instead of ${planned}`;
}

/** Whether a stop of the trade's position is further away than another one, in USDT, by more than an exchange may round. */
export async function isFurther(
  { exchange, trade, onCall }: TradeWork,
  { stopLoss, than }: { stopLoss: string; than: string },
): Promise<boolean> {
  const stop = { side: sideOpenedBy(trade.side), stopLoss, planned: { stopLoss: than } };
  if (!isFurtherThanPlanned({ ...stop, tickSize: '0' })) return false;
  const contract = await exchange.fetchContract(trade.token, { onCall }).catch(asExchangeError);
  const tickSize = contract === null || contract instanceof ExchangeError ? '0' : contract.tickSize;
  return isFurtherThanPlanned({ ...stop, tickSize });
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Places what is missing. A misplaced stop is moved: it stays until the new one is there. */
async function placeMissing(
  work: TradeWork,
  {
    holding,
    held,
    misplaced,
    notAfter,
  }: { holding: Holding; held: Protection; misplaced: string | null; notAfter: Date },
): Promise<Finding> {
  const { account, exchange, trade, deps, lease, onCall } = work;
  const { position, protection } = holding;
  const { quantity, side } = position;
  // A stop on the wrong side protects nothing, but may block placing a valid one.
  const isInTheWay = protection.stopLoss !== null && held.stopLoss === null && misplaced === null;
  if (account === null) throw new Error(`trade ${trade.id} has no account`);
  await assertHeld(deps.db, lease);
  let after: Protection;
  try {
    if (isInTheWay) await exchange.cancelProtection(account, trade.token, { onCall });
    const request = {
      token: trade.token,
      side,
      quantity,
      ...missingProtection({
        ...position,
        held: isInTheWay ? NONE : held,
        planned: plannedProtection(trade),
      }),
      clientOrderId: protectionOrderId(timeOrderedId()),
    };
    if (misplaced === null) await exchange.placeProtection(account, request, { onCall, notAfter });
    else await exchange.moveProtection(account, request, { onCall, notAfter });
    const read = await exchange.fetchProtection(account, trade.token, { onCall, priority: 'protect' });
    after = standingProtection({ ...position, held: read });
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    if (held.stopLoss === null) {
      return {
        found: 'missing',
        text: misplaced === null ? error.message : `${misplaced}: ${error.message}`,
      };
    }
    // The stop makes the position safe: a target that the exchange rejects is no reason to close it.
    const text = `Stop read back: ${held.stopLoss}. The take profit is missing and could not be placed: ${error.message}`;
    return { found: 'protected', status: 'verified', quantity, text };
  }
  if (after.stopLoss === null) return { found: 'missing', text: 'the stop loss is still not there' };
  // The first read-back of the stop that was just placed.
  const still = held.stopLoss === null ? await misplacedStop(work, after) : null;
  if (still !== null) return { found: 'missing', text: still };
  const why = misplaced === null ? 'Protection was missing and is placed' : placedAgain(misplaced);
  const text = `${why}: stop ${after.stopLoss}, target ${targetText(after)}`;
  return { found: 'protected', status: 'repaired', quantity, text };
}

const placedAgain = (misplaced: string) =>
  `${sentence(misplaced).replace(' is ', ' was ')} and is placed again`;

/** Clocks differ by less than this; an owner opens another position by hand later than this. */
const OPENED_LATER_MS = 30 * 60_000;

/**
 * A position on the other side, or opened long after the trade's last order ended, does not belong to the trade. In
 * doubt it does: a surplus stop does less harm than a missing one (I4).
 */
export function isOfTrade(
  { trade, attempts }: Pick<TradeWork, 'trade' | 'attempts'>,
  { side, openedAt }: OpenPosition,
): boolean {
  if (side !== sideOpenedBy(trade.side)) return false;
  const endedAt = trade.completedAt ?? attempts.at(-1)?.finishedAt ?? null;
  if (openedAt === null || endedAt === null) return true;
  return openedAt.getTime() - endedAt.getTime() <= OPENED_LATER_MS;
}

/** Whether this quantity was already seen with its stop, so nothing needs to be read. */
export function isCovered({ trade }: Pick<TradeWork, 'trade'>, quantity: string): boolean {
  const { protectedQuantity, unprotectedSince } = trade;
  return unprotectedSince === null && protectedQuantity !== null && D(protectedQuantity).gte(quantity);
}
