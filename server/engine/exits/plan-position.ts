import { D, smallest, toPlain } from '#domain/decimal.ts';
import { describeExits } from '#domain/exits/describe-exits.ts';
import type { ExitPlan } from '#domain/exits/exit-plan.ts';
import { type PlannedExits, planExits } from '#domain/exits/plan-exits.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { EngineDeps } from '#server/deps.ts';
import { exchangeOf } from '#server/engine/orders/trade-work.ts';
import { findOpenTrade, sumPartialCloses } from '#server/engine/protection/positions.store.ts';
import { addTimeline, type TradeRow } from '#server/engine/records/trades.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { findCalculation, keepPlanned, type TradeExits } from './trade-exits.store.ts';

/**
 * The prices and quantities of a plan for an open position: those of its entry, for what is still open of it. Null when
 * the exchange lists no contract for it any more.
 */
export async function planPositionExits(
  deps: Pick<EngineDeps, 'db' | 'exchanges'>,
  { trade, plan }: { trade: TradeRow; plan: ExitPlan },
): Promise<PlannedExits | null> {
  const { db, exchanges } = deps;
  const platform = exchanges.supported.find((one) => one === trade.exchangePlatform);
  const exchange = platform === undefined ? null : exchanges.get(platform);
  const contract =
    (await exchange?.fetchContract(trade.token, { priority: 'protect', viewerUserId: trade.userId })) ?? null;
  if (contract === null) return null;
  const [open, closed, calculation] = await Promise.all([
    findOpenTrade(db, trade.id),
    sumPartialCloses(db, trade.id),
    findCalculation(db, trade),
  ]);
  const rest = D(trade.filledQuantity).minus(closed);
  return planExits(plan, {
    side: sideOpenedBy(trade.side),
    entryPrice: trade.averagePrice ?? trade.entryPrice,
    stopLoss: trade.stopLoss,
    takeProfit: trade.takeProfit,
    quantity: toPlain(smallest(rest.isNegative() ? 0 : rest, open?.leftQuantity ?? trade.filledQuantity)),
    atr: calculation?.atr ?? null,
    rules: contract,
  });
}

/** Keeps the prices and quantities of a position's plan, once its entry is final, and writes them down. */
export async function beginExits(
  deps: EngineDeps,
  { trade, exits }: { trade: TradeRow; exits: TradeExits },
): Promise<void> {
  const { platform } = exchangeOf(deps, trade);
  const planned = await planPositionExits(deps, { trade, plan: exits.plan });
  if (planned === null)
    throw new ExchangeError('refused', `${platform} lists no contract for ${trade.token}`);
  const at = deps.clock.now();
  await deps.db.transaction(async (tx) => {
    const enteredAt = exits.enteredAt ?? trade.completedAt ?? at;
    if (!(await keepPlanned(tx, { exits, planned, enteredAt }))) return;
    const text = `Exit plan: ${describeExits(planned, trade.token).join('; ') || 'nothing is done any more'}`;
    await addTimeline(tx, { tradeId: trade.id, at, text });
  });
}
