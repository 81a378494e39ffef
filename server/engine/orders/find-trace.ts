import { D, isPositive } from '#domain/decimal.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import { ExchangeError, type OrderMemory } from '#server/exchanges/exchange.ts';
import { sumFilled } from './settle-attempt.ts';
import type { TradeWork } from './trade-work.ts';

/**
 * `open`: it is among the open orders. `doubt`: why it may have been filled all the same, in words. `unreachable`: the
 * exchange gave no answer to build on.
 */
export type Trace = { trace: 'none' | 'open' | 'unreachable' } | { trace: 'doubt'; doubt: string };

/**
 * What is left of an order that the exchange says it does not know (I3, I6): 'not found' alone ends nothing. No order is
 * planned while a position in the token is open, so a position of the trade's side that is larger than what the trade's
 * orders are known to have filled may be this one's; and what an exchange has forgotten may have been there.
 * `isAccepted`: the exchange has said once that it has it.
 */
export async function findTrace(work: TradeWork, { isAccepted }: { isAccepted: boolean }): Promise<Trace> {
  const { account, attempt, deps, exchange, onCall, trade } = work;
  if (account === null) return { trace: 'unreachable' };
  const { platform, orderMemory } = exchange;
  const memoryMs = memoryOf(orderMemory, isAccepted);
  // From when it was planned: of an order in a restored database nobody knows when it was sent.
  if (deps.clock.now().getTime() - trade.createdAt.getTime() > memoryMs) {
    const hours = memoryMs / 3_600_000;
    return inDoubt(`${platform} does not know the order, and remembers orders for ${hours} hours only`);
  }
  try {
    if (isAccepted) {
      const open = await exchange.fetchOpenOrders(account, trade.token, { onCall });
      if (open.some(({ clientOrderId }) => clientOrderId === attempt.clientOrderId)) return { trace: 'open' };
    }
    const position = await exchange.fetchPosition(account, trade.token, { onCall });
    const held =
      position !== null && position.side === sideOpenedBy(work.trade.side) ? position.quantity : '0';
    const doubt = unaccounted(work, held);
    return doubt === null ? { trace: 'none' } : inDoubt(doubt);
  } catch (error) {
    if (error instanceof ExchangeError) return { trace: 'unreachable' };
    throw error;
  }
}

const inDoubt = (doubt: string): Trace => ({ trace: 'doubt', doubt });

/** Of an order that was there only a forgotten fill would mislead; one that ended without a fill was not never placed. */
const memoryOf = ({ withFillsMs, withoutFillsMs }: OrderMemory, isAccepted: boolean): number =>
  isAccepted ? withFillsMs : withoutFillsMs;

/** `held`: now. What was seen earlier counts as well: the stop may have closed it since. */
function unaccounted({ attempts, exchange: { platform }, trade }: TradeWork, held: string): string | null {
  const { protectedQuantity, protectionStatus, token } = trade;
  const filled = sumFilled(attempts);
  const known = `, of which ${filled} is known to have been filled`;
  if (D(held).gt(filled)) {
    return `${platform} does not know the order, but holds a position of ${held} ${token}${known}`;
  }
  const wasSeen = D(protectedQuantity ?? 0).gt(filled) || (!isPositive(filled) && protectionStatus !== null);
  return wasSeen ? `${platform} does not know the order, but has shown a position in ${token}${known}` : null;
}
