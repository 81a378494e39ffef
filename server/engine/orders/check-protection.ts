import { D } from '#domain/decimal.ts';
import { missingProtection, protectionNeed, standingProtection } from '#domain/orders/protection.ts';
import { PROTECTION_DEADLINE_MS } from '#domain/sizing/trading-constants.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import {
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
 * How the position of a trade stands at the exchange, after what was missing has been placed. `missing`: it has no
 * stop, and none could be placed now; `passed`: none can be, the price is beyond it; `unreadable`: the exchange did
 * not say, so nothing is concluded.
 */
export type Finding =
  | { found: 'flat'; text: string }
  | { found: 'protected'; status: 'verified' | 'repaired'; quantity: string; text: string }
  | { found: 'missing' | 'passed' | 'unreadable'; text: string };

/**
 * Reads stop and target back from the exchange (I4), and places what is missing and can be placed. `priority`: whose
 * turn the reading takes where requests wait; a stop hangs on it as soon as something is known to be filled.
 */
export async function checkProtection(
  work: TradeWork,
  { priority = 'protect' }: { priority?: CallPriority } = {},
): Promise<Finding> {
  const { account, exchange, trade, deps, onCall } = work;
  const context = { onCall, priority };
  // From before the reading: what was read is not acted on by a process that was frozen since.
  const notAfter = new Date(deps.clock.now().getTime() + PROTECTION_DEADLINE_MS);
  if (account === null) return { found: 'unreadable', text: 'the exchange credentials are gone' };
  let holding: Holding | null;
  try {
    holding = await exchange.fetchHolding(account, trade.token, context);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { found: 'unreadable', text: error.message };
  }
  if (holding === null) {
    return { found: 'flat', text: 'The position is closed already, nothing to protect' };
  }
  const { position } = holding;
  const { quantity, side, markPrice } = position;
  if (!isOfTrade(work, position)) {
    return { found: 'flat', text: `The ${side} position is not this order's, it is not touched` };
  }
  const held = standingProtection({ ...position, held: holding.protection });
  switch (protectionNeed({ ...position, held, planned: trade })) {
    case 'nothing':
      return {
        found: 'protected',
        status: 'verified',
        quantity,
        text: `Protection read back: stop ${held.stopLoss}, target ${held.takeProfit ?? 'none, the price has passed it'}`,
      };
    case 'close':
      return {
        found: 'passed',
        text: `The position has no stop loss, and the price ${markPrice} has passed it (${trade.stopLoss})`,
      };
    default:
      return placeMissing(work, { holding, held, notAfter });
  }
}

async function placeMissing(
  work: TradeWork,
  { holding, held, notAfter }: { holding: Holding; held: Protection; notAfter: Date },
): Promise<Finding> {
  const { account, exchange, trade, deps, lease, onCall } = work;
  const { position, protection } = holding;
  const { quantity, side } = position;
  // A stop on the wrong side is no stop, but it may stand in the way of one.
  const isInTheWay = protection.stopLoss !== null && held.stopLoss === null;
  if (account === null) throw new Error(`trade ${trade.id} has no account`);
  await assertHeld(deps.db, lease);
  let after: Protection;
  try {
    if (isInTheWay) await exchange.cancelProtection(account, trade.token, { onCall });
    await exchange.placeProtection(
      account,
      {
        token: trade.token,
        side,
        quantity,
        ...missingProtection({ ...position, held: isInTheWay ? NONE : held, planned: trade }),
        clientOrderId: protectionOrderId(timeOrderedId()),
      },
      { onCall, notAfter },
    );
    const read = await exchange.fetchProtection(account, trade.token, { onCall, priority: 'protect' });
    after = standingProtection({ ...position, held: read });
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    if (held.stopLoss === null) return { found: 'missing', text: error.message };
    // With its stop the position is safe: a target that the exchange does not take is no reason to close it.
    const text = `Stop read back: ${held.stopLoss}. The take profit is missing and could not be placed: ${error.message}`;
    return { found: 'protected', status: 'verified', quantity, text };
  }
  if (after.stopLoss === null) return { found: 'missing', text: 'the stop loss is still not there' };
  const text = `Protection was missing and is placed: stop ${after.stopLoss}, target ${after.takeProfit ?? 'none'}`;
  return { found: 'protected', status: 'repaired', quantity, text };
}

/** The exchange's clock and ours may differ; whoever opens another position by hand does so later than this. */
const OPENED_LATER_MS = 15 * 60_000;

/**
 * One of the other side, or that was opened long after its last order had ended, is not what the trade opened. Where that
 * is not certain it is: a stop too many does less harm than none (I4).
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

/** Whether so much of the trade's position was seen with its stop that nothing more has to be read. */
export function isCovered({ trade }: Pick<TradeWork, 'trade'>, quantity: string): boolean {
  const { protectedQuantity, unprotectedSince } = trade;
  return unprotectedSince === null && protectedQuantity !== null && D(protectedQuantity).gte(quantity);
}
