import type { TradeRow } from '#server/engine/orders/trades.store.ts';

/** What the step of the order says of a trade that is done. */
export const orderOutput = (trade: TradeRow) => ({
  tradeId: trade.id,
  orderId: trade.orderId,
  fillStatus: trade.fillStatus,
  filledQuantity: trade.filledQuantity,
  averagePrice: trade.averagePrice,
  fee: trade.fee,
  protection: trade.protectionStatus,
});
