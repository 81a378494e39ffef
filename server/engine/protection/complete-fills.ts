import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import { D } from '#domain/decimal.ts';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { startHalt } from '#server/admin/halts/trading-halts.store.ts';
import type { Deps } from '#server/deps.ts';
import { openTradeAccount } from '#server/engine/orders/trade-account.ts';
import { addTimeline } from '#server/engine/records/trades.store.ts';
import { asExchangeError, ExchangeError, type OrderReport } from '#server/exchanges/exchange.ts';
import type { Db } from '#server/platform/db/database.ts';
import { orderAttempts, trades } from '#server/platform/db/schema.ts';
import { assertHeld, type Lease } from '#server/platform/jobs/leases.ts';
import { mayBeOpen } from './positions.store.ts';

type FillDeps = Pick<
  Deps,
  'accountGuard' | 'audit' | 'clock' | 'config' | 'db' | 'exchanges' | 'findAccount'
>;
type ProvenTrade = Awaited<ReturnType<typeof listProven>>[number];

/** Look-ups leave the request limits to what is urgent, and exchanges report an order of this age reliably. */
const READ_AFTER_MS = 60_000;
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;
const MOST_AT_A_TIME = 100;

/**
 * Looks up the orders whose fill the position has proven (`proven-fill.ts`): fee and average price are the order's own.
 * I3: an order that is still open is cancelled; one that ended with less than its position showed halts its user, because
 *    somebody has traded by hand.
 */
export async function completeFills(
  deps: FillDeps,
  { lease, onError }: { lease: Lease; onError: (error: unknown, trade: ProvenTrade['trade']) => void },
): Promise<void> {
  const proven = await listProven(deps.db, deps.clock.now());
  const works = proven.map((one) => complete(deps, one, lease).catch((error) => onError(error, one.trade)));
  await Promise.all(works);
}

/** Trades with an open position, whose only order was never looked up; oldest first. */
function listProven(db: Db, now: Date) {
  const completedAt = trades.completedAt;
  return db
    .select({ trade: trades, attempt: orderAttempts })
    .from(trades)
    .innerJoin(orderAttempts, eq(orderAttempts.tradeId, trades.id))
    .where(
      and(
        mayBeOpen,
        eq(trades.state, 'done'),
        sql`${completedAt} between ${new Date(now.getTime() - GIVEN_UP_AFTER_MS)} and ${new Date(now.getTime() - READ_AFTER_MS)}`,
        eq(orderAttempts.state, 'filled'),
        isNull(orderAttempts.raw),
        isNull(orderAttempts.error),
      ),
    )
    .orderBy(asc(trades.id))
    .limit(MOST_AT_A_TIME);
}

async function complete(deps: FillDeps, { trade, attempt }: ProvenTrade, lease: Lease): Promise<void> {
  const platform = EXCHANGE_PLATFORMS.find((one) => one === trade.exchangePlatform);
  const { account } = await openTradeAccount(deps, trade);
  if (platform === undefined || account === null) return;
  const exchange = deps.exchanges.get(platform);
  const order = { token: trade.token, clientOrderId: attempt.clientOrderId };
  const context = { priority: 'background' as const };
  const report = await exchange.findOrder(account, order, context).catch(asExchangeError);
  if (report === null || report instanceof ExchangeError || report.side !== trade.side) return;
  const isEnded = report.state === 'filled' || report.state === 'cancelled';
  if (!isEnded && report.state !== 'unknown') {
    await exchange.cancelOrder(account, order, context).catch(asExchangeError);
  }
  if (isEnded) await recordReport(deps, { trade, attempt, report, lease });
}

async function recordReport(
  { audit, clock, db }: FillDeps,
  { trade, attempt, report, lease }: ProvenTrade & { report: OrderReport; lease: Lease },
): Promise<void> {
  const { id: tradeId, userId, exchangePlatform, token } = trade;
  const now = clock.now();
  const isWhole = D(report.filledQuantity).eq(attempt.filledQuantity);
  const { fee, raw } = report;
  const averagePrice = isWhole ? (report.averagePrice ?? attempt.averagePrice) : attempt.averagePrice;
  const reason = `${exchangePlatform} shows ${report.filledQuantity} filled by the order, and the ${token} position was ${attempt.filledQuantity}: somebody has traded it by hand`;
  await db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    await tx
      .update(orderAttempts)
      .set({ fee, raw: raw ?? {}, averagePrice })
      .where(eq(orderAttempts.id, attempt.id));
    const response = Object(trade.exchangeResponse) as Record<string, unknown>;
    const exchangeResponse = { ...response, priceAvg: averagePrice, fee };
    await tx.update(trades).set({ fee, averagePrice, exchangeResponse }).where(eq(trades.id, tradeId));
    if (isWhole) return;
    const halt = { userId, exchangePlatform, token, tradeId, kind: 'surplus' as const, reason, now };
    if (await startHalt(tx, { ...halt, audit })) {
      await addTimeline(tx, { tradeId, at: now, text: `Trading of this user is halted: ${reason}` });
    }
  });
}
