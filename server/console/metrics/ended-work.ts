import { type SQL, sql } from 'drizzle-orm';
import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import type { Db } from '#server/platform/db/database.ts';
import { firstIdOf } from '#server/platform/ids.ts';

/** How much of an order was filled, or that its position had to be closed immediately (I4). */
export const ORDER_OUTCOMES = ['filled', 'partial', 'unfilled', 'unknown', 'closed-unprotected'] as const;

/**
 * Totals of all ended work, across instances and since the first day, counted from the rows. Recorded outcomes never
 * change, so a process counts old rows once and only recounts the newer ones with every reading.
 */
export interface EndedWork {
  workflows: { trigger: string; status: string; count: number }[];
  orders: { platform: string; trigger: string; outcome: string; count: number }[];
  /** Orders that closed a position without a stop, whether it was just opened or lost its stop later. */
  unprotectedCloses: { platform: string; count: number }[];
  /** From the arrival of a signal to the submission of its first order; per bucket, not cumulative. */
  signalToOrder: { bucket: number; count: number; seconds: number }[];
}

/** Upper bounds in seconds; a last bucket counts everything slower. */
export const SIGNAL_TO_ORDER_BUCKETS = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 300];

/** Longer than any transaction that inserts a row. */
const SETTLED_AFTER_SECONDS = 300;

type Range = { after: Date; until: Date | null };

export function createEndedWork(db: Db): () => Promise<EndedWork> {
  let countedUntil = new Date(0);
  let counted: EndedWork = { workflows: [], orders: [], unprotectedCloses: [], signalToOrder: [] };

  return async () => {
    const settled = await settledUntil(db);
    if (settled > countedUntil) {
      counted = added(counted, await readRange(db, { after: countedUntil, until: settled }));
      countedUntil = settled;
    }
    return added(counted, await readRange(db, { after: countedUntil, until: null }));
  };
}

/** All work created before this instant has ended. */
async function settledUntil(db: Db): Promise<Date> {
  const { rows } = await db.execute<{ until: Date | string }>(sql`
    select least(
      now() - make_interval(secs => ${SETTLED_AFTER_SECONDS}),
      (select min(created_at) from workflows where status in ('pending', 'processing')),
      (select min(created_at) from trades where state <> 'done' and completed_at is null)
    ) as until`);
  return new Date(rows[0]?.until ?? 0);
}

const within = (column: SQL, { after, until }: Range, write = (moment: Date) => moment.toISOString()) =>
  until === null
    ? sql`${column} >= ${write(after)}`
    : sql`${column} >= ${write(after)} and ${column} < ${write(until)}`;

async function readRange(db: Db, range: Range): Promise<EndedWork> {
  const workflows = await db.execute<EndedWork['workflows'][number]>(sql`
    select trigger, status, count(*)::float8 from workflows
    where ${within(sql`created_at`, range)} and completed_at is not null
    group by trigger, status`);
  const orders = await db.execute<EndedWork['orders'][number]>(sql`
    select exchange_platform as platform, trigger_type as trigger,
      case when not success and fill_status in ('filled', 'partial') then 'closed-unprotected'
        else coalesce(fill_status, 'unknown') end as outcome,
      count(*)::float8
    from trades
    where ${within(sql`created_at`, range)} and completed_at is not null
    group by 1, 2, 3`);
  const closes = await db.execute<EndedWork['unprotectedCloses'][number]>(sql`
    select exchange_platform as platform, count(*)::float8 from position_closes
    where ${within(sql`id`, range, firstIdOf)} and reason = ${CLOSE_REASONS.stopMissing}
    group by 1`);
  const bounds = sql.raw(`array[${SIGNAL_TO_ORDER_BUCKETS.join(', ')}]::numeric[]`);
  const waits = await db.execute<EndedWork['signalToOrder'][number]>(sql`
    select (select count(*)::int from unnest(${bounds}) as bound where bound < seconds) as bucket,
      count(*)::float8, sum(seconds)::float8 as seconds
    from (
      select extract(epoch from order_attempts.submitted_at - signals.received_at) as seconds
      from trades
      join order_attempts on trade_id = trades.id and attempt = 1
      join signals on signals.id = trades.signal_id
      where ${within(sql`trades.created_at`, range)} and completed_at is not null and trigger_type = 'automatic'
        and order_attempts.submitted_at is not null
    ) as waits
    group by 1`);
  return {
    workflows: workflows.rows,
    orders: orders.rows,
    unprotectedCloses: closes.rows,
    signalToOrder: waits.rows,
  };
}

const added = (known: EndedWork, more: EndedWork): EndedWork => ({
  workflows: addUp([...known.workflows, ...more.workflows]),
  orders: addUp([...known.orders, ...more.orders]),
  unprotectedCloses: addUp([...known.unprotectedCloses, ...more.unprotectedCloses]),
  signalToOrder: addUp([...known.signalToOrder, ...more.signalToOrder]),
});

/** One row for each combination of labels. */
function addUp<Row extends { count: number; seconds?: number }>(rows: readonly Row[]): Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const { count, seconds, ...labels } = row;
    const key = JSON.stringify(Object.entries(labels).sort());
    const sum = sums.get(key);
    sums.set(key, {
      ...row,
      count: count + (sum?.count ?? 0),
      ...(seconds !== undefined && { seconds: seconds + (sum?.seconds ?? 0) }),
    });
  }
  return [...sums.values()];
}
