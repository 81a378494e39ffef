import type { NextExit } from '#domain/exits/next-exit.ts';
import { moveProblems, standingProtection } from '#domain/orders/protection.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import { ENGINE } from '#server/admin/halts/trading-halts.store.ts';
import type { EngineDeps, UserAccount } from '#server/deps.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { positionSubject } from '#server/engine/orders/close-position.ts';
import { requestMove } from '#server/engine/orders/protection-moves.store.ts';
import { exchangeOf } from '#server/engine/orders/trade-work.ts';
import { findOwnTrade } from '#server/engine/protection/find-own-trade.ts';
import type { TradeRow } from '#server/engine/records/trades.store.ts';

type Move = Extract<NextExit, { kind: 'move' }>;

/**
 * Moves the stop of a position as its exit plan says, by the same step of its trade as a move by hand: recorded before it
 * is sent, under the trade's lease, read back (I4). `again` decides once more with the stop and the mark price that the
 * exchange shows. Returns why it could not be asked for; the end of the move reports its outcome.
 */
export async function moveByPlan(
  deps: EngineDeps,
  plan: {
    trade: TradeRow;
    account: UserAccount;
    again: (now: { stopLoss: string; markPrice: string | null }) => NextExit | null;
  },
): Promise<string | null> {
  const { trade, account, again } = plan;
  const { id: tradeId, token, userId } = trade;
  const exchange = exchangeOf(deps, trade);
  // The position has its stop meanwhile: prices, closes and what restores a stop leave before.
  const holding = await exchange.fetchHolding(account, token, { priority: 'look-up' });
  if (holding === null) return null;
  const { position, protection } = holding;
  const owner = { userId, exchange, account, candidates: [trade], position };
  if (position.side !== sideOpenedBy(trade.side) || (await findOwnTrade(deps, owner)) === null) return null;
  const { stopLoss: present } = standingProtection({ ...position, held: protection });
  // The audit places a missing stop.
  if (present === null) return null;
  const move = again({ stopLoss: present, markPrice: position.markPrice });
  if (move?.kind !== 'move') return null;
  const problem = await problemOf(deps, { trade, move, position });
  if (problem !== null) return problem;
  const { stopLoss } = move;
  const moveId = await requestMove(
    deps,
    {
      tradeId,
      stopLoss,
      takeProfit: null,
      oldStopLoss: protection.stopLoss,
      oldTakeProfit: protection.takeProfit,
      requestedBy: null,
      exit: move.why,
    },
    {
      actor: ENGINE,
      action: 'position protection move requested',
      subject: await positionSubject(deps.db, trade),
      before: { stopLoss: protection.stopLoss },
      after: { tradeId, stopLoss, exitPlan: move.why },
    },
  );
  if (moveId !== null) await advanceTrade(deps, tradeId);
  return null;
}

async function problemOf(
  deps: EngineDeps,
  {
    trade,
    move,
    position,
  }: { trade: TradeRow; move: Move; position: { markPrice: string | null; liquidationPrice: string | null } },
): Promise<string | null> {
  const exchange = exchangeOf(deps, trade);
  const contract = await exchange.fetchContract(trade.token, { priority: 'protect' });
  if (contract === null) return `${exchange.platform} lists no contract for ${trade.token}`;
  const { markPrice, liquidationPrice } = position;
  if (markPrice === null) return null;
  const [problem] = moveProblems({
    side: sideOpenedBy(trade.side),
    markPrice,
    liquidationPrice,
    tickSize: contract.tickSize,
    prices: { stopLoss: move.stopLoss, takeProfit: null },
  });
  return problem?.message ?? null;
}
