import { and, asc, eq, gt, isNotNull, sql } from 'drizzle-orm';
import { type ChartFill, type ChartLevels, signalChart } from '#contract/charts.ts';
import { idParams } from '#contract/paging.ts';
import { findSeries, listCandlesAfter, listCandlesUntil } from '#server/console/price-logs/candles.store.ts';
import type { Deps } from '#server/deps.ts';
import { STANDS_FOR_SIGNAL } from '#server/engine/records/workflows.store.ts';
import { findSignal } from '#server/ingest/stored-signals.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import {
  orderAttempts,
  positionGeneratorLogs,
  trades,
  users,
  workflows,
  workflowUsers,
} from '#server/platform/db/schema.ts';
import { required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';

const CANDLES_BEFORE = 80;
const CANDLES_AFTER = 40;

export function registerSignalChartRoutes(app: App, { db }: Deps): void {
  const admin = routeOptions({ access: 'admin', tags: ['signals'] });

  app.get(
    '/api/signals/:id/chart',
    admin({ params: idParams, answer: signalChart }),
    async ({ params: { id } }) => {
      const signal = required(await findSignal(db, id), 'signalNotFound');
      const { token, timeframe, hookId, processor, price, action } = signal;
      const time = signal.signalTimeServer ?? signal.receivedAt;
      const series = await findSeries(db, { token, timeframe, hookId, processor });
      const [before, after, levels, fills] = await Promise.all([
        listCandlesUntil(db, { series, until: time, limit: CANDLES_BEFORE }),
        listCandlesAfter(db, { series, after: time, limit: CANDLES_AFTER }),
        findFirstLevels(db, id),
        listSignalFills(db, id),
      ]);
      return {
        token,
        timeframe,
        candles: [...before, ...after],
        signal: { time: time.toISOString(), price, action },
        levels,
        fills,
      };
    },
  );
}

/** Levels of the first user by trade order in the workflow that stands for the signal. */
async function findFirstLevels(db: Queryable, signalId: string): Promise<ChartLevels | null> {
  const shown = db
    .select({ id: workflows.id })
    .from(workflows)
    .where(eq(workflows.signalId, signalId))
    .orderBy(STANDS_FOR_SIGNAL)
    .limit(1);
  const level = (name: keyof ChartLevels) =>
    sql<string>`${positionGeneratorLogs.position} ->> ${sql.raw(`'${name}'`)}`;
  const [row] = await db
    .select({
      entryPrice: level('entryPrice'),
      stopLoss: level('stopLoss'),
      takeProfit: level('takeProfit'),
    })
    .from(workflowUsers)
    .innerJoin(
      positionGeneratorLogs,
      and(
        eq(positionGeneratorLogs.workflowId, workflowUsers.workflowId),
        eq(positionGeneratorLogs.userId, workflowUsers.userId),
      ),
    )
    .where(and(sql`${workflowUsers.workflowId} = (${shown})`, positionGeneratorLogs.success))
    .orderBy(asc(workflowUsers.position))
    .limit(1);
  return row ?? null;
}

/** Fills of the signal's orders, one per order (a trade may need two), oldest first. */
async function listSignalFills(db: Queryable, signalId: string): Promise<ChartFill[]> {
  // An order in progress has no end time yet; its fills came after its submission.
  const time = sql<Date>`coalesce(${orderAttempts.finishedAt}, ${orderAttempts.submittedAt}, ${trades.createdAt})`;
  const rows = await db
    .select({
      time: time.mapWith(orderAttempts.finishedAt),
      averagePrice: orderAttempts.averagePrice,
      quantity: orderAttempts.filledQuantity,
      side: trades.side,
      username: users.username,
    })
    .from(trades)
    .innerJoin(orderAttempts, eq(orderAttempts.tradeId, trades.id))
    .innerJoin(users, eq(users.id, trades.userId))
    .where(
      and(
        eq(trades.signalId, signalId),
        gt(orderAttempts.filledQuantity, '0'),
        isNotNull(orderAttempts.averagePrice),
      ),
    )
    .orderBy(asc(time), asc(users.username), asc(orderAttempts.attempt));
  return rows.flatMap(({ time: at, averagePrice, ...fill }) =>
    averagePrice === null ? [] : [{ ...fill, averagePrice, time: at.toISOString() }],
  );
}
