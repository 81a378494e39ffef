import { D, toPlain } from '#domain/decimal.ts';
import { describeExits } from '#domain/exits/describe-exits.ts';
import type { ExitPlan } from '#domain/exits/exit-plan.ts';
import { type PlannedExits, planExits } from '#domain/exits/plan-exits.ts';
import { othersPart } from '#domain/orders/flatten.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { EngineDeps } from '#server/deps.ts';
import { openTradeAccount } from '#server/engine/orders/trade-account.ts';
import { findOpenTrade, sumPartialCloses } from '#server/engine/protection/positions.store.ts';
import { addTimeline, type TradeRow } from '#server/engine/records/trades.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { assertHeld, type Lease, withLease } from '#server/platform/jobs/leases.ts';
import { findCalculation, keepPlanned, type TradeExits } from './trade-exits.store.ts';

/**
 * The prices and quantities of a plan for an open position: those of its entry, for what the exchange holds of it. What a
 * close under way takes off is not part of it: look for the lease of the user first. Null when the exchange shows no such
 * position; throws ExchangeError when it cannot be asked.
 */
export async function planPositionExits(
  deps: Pick<EngineDeps, 'accountGuard' | 'config' | 'db' | 'exchanges' | 'findAccount'>,
  { trade, plan }: { trade: TradeRow; plan: ExitPlan },
): Promise<PlannedExits | null> {
  const { db } = deps;
  const { token, userId: viewerUserId } = trade;
  const platform = deps.exchanges.supported.find((one) => one === trade.exchangePlatform);
  if (platform === undefined)
    throw new ExchangeError('refused', `${trade.exchangePlatform} is not supported`);
  const exchange = deps.exchanges.get(platform);
  const { account, problem } = await openTradeAccount(deps, trade);
  if (account === null) throw new ExchangeError('refused', problem ?? 'its account is not known');
  const [contract, position] = await Promise.all([
    exchange.fetchContract(token, { priority: 'protect', viewerUserId }),
    exchange.fetchPosition(account, token, { priority: 'protect' }),
  ]);
  if (contract === null) {
    throw new ExchangeError('refused', `${platform} lists no contract for ${token}`);
  }
  const side = sideOpenedBy(trade.side);
  if (position?.side !== side) return null;
  const [open, closed, calculation] = await Promise.all([
    findOpenTrade(db, trade.id),
    sumPartialCloses(db, trade.id),
    findCalculation(db, trade),
  ]);
  const { quantity: held } = position;
  const others = othersPart({ held, filled: trade.filledQuantity, closed, left: open?.leftQuantity ?? null });
  return planExits(plan, {
    side,
    entryPrice: trade.averagePrice ?? trade.entryPrice,
    stopLoss: trade.stopLoss,
    takeProfit: trade.takeProfit,
    quantity: toPlain(D(held).minus(others)),
    atr: calculation?.atr ?? null,
    rules: contract,
  });
}

/**
 * Keeps the prices and quantities of a position's plan, once its entry is final, and writes them down. Under the user's
 * lease, as every close is: what one takes off is neither planned nor missed. `busy` and `gone`: nothing was
 * kept, since the lease is held, or the exchange shows no such position.
 */
export async function beginExits(
  deps: EngineDeps,
  { trade, exits }: { trade: TradeRow; exits: TradeExits },
): Promise<'begun' | 'busy' | 'gone'> {
  const { clock, config, db, log } = deps;
  const holder = `${config.instanceId} exits of ${trade.token}`;
  const lease = { db, clock, key: `user:${trade.userId}`, holder, log };
  const leased = await withLease(lease, (held) => begin(deps, { trade, exits, lease: held }));
  return leased.held ? leased.result : 'busy';
}

async function begin(
  deps: EngineDeps,
  { trade, exits, lease }: { trade: TradeRow; exits: TradeExits; lease: Lease },
): Promise<'begun' | 'gone'> {
  const planned = await planPositionExits(deps, { trade, plan: exits.plan });
  if (planned === null) return 'gone';
  const at = deps.clock.now();
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    const enteredAt = exits.enteredAt ?? trade.completedAt ?? at;
    if (!(await keepPlanned(tx, { exits, planned, enteredAt }))) return;
    const text = `Exit plan: ${describeExits(planned, trade.token).join('; ') || 'nothing is done any more'}`;
    await addTimeline(tx, { tradeId: trade.id, at, text });
  });
  return 'begun';
}
