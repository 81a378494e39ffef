import { D, smallest, toPlain } from '#domain/decimal.ts';
import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import { othersPart } from '#domain/orders/flatten.ts';
import { isSamePosition } from '#domain/orders/held-position.ts';
import type { EngineDeps, UserAccount } from '#server/deps.ts';
import { endClosing } from '#server/engine/orders/close-position.ts';
import { closeUntilDone, isClosed } from '#server/engine/orders/close-until-done.ts';
import { filledByCloses } from '#server/engine/orders/closed-quantity.ts';
import { exchangeOf } from '#server/engine/orders/trade-work.ts';
import { findOwnTrade } from '#server/engine/protection/find-own-trade.ts';
import {
  closeTrade,
  listOpenTrades,
  type OpenTrade,
  sumPartialCloses,
} from '#server/engine/protection/positions.store.ts';
import { tradesOfAccount } from '#server/engine/protection/trades-of-account.ts';
import {
  addTimeline,
  findLastLine,
  findWorkingTrade,
  type TradeRow,
} from '#server/engine/records/trades.store.ts';
import { type Exchange, ExchangeError, type OpenPosition } from '#server/exchanges/exchange.ts';
import { assertHeld, type Lease, withLeaseWithin } from '#server/platform/jobs/leases.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import {
  type ClosingOrderRow,
  findTradeExits,
  listClosesFor,
  notePartDone,
  type TradeExits,
} from './trade-exits.store.ts';

/** Another order of the user is being prepared or closed: the next look at the prices tries again. */
const LEASE_PATIENCE_MS = 2_000;

/** In place of a figure that the exchange does not tell, before the token. */
export const UNKNOWN_QUANTITY = 'an unknown quantity of';

/** What of a plan closes: a part, by its index, or the rest, because it was held long enough. */
export type PlannedClose = { kind: 'part'; part: number } | { kind: 'time' };

interface CloseRun {
  deps: EngineDeps;
  exchange: Exchange;
  account: UserAccount;
  trade: TradeRow;
  exits: TradeExits;
  close: PlannedClose;
  lease: Lease;
}

/**
 * Closes a part of a position, or the rest of it, as its exit plan says: reduce-only orders that are recorded before they
 * are sent, at most what was opened here. Safe to repeat after a crash: what the first order is to leave open is recorded
 * with it, so that no part is closed twice. The stop stays until the position is flat. Returns why it could not be done;
 * null when it is done, or not to be done any more.
 */
export async function closeByPlan(
  deps: EngineDeps,
  plan: { trade: TradeRow; exits: TradeExits; account: UserAccount; close: PlannedClose },
): Promise<string | null> {
  const { userId, token } = plan.trade;
  const holder = `${deps.config.instanceId} exit ${token}`;
  const leased = await withLeaseWithin(
    {
      db: deps.db,
      clock: deps.clock,
      key: `user:${userId}`,
      holder,
      log: deps.log,
      patienceMs: LEASE_PATIENCE_MS,
    },
    (lease) => closeUnderLease({ deps, exchange: exchangeOf(deps, plan.trade), lease, ...plan }),
  );
  return leased.held ? leased.result : null;
}

async function closeUnderLease(run: CloseRun): Promise<string | null> {
  const { deps, exchange, account, trade, close } = run;
  const { token, userId } = trade;
  // A predecessor with this lease may have done it.
  const exits = await findTradeExits(deps.db, trade.id);
  if (exits === null || exits.revision !== run.exits.revision) return null;
  if (close.kind === 'part' && exits.partsDone !== close.part) return null;
  // Its order may still open something, or its stop is being placed or moved.
  if ((await findWorkingTrade(deps.db, { userId, token })) !== null) return null;
  const position = await exchange.fetchPosition(account, token, { priority: 'protect' });
  if (position === null) return await endFlat({ ...run, exits });
  const open = await listOpenTrades(deps.db, { userId, exchangePlatform: exchange.platform });
  const { here: candidates } = tradesOfAccount(deps, open, account);
  const own = await findOwnTrade(deps, { userId, exchange, account, candidates, position });
  if (own?.id !== trade.id) return null;
  return await closeOurs({ ...run, exits }, { own, position });
}

/** Reports what an interrupted run has closed, unless the stop or the target was first. */
async function endFlat(run: CloseRun): Promise<string | null> {
  const { deps, exchange, account, trade } = run;
  const closed = await filledOf(run, await listClosesFor(deps.db, { trade, reason: reasonOf(run) }));
  const problem = await endClosing(deps, { exchange, account, token: trade.token });
  if (closed === null || D(closed).gt(0)) await noteClosed(run, { closed, left: '0' });
  return problem;
}

/** What these closing orders have filled, in units of the token; null when the exchange does not tell. */
const filledOf = (
  { exchange, account, trade: { token } }: CloseRun,
  closes: readonly ClosingOrderRow[],
): Promise<string | null> => filledByCloses(exchange, { account, token, closes });

async function closeOurs(
  run: CloseRun,
  { own, position }: { own: OpenTrade; position: OpenPosition },
): Promise<string | null> {
  const { deps, exchange, account, trade, lease } = run;
  const { token } = trade;
  const reason = reasonOf(run);
  const before = await listClosesFor(deps.db, { trade, reason });
  const heldNow = position.quantity;
  if (isFinished(before)) {
    return await noteClosed(run, { closed: await filledOf(run, before), left: heldNow });
  }
  const [first] = before;
  const keep = first === undefined ? await keepOf(run, { own, position }) : first.keepQuantity;
  if (keep !== null && D(heldNow).lte(keep)) {
    return await noteClosed(run, { closed: await filledOf(run, before), left: heldNow });
  }
  const result = await closeUntilDone(deps, {
    exchange,
    account,
    token,
    isMeant: (now) => isSamePosition(position, now),
    keep,
    reason,
    tradeId: trade.id,
    lease,
  });
  if (!isClosed(result)) return 'message' in result ? result.message : result.outcome;
  const left = result.outcome === 'kept' ? result.left : '0';
  // A run before this one may have closed some of it.
  const closed =
    first === undefined
      ? toPlain(D(heldNow).minus(left))
      : await filledOf(run, await listClosesFor(deps.db, { trade, reason }));
  await noteClosed(run, { closed, left });
  return result.outcome === 'leftovers' ? result.message : null;
}

const reasonOf = ({ exits: { revision }, close }: CloseRun): string =>
  close.kind === 'part' ? CLOSE_REASONS.exitPart(revision, close.part + 1) : CLOSE_REASONS.exitTime(revision);

/** An interrupted run has closed what it was to close. */
function isFinished(closes: readonly ClosingOrderRow[]): boolean {
  const isSettled = closes.every(({ state }) => state === 'closed' || state === 'refused');
  return isSettled && closes.some(({ state, error }) => state === 'closed' && error === null);
}

/** How much stays open; null: nothing. What was not opened here always stays. */
async function keepOf(
  { deps, exchange, trade, exits, close }: CloseRun,
  { own, position }: { own: OpenTrade; position: OpenPosition },
): Promise<string | null> {
  const others = othersPart({
    held: position.quantity,
    filled: own.filledQuantity,
    closed: await sumPartialCloses(deps.db, trade.id),
    left: own.leftQuantity,
  });
  const ours = D(position.quantity).minus(others);
  const part = close.kind === 'part' ? exits.planned?.parts[close.part] : undefined;
  const wanted = part === undefined ? ours : smallest(part.quantity, ours);
  const contract = await exchange.fetchContract(trade.token, { priority: 'protect' });
  if (contract === null) {
    throw new ExchangeError('refused', `${exchange.platform} lists no contract for ${trade.token}`);
  }
  const rest = ours.minus(wanted);
  // What is too small for an order could not be closed later.
  const staysOurs = rest.gte(contract.minimumQuantity) ? rest : D(0);
  const keep = D(others).plus(staysOurs);
  return keep.gt(0) ? toPlain(keep) : null;
}

/** Records what was closed, with a notice. */
async function noteClosed(
  { deps, trade, exits, close, lease }: CloseRun,
  { closed, left }: { closed: string | null; left: string },
): Promise<null> {
  const at = deps.clock.now();
  const { id: tradeId, userId, token } = trade;
  const rest = D(left).gt(0) ? `, ${toPlain(left)} stays open` : '';
  const quantity = closed ?? UNKNOWN_QUANTITY;
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    if (close.kind === 'part') {
      const part = exits.planned?.parts[close.part];
      if (part === undefined || !(await notePartDone(tx, exits, close.part))) return;
      const number = close.part + 1;
      const text = `Exit plan: part ${number} closed at ${part.price} (${part.atR} R): ${quantity} ${token}${rest}`;
      await addTimeline(tx, { tradeId, at, text });
      const data = { part: number, quantity, price: part.price, atR: part.atR, left: toPlain(left) };
      await noteEvents(tx, [{ code: 'exit_part_closed', userId, tradeId, data, at }]);
      return;
    }
    const minutes = exits.planned?.maxHoldingMinutes ?? 0;
    const text = `Exit plan: closed after ${minutes} minutes: ${quantity} ${token}${rest}`;
    // Until the end of the position is recorded, each look at the prices comes here again.
    if ((await findLastLine(tx, { tradeId, beginning: text })) !== null) return;
    // What stays is not ours: the trade's position has ended.
    if (D(left).gt(0) && !(await closeTrade(tx, tradeId, at))) return;
    await addTimeline(tx, { tradeId, at, text });
    await noteEvents(tx, [{ code: 'exit_time_closed', userId, tradeId, data: { minutes, quantity }, at }]);
  });
  return null;
}
