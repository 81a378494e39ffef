import { D } from '#domain/decimal.ts';
import { targetText } from '#domain/orders/protection.ts';
import { ENGINE } from '#server/admin/halts/trading-halts.store.ts';
import { asExchangeError, ExchangeError, NOT_SENT, type Protection } from '#server/exchanges/exchange.ts';
import { type Finding, isFurther } from './check-protection.ts';
import { protectionOrderId } from './client-order-id.ts';
import { positionSubject } from './close-position.ts';
import { endMove, type MoveRow, markSent } from './protection-moves.store.ts';
import { recordUnprotected } from './record-protection.ts';
import { later, nextNow, type StepResult, type TradeWork } from './trade-work.ts';

/** The operator was told that nothing happened; after that a move does not begin any more. */
export const BEGIN_WITHIN_MS = 15_000;
/** Shorter than a lease lasts after its last renewal: a frozen process sends nothing late. */
const SEND_WITHIN_MS = 8_000;
const RETRY_MS = 500;
const SLOW_RETRY_MS = 2_000;
/** Tries at the faster pace. */
const FAST_TRIES = 6;
const MOST_TRIES = 15;

type Protected = Extract<Finding, { found: 'protected' }>;

/**
 * Moves the stop or target of a position that has its stop.
 * I4: the exchange port never leaves the position without a full stop; a move that fails leaves the old one. A stop that
 *    the exchange puts elsewhere, at more risk, is moved again, and then counts as missing.
 * I6: the intent is committed before the request, and all tries share one client order id: a try whose outcome is not
 *    known is completed by the next, which looks first at what is there.
 */
export async function moveProtection(
  work: TradeWork,
  { move, finding }: { move: MoveRow; finding: Protected },
): Promise<StepResult> {
  const { deps, trade, exchange, account, lease, onCall } = work;
  const now = deps.clock.now();
  if (account === null) return giveUp(work, move, 'the exchange credentials are gone');
  if (isTooLate(work, move)) return giveUp(work, move, 'it could not be begun in time');
  if (!(await markSent(deps.db, { id: move.id, lease }))) return nextNow;
  const tries = move.tries + 1;
  const again = later(work, tries <= FAST_TRIES ? RETRY_MS : SLOW_RETRY_MS);
  const failure = await exchange
    .moveProtection(
      account,
      {
        token: trade.token,
        side: trade.side === 'buy' ? 'long' : 'short',
        quantity: finding.quantity,
        stopLoss: move.stopLoss,
        takeProfit: move.takeProfit,
        clientOrderId: protectionOrderId(move.id),
      },
      { onCall, notAfter: new Date(now.getTime() + SEND_WITHIN_MS) },
    )
    .then(() => null, asExchangeError);
  if (failure !== null && isDoubt(failure) && tries < MOST_TRIES) return again;
  const holding = await exchange
    .fetchHolding(account, trade.token, { onCall, priority: 'protect' })
    .catch(asExchangeError);
  if (holding instanceof ExchangeError) {
    if (tries < MOST_TRIES) return again;
    return giveUp(work, move, `what the exchange holds now could not be read: ${holding.message}`);
  }
  // Closed meanwhile: the next step finds it so, and ends the move.
  if (holding === null) return nextNow;
  const loosened = await loosenedStop(work, { move, held: holding.protection });
  if (loosened === null) return end(work, { move, held: holding.protection, failure });
  if (tries < FAST_TRIES) return again;
  // The planned stop is placed again, or the position is closed.
  await end(work, { move, held: holding.protection, failure });
  await recordUnprotected(work, { isKnown: true, text: loosened });
  return nextNow;
}

/** I4: what the exchange made of the request, in words, when it is more risk than both the old stop and the wanted one. */
async function loosenedStop(
  work: TradeWork,
  { move, held }: { move: MoveRow; held: Protection },
): Promise<string | null> {
  const { stopLoss: wanted, oldStopLoss: old } = move;
  if (wanted === null || held.stopLoss === null) return null;
  for (const than of [wanted, old]) {
    if (than !== null && !(await isFurther(work, { stopLoss: held.stopLoss, than }))) return null;
  }
  return `the stop loss is ${held.stopLoss} instead of ${wanted}, and was ${old ?? 'not there'}`;
}

/** Too late to be sent is no answer of the exchange: an earlier request of the same try may have taken effect. */
const isDoubt = ({ kind, code }: ExchangeError): boolean =>
  kind === 'unknown' || kind === 'retry-later' || code === NOT_SENT;

/** Nothing was sent yet, and the operator has long been told so. */
export const isTooLate = ({ deps }: Pick<TradeWork, 'deps'>, { state, createdAt }: MoveRow): boolean =>
  state === 'requested' && deps.clock.now().getTime() - createdAt.getTime() > BEGIN_WITHIN_MS;

async function end(
  work: TradeWork,
  { move, held, failure }: { move: MoveRow; held: Protection; failure: ExchangeError | null },
): Promise<StepResult> {
  const sides = [
    { name: 'stop', wanted: move.stopLoss, old: move.oldStopLoss, present: held.stopLoss },
    { name: 'target', wanted: move.takeProfit, old: move.oldTakeProfit, present: held.takeProfit },
  ].filter(({ wanted }) => wanted !== null);
  const isThere = ({ wanted, present }: (typeof sides)[number]) =>
    wanted !== null && present !== null && D(present).eq(wanted);
  const said = sides.map((side) =>
    isThere(side)
      ? `the ${side.name} is moved from ${side.old ?? 'none'} to ${side.wanted}`
      : `the ${side.name} stays at ${side.name === 'stop' ? (held.stopLoss ?? 'none') : targetText(held)}, not ${side.wanted}`,
  );
  const because = failure === null ? '' : `: ${failure.message}`;
  const moved = Object.fromEntries(
    sides
      .filter(isThere)
      .map(({ name, wanted }) => [name === 'stop' ? 'movedStopLoss' : 'movedTakeProfit', wanted]),
  );
  await record(work, {
    move,
    state: failure === null && sides.every(isThere) ? 'moved' : 'failed',
    message: sentence(`${said.join(', ')}${because}`),
    moved,
  });
  return nextNow;
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Ends a move that cannot be made; what the exchange holds stays. */
export async function giveUp(work: TradeWork, move: MoveRow, why: string): Promise<StepResult> {
  await record(work, { move, state: 'failed', message: `Not moved: ${why}`, moved: {} });
  return nextNow;
}

async function record(
  { deps, lease, trade }: TradeWork,
  ended: Pick<Parameters<typeof endMove>[1], 'move' | 'state' | 'message' | 'moved'>,
): Promise<void> {
  const { move, moved, message } = ended;
  const isChanged = Object.keys(moved).length > 0;
  const audit = isChanged && {
    actor: ENGINE,
    action: 'position protection moved' as const,
    subject: await positionSubject(deps.db, trade),
    before: { stopLoss: move.oldStopLoss, takeProfit: move.oldTakeProfit },
    after: { tradeId: trade.id, message },
  };
  await endMove(deps, { ...ended, lease, audit: audit || null });
  Object.assign(trade, moved);
}
