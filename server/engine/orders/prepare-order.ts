import type { PrepareAnswer, PreparedOrder } from '#contract/position-maker.ts';
import { checkProtected } from '#domain/orders/order-checks.ts';
import type { Position } from '#domain/sizing/position.ts';
import type { TradingSettings } from '#domain/user-settings.ts';
import { type Denial, denialTitle, deny } from '#domain/workflow/denials.ts';
import { findTradingSettings } from '#server/admin/settings/settings.store.ts';
import type { Deps } from '#server/deps.ts';
import { findTradeOfCalculation } from '#server/engine/records/trades.store.ts';
import {
  findPositionGeneratorLog,
  type PositionGeneratorLogRow,
} from '#server/engine/sizing/position-generator.store.ts';
import { type Exchange, ExchangeError, type OrderDescription } from '#server/exchanges/exchange.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { clientOrderId } from './client-order-id.ts';
import { type AssessmentDeps, assessCalculation } from './prepare-assessment.ts';

/** Placeholder for the client order id of an order that is not submitted yet. */
const NO_CLIENT_ORDER_ID = 'set-on-submission';

/** A calculated order as it would be submitted now, and whether it can be. Sends nothing, writes nothing. */
export async function prepareOrder(
  deps: AssessmentDeps,
  request: { positionGeneratorLogId: string; customEntryPrice?: string | undefined },
): Promise<PrepareAnswer> {
  const found = await findTradable(deps, request.positionGeneratorLogId);
  if (!found.ok) return { ...refusalOf(found.denial), data: null };
  const { log } = found;
  const exchange = exchangeOf(deps, log);
  if (exchange === null) {
    const context = { exchange: log.exchangePlatform, mode: deps.config.exchangeMode };
    return { ...refusalOf(deny('exchange_unsupported', context)), data: null };
  }
  const { position, denial } = await assessCalculation(deps, { ...found, ...request });
  let order: OrderDescription;
  try {
    order = await describeFirstAttempt(deps, { exchange, log, position });
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    const context = { exchange: exchange.platform, message: error.message };
    return { ...refusalOf(deny('exchange_unavailable', context)), data: null };
  }
  const settings = await findTradingSettings(deps.db, log.userId);
  return {
    success: true,
    message:
      denial === null ? 'Order prepared' : `Order prepared, but it cannot be submitted: ${denial.reason}`,
    data: {
      validation: { preAssessment: { valid: denial === null, reason: denial?.reason ?? null } },
      positionDetails: detailsOf(position),
      userSettings: {
        exchangePlatform: log.exchangePlatform,
        activeTrading: settings?.activeTrading ?? false,
      },
      inputParameters: inputOf(log),
      apiEndpoint: `${exchange.apiEndpoint}${order.endpoint}`,
      exchange: exchange.platform,
      orderPayload: order.payload,
    },
  };
}

/** The calculation with its position; a denial when it has nothing to order. */
export async function findTradable(
  { db }: Pick<Deps, 'db'>,
  positionGeneratorLogId: string,
): Promise<{ ok: true; log: PositionGeneratorLogRow; position: Position } | { ok: false; denial: Denial }> {
  const log = await findPositionGeneratorLog(db, positionGeneratorLogId);
  if (log === null) throw new AppError('calculationNotFound');
  if (log.position === null) return { ok: false, denial: deny('position_data_missing', {}) };
  const unprotected = checkProtected(log.position);
  return unprotected === null
    ? { ok: true, log, position: log.position }
    : { ok: false, denial: unprotected };
}

/** A business refusal in the shape these routes return. */
export const refusalOf = ({ code, reason, context }: Denial) => ({
  success: false as const,
  error: denialTitle(code),
  message: reason,
  details: Object.entries(context)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', '),
});

function exchangeOf({ exchanges }: AssessmentDeps, log: PositionGeneratorLogRow): Exchange | null {
  const platform = exchanges.supported.find((one) => one === log.exchangePlatform);
  return platform === undefined ? null : exchanges.get(platform);
}

async function describeFirstAttempt(
  { db, findAccount }: AssessmentDeps,
  order: { exchange: Exchange; log: PositionGeneratorLogRow; position: Position },
): Promise<OrderDescription> {
  const { exchange, log, position } = order;
  const trade = await findTradeOfCalculation(db, log.id);
  const account = await findAccount(log.userId, exchange.platform);
  const entry = {
    token: log.token,
    side: position.action,
    clientOrderId: trade === null ? NO_CLIENT_ORDER_ID : clientOrderId(trade.id, 1),
    price: position.entryPrice,
    quantity: position.assetQuantity,
    leverage: position.leverage,
    stopLoss: position.stopLoss,
    takeProfit: position.takeProfit,
  };
  return await exchange.describeOrder(entry, account?.credentials.accountMode);
}

const detailsOf = (position: Position): PreparedOrder['positionDetails'] => ({
  token: position.token,
  action: position.action,
  entryPrice: position.entryPrice,
  quantity: position.quantity,
  assetQuantity: position.assetQuantity,
  leverage: position.leverage,
  stopLoss: position.stopLoss,
  takeProfit: position.takeProfit,
  riskPercentage: position.riskPercentage,
  investment: position.investment,
});

/** The settings at the time of the calculation, not the current ones. */
function inputOf({ settings }: PositionGeneratorLogRow): PreparedOrder['inputParameters'] {
  const { marketType, calculationBehavior, positionSizingMethod } = settings as TradingSettings;
  return { marketType, calculationBehavior, positionSizingMethod };
}
