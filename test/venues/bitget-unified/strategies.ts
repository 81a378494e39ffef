import { and, between, desc, lt, ne } from 'drizzle-orm';
import { toPlain } from '#domain/decimal.ts';
import {
  type BookOwner,
  kindOfPlan,
  type PaperTrigger,
  type TokenBook,
} from '#server/exchanges/paper/book.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { isOf } from '#server/exchanges/paper/paper-store.ts';
import { rowOfSelected } from '#server/exchanges/paper/row-texts.ts';
import type { Statements } from '#server/platform/db/database.ts';

/** What the books do not know of stops and targets: by the client order id that brought them. */
export interface VenueStrategies {
  /** Triggered by the market price. */
  byMarket: Set<string>;
  /** Stop and target that were placed as one order. */
  pairs: Set<string>;
}

export const noStrategies = (): VenueStrategies => ({ byMarket: new Set(), pairs: new Set() });

/** Orders of their own: a stop and a target that were placed together are one. */
export function strategiesIn(book: TokenBook, { pairs }: VenueStrategies): PaperTrigger[][] {
  const live = book.triggers.filter(({ state }) => state === 'live');
  const keyOf = ({ clientOrderId, planType }: PaperTrigger) =>
    pairs.has(clientOrderId) ? clientOrderId : `${planType} ${clientOrderId}`;
  return [...Map.groupBy(live, keyOf).values()];
}

const isSized = ({ planType }: PaperTrigger) => planType === 'loss_plan' || planType === 'profit_plan';

type Past = Pick<
  PaperTrigger,
  'id' | 'clientOrderId' | 'planType' | 'holdSide' | 'triggerPrice' | 'size' | 'createdAt' | 'updatedAt'
>;

const STATUSES = { live: 'pending', executed: 'success', cancelled: 'cancelled' } as const;

/** One strategy order of a stop, a target or both. */
export function strategyView(
  token: string,
  triggers: readonly (Past & { state: keyof typeof STATUSES })[],
  { size, strategies }: { size: string | null; strategies: VenueStrategies },
) {
  const [first] = triggers;
  if (first === undefined) throw new Error('A strategy order without a trigger');
  const priceOf = (kind: 'pos_loss' | 'pos_profit') => {
    const found = triggers.find(({ planType }) => kindOfPlan(planType) === kind);
    return found ? toPlain(found.triggerPrice) : '';
  };
  const triggerBy = strategies.byMarket.has(first.clientOrderId) ? 'market' : 'mark';
  return {
    orderId: String(first.id),
    clientOid: first.clientOrderId,
    symbol: `${token}USDT`,
    category: 'USDT-FUTURES',
    qty: size ?? toPlain(first.size),
    posSide: first.holdSide,
    status: STATUSES[first.state],
    tpTriggerBy: triggerBy,
    slTriggerBy: triggerBy,
    takeProfit: priceOf('pos_profit'),
    stopLoss: priceOf('pos_loss'),
    tpOrderType: 'market',
    slOrderType: 'market',
    tpLimitPrice: '',
    slLimitPrice: '',
    createdTime: String(first.createdAt.getTime()),
    updatedTime: String(first.updatedAt.getTime()),
  };
}

export function liveStrategyViews(book: TokenBook, strategies: VenueStrategies) {
  return strategiesIn(book, strategies).map((triggers) => {
    const whole = triggers.every((trigger) => !isSized(trigger)) ? book.position : null;
    return strategyView(book.token, triggers, { size: whole ? toPlain(whole.size) : null, strategies });
  });
}

/** Ended stops and targets of all tokens, newest first, each by itself. */
export async function pastStrategyViews(
  db: Statements,
  query: {
    owner: BookOwner;
    from: Date;
    to: Date;
    limit: number;
    before: bigint | null;
    strategies: VenueStrategies;
  },
) {
  const { owner, from, to, limit, before, strategies } = query;
  const found = await db
    .select()
    .from(paperTriggerOrders)
    .where(
      and(
        isOf(paperTriggerOrders, owner),
        ne(paperTriggerOrders.state, 'live'),
        between(paperTriggerOrders.updatedAt, from, to),
        before === null ? undefined : lt(paperTriggerOrders.id, before),
      ),
    )
    .orderBy(desc(paperTriggerOrders.id))
    .limit(limit);
  return found
    .map((row) => rowOfSelected(paperTriggerOrders, row))
    .map((row) => strategyView(row.token, [row], { size: null, strategies }));
}
