import type { OrderResult } from '#contract/position-maker.ts';
import { isPositive } from '#domain/decimal.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { Deps } from '#server/deps.ts';
import {
  type AttemptRow,
  listAttempts,
  listTradeEvents,
  type TradeRow,
} from '#server/engine/records/trades.store.ts';
import type { CallRecord } from '#server/exchanges/exchange.ts';

/** A trade as the result dialog shows it, running or done. */
export async function readOrderResult(
  deps: Pick<Deps, 'db' | 'clock' | 'exchanges'>,
  trade: TradeRow,
): Promise<OrderResult> {
  const attempts = await listAttempts(deps.db, trade.id);
  const events = await listTradeEvents(deps.db, trade.id);
  const calls = events.flatMap(({ kind, data }) => (kind === 'call' ? [data as CallRecord] : []));
  const lines = events.filter(({ kind }) => kind === 'timeline');
  const placement = calls.findLast(({ type }) => type === 'place-order');
  const last = attempts.at(-1);
  const journey = journeyOf(trade, attempts);
  const { firstOrderFilled, secondAttemptExecuted } = journey;
  const done = trade.state === 'done';
  const endedAt = trade.completedAt ?? deps.clock.now();
  return {
    tradeId: trade.id,
    positionGeneratorLogId: trade.positionGeneratorLogId,
    done,
    success: trade.success === true,
    message: messageOf(trade, lines.at(-1)?.text),
    error: done && trade.success !== true ? (trade.error ?? 'Unknown error') : null,
    orderId: trade.orderId ?? attempts.findLast(({ orderId }) => orderId !== null)?.orderId ?? null,
    clientOid: last?.clientOrderId ?? null,
    positionRef: positionRefOf(trade),
    fillStatus: trade.fillStatus ?? (last?.state === 'unknown' || last?.doubt != null ? 'unknown' : null),
    protectionStatus: trade.protectionStatus,
    requestData: placement?.requestData ?? null,
    responseData: placement?.responseData ?? null,
    apiCallSequence: calls,
    verificationJourney: {
      ...journey,
      timeline: lines.map((line) => `${elapsed(trade, line.at)} ${line.text}`),
    },
    technicalDetails: {
      firstOrderFilled,
      secondAttemptExecuted,
      endpoint: `${originOf(deps, trade)}${placement?.endpoint ?? ''}`,
      executionTime: Math.max(0, endedAt.getTime() - trade.createdAt.getTime()),
      attempts: attempts.filter(isExecuted).length,
      isSecondAttempt: secondAttemptExecuted,
    },
  };
}

/** The request was announced; a request that was not announced never left. */
const isExecuted = ({ submittedAt }: AttemptRow) => submittedAt !== null;

function journeyOf(trade: TradeRow, attempts: AttemptRow[]) {
  const [first, second] = attempts;
  const done = trade.state === 'done';
  return {
    attempts: attempts.map((one) => ({
      attempt: one.attempt,
      state: one.state,
      price: one.price,
      quantity: one.quantity,
      filledQuantity: one.filledQuantity,
      averagePrice: one.averagePrice,
      orderId: one.orderId,
      error: one.error,
    })),
    isFilled: attempts.some(({ state }) => state === 'filled'),
    firstOrderFilled: first?.state === 'filled',
    secondAttemptExecuted: second !== undefined && isExecuted(second),
    nextAttemptReady:
      !done && (second === undefined ? first?.state === 'unfilled' : second.state === 'planned'),
  };
}

function messageOf(trade: TradeRow, lastLine: string | undefined): string {
  if (trade.state !== 'done') return lastLine ?? 'Order planned';
  if (trade.success !== true) return trade.error ?? 'Unknown error';
  const filled = `${trade.filledQuantity} ${trade.token} at ${trade.averagePrice ?? 'an unknown price'}`;
  return trade.fillStatus === 'filled'
    ? `Order filled: ${filled}`
    : `Order partly filled: ${filled}, ${trade.plannedQuantity} were planned`;
}

/** Exchanges identify a position by its contract and side. */
function positionRefOf(trade: TradeRow): string | null {
  if (!isPositive(trade.filledQuantity) || trade.protectionStatus === 'closed') return null;
  return `${trade.exchangePlatform}:${trade.token}USDT:${sideOpenedBy(trade.side)}`;
}

const elapsed = (trade: TradeRow, at: Date): string =>
  `+${(Math.max(0, at.getTime() - trade.createdAt.getTime()) / 1000).toFixed(1)} s`;

function originOf({ exchanges }: Pick<Deps, 'exchanges'>, trade: TradeRow): string {
  const platform = exchanges.supported.find((one) => one === trade.exchangePlatform);
  return platform === undefined ? '' : exchanges.get(platform).apiEndpoint;
}
