import type { CalculationExitsAnswer } from '#contract/exit-plans.ts';
import { isEmptyPlan } from '#domain/exits/exit-plan.ts';
import { planExits } from '#domain/exits/plan-exits.ts';
import type { Deps } from '#server/deps.ts';
import { findPlanFor, findStrategyOf } from '#server/engine/exits/exit-plans.store.ts';
import { scopeTitle } from '#server/engine/limits/scope-title.ts';
import { findPositionGeneratorLog } from '#server/engine/sizing/position-generator.store.ts';
import { asExchangeError, ExchangeError } from '#server/exchanges/exchange.ts';
import { AppError } from '#server/platform/http/errors.ts';

/**
 * What the exit plan of now would do with the order of a calculation: prices in USDT and quantities in units of the token,
 * for the whole order filled at its entry price, by the rules of the exchange's contract. Entry price and quantity of the
 * prepared order replace those of the calculation. Throws 404 for a calculation without a position, 503 when the exchange
 * does not tell its contract.
 */
export async function planCalculationExits(
  { db, exchanges }: Pick<Deps, 'db' | 'exchanges'>,
  order: { id: string; entryPrice?: string | undefined; quantity?: string | undefined },
): Promise<CalculationExitsAnswer> {
  const log = await findPositionGeneratorLog(db, order.id);
  if (log === null || log.position === null) throw new AppError('calculationNotFound');
  const { position, token, userId, exchangePlatform } = log;
  const found = await findPlanFor(db, { userId, strategy: await findStrategyOf(db, log.signalId) });
  if (found === null || isEmptyPlan(found.plan)) return { scope: null, exits: null };
  const platform = exchanges.supported.find((one) => one === exchangePlatform);
  const exchange = platform === undefined ? null : exchanges.get(platform);
  const contract = await exchange?.fetchContract(token, { viewerUserId: userId }).catch(asExchangeError);
  if (contract instanceof ExchangeError) {
    throw new AppError('unavailable', { message: contract.message, cause: contract });
  }
  if (!contract) {
    throw new AppError('unavailable', { message: `${exchangePlatform} lists no contract for ${token}` });
  }
  return {
    scope: { ...found.scope, title: await scopeTitle(db, found.scope) },
    exits: planExits(found.plan, {
      side: position.position,
      entryPrice: order.entryPrice ?? position.entryPrice,
      stopLoss: position.stopLoss,
      takeProfit: position.takeProfit,
      quantity: order.quantity ?? position.assetQuantity,
      atr: position.atr,
      rules: contract,
    }),
  };
}
