import { D } from '#domain/decimal.ts';
import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import { othersPart } from '#domain/orders/flatten.ts';
import { endClosing } from '#server/engine/orders/close-position.ts';
import { closeUntilDone, isClosed } from '#server/engine/orders/close-until-done.ts';
import { findOwnTrade } from '#server/engine/protection/find-own-trade.ts';
import { closeTrade, type OpenTrade } from '#server/engine/protection/positions.store.ts';
import { describeHidden } from '#server/engine/protection/trades-of-account.ts';
import { addTimeline, findWorkingTrade } from '#server/engine/records/trades.store.ts';
import { ExchangeError, type OpenPosition } from '#server/exchanges/exchange.ts';
import { LeaseLostError } from '#server/platform/jobs/leases.ts';
import { closeAll, type PositionWork, readTrades } from './close-open-position.ts';

/**
 * `closed`: nothing of ours is open any more. `skipped`: what is open was not opened here, or not within the scope.
 * `busy`: an order may still open something. `failed`: trying again may help.
 */
export interface OwnClose {
  outcome: 'closed' | 'skipped' | 'busy' | 'failed';
  message: string;
}

interface OwnPart {
  /** The trades whose positions may be closed. */
  covered: ReadonlySet<string>;
  /** What was to stay open when an earlier run began to close; null: none has. */
  keptBefore: string | null;
  /** Keeps what must stay open of the trade's position before the first order; returns what counts. */
  keepOf: (trade: OpenTrade, computed: () => Promise<string>) => Promise<string>;
  /** What closes of a part have taken off the trade's position. */
  closedOf: (trade: OpenTrade) => Promise<string>;
  /** Called once nothing of ours is open, before the user's lease is free. */
  onClosed: () => Promise<void>;
}

/**
 * Closes what we opened of a user's position, reduce-only: the smaller of what our trade has filled and not closed, and
 * of what is held. Anything else in the token stays as it is.
 */
export async function closeOwnPosition(work: PositionWork, part: OwnPart): Promise<OwnClose> {
  const { deps, exchange, account, userId, token } = work;
  if ((await findWorkingTrade(deps.db, { userId, token }))?.state === 'working') {
    return { outcome: 'busy', message: `An order in ${token} is still being worked on` };
  }
  try {
    const position = await exchange.fetchPosition(account, token, { priority: 'protect' });
    const { here, hidden } = await readTrades(work);
    const elsewhere = hidden.filter(({ trade }) => part.covered.has(trade.id));
    if (position === null) {
      if (elsewhere.length > 0) return { outcome: 'failed', message: describeHidden(elsewhere) };
      const left = await endClosing(deps, { exchange, account, token });
      if (left !== null) return { outcome: 'failed', message: `The position is closed, but ${left}` };
      await part.onClosed();
      return { outcome: 'closed', message: 'closed' };
    }
    const trade = await findOwnTrade(deps, { userId, exchange, account, candidates: here, position });
    const what = `The ${position.side} position of ${position.quantity} ${token}`;
    if (trade === null) {
      if (part.keptBefore !== null && elsewhere.length === 0) return await endBegun(work, position, part);
      return { outcome: 'skipped', message: `${what} was not opened here and is not touched` };
    }
    if (!part.covered.has(trade.id)) {
      return { outcome: 'skipped', message: `${what} was opened by another strategy and is not touched` };
    }
    return await closePart(work, { position, trade, part });
  } catch (error) {
    if (error instanceof LeaseLostError) {
      return { outcome: 'failed', message: 'Another instance has taken this user over' };
    }
    if (!(error instanceof ExchangeError)) throw error;
    return { outcome: 'failed', message: error.message };
  }
}

/**
 * An earlier run has begun to close ours, which is gone, and ended before this was said. What is open is the owner's, and
 * keeps its stop: only our closing orders are settled.
 */
async function endBegun(
  { deps, exchange, account, token, lease }: PositionWork,
  { quantity }: OpenPosition,
  part: OwnPart,
): Promise<OwnClose> {
  const reason = CLOSE_REASONS.operator;
  const request = { exchange, account, token, isMeant: () => false, reason, lease };
  const result = await closeUntilDone(deps, request);
  if (!isClosed(result)) return { outcome: 'failed', message: 'message' in result ? result.message : '' };
  await part.onClosed();
  return { outcome: 'closed', message: othersStayOpen(quantity) };
}

async function closePart(
  work: PositionWork,
  { position, trade, part }: { position: OpenPosition; trade: OpenTrade; part: OwnPart },
): Promise<OwnClose> {
  const { deps } = work;
  const keep = await part.keepOf(trade, async () =>
    othersPart({
      held: position.quantity,
      filled: trade.filledQuantity,
      closed: await part.closedOf(trade),
      left: trade.leftQuantity,
    }),
  );
  const othersStay = D(keep).gt(0);
  if (!othersStay || D(position.quantity).gt(keep)) {
    const result = await closeAll(work, position, othersStay ? keep : null);
    if (!isClosed(result)) return { outcome: 'failed', message: 'message' in result ? result.message : '' };
    if (result.outcome === 'leftovers') {
      return { outcome: 'failed', message: `The position is closed, but ${result.message}` };
    }
  }
  // What stays is not ours: the trade's position has ended.
  if (othersStay) {
    const at = deps.clock.now();
    const text = `What was opened here is closed; ${keep} ${work.token} stays, which was not opened here`;
    await deps.db.transaction(async (tx) => {
      if (await closeTrade(tx, trade.id, at)) await addTimeline(tx, { tradeId: trade.id, at, text });
    });
  }
  await part.onClosed();
  return {
    outcome: 'closed',
    message: othersStay ? othersStayOpen(keep) : 'closed',
  };
}

const othersStayOpen = (quantity: string): string => `${quantity} stays open, which was not opened here`;
