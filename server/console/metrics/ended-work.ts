import { type SQL, sql } from 'drizzle-orm';
import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import type { Db } from '#server/platform/db/database.ts';
import { firstIdOf } from '#server/platform/ids.ts';

/** What an order may end with: how much of it was filled, or that its position had to be closed at once (I4). */
export const ORDER_OUTCOMES = ['filled', 'partial', 'unfilled', 'unknown', 'closed-unprotected'] as const;

/**
 * Totals of all that has ended, of every instance and since the first day, read from the rows themselves. The first end
 * of an order and of a workflow stays on record whatever comes after, and a closing order keeps its reason; so what lies
 * far enough back is counted once a process and only the rest with every reading.
 */
export interface EndedWork {
  workflows: { trigger: string; status: string; count: number }[];
  orders: { platform: string; trigger: string; outcome: string; count: number }[];
  /** Orders to close a position without a stop: of one just opened, or of one that lost its stop later. */
  unprotectedCloses: { platform: string; count: number }[];
  /** From the arrival of a signal to its first order on the way; one for each bucket, not yet added up. */
  signalToOrder: { bucket: number; count: number; seconds: number }[];
}

/** Upper bounds in seconds; the last bucket is what took longer. */
export const SIGNAL_TO_ORDER_BUCKETS = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 300];

/** No transaction that inserts a row lasts this long. */
const SETTLED_AFTER_SECONDS = 300;

type Part = keyof EndedWork;
type Range = { after: Date; until: Date | null };
type Totals = { [Name in Part]: Map<string, EndedWork[Name][number]> };

export function createEndedWork(db: Db): () => Promise<EndedWork> {
  let countedUntil = new Date(0);
  let counted = noTotals();

  return async () => {
    const settled = await settledUntil(db);
    if (settled > countedUntil) {
      const more = await readRange(db, { after: countedUntil, until: settled });
      counted = added(counted, more);
      countedUntil = settled;
    }
    const all = added(counted, await readRange(db, { after: countedUntil, until: null }));
    return {
      workflows: [...all.workflows.values()],
      orders: [...all.orders.values()],
      unprotectedCloses: [...all.unprotectedCloses.values()],
      signalToOrder: [...all.signalToOrder.values()],
    };
  };
}

/** Before this instant everything has ended. */
async function settledUntil(db: Db): Promise<Date> {
  const { rows } = await db.execute<{ until: Date | string }>(sql`
    select least(
      now() - make_interval(secs => ${SETTLED_AFTER_SECONDS}),
      (select min(created_at) from workflows where status in ('pending', 'processing')),
      (select min(created_at) from trades where state <> 'done' and completed_at is null)
    ) as until`);
  return new Date(rows[0]?.until ?? 0);
}

const within = (column: SQL, { after, until }: Range) =>
  until === null
    ? sql`${column} >= ${after.toISOString()}`
    : sql`${column} >= ${after.toISOString()} and ${column} < ${until.toISOString()}`;

const withinIds = (column: SQL, { after, until }: Range) =>
  until === null
    ? sql`${column} >= ${firstIdOf(after)}`
    : sql`${column} >= ${firstIdOf(after)} and ${column} < ${firstIdOf(until)}`;

async function readRange(db: Db, range: Range): Promise<EndedWork> {
  const workflows = await db.execute<{ trigger: string; status: string; count: string }>(sql`
    select trigger, status, count(*) from workflows
    where ${within(sql`created_at`, range)} and completed_at is not null
    group by trigger, status`);
  const orders = await db.execute<{ platform: string; trigger: string; outcome: string; count: string }>(sql`
    select exchange_platform as platform, trigger_type as trigger,
      case when not success and fill_status in ('filled', 'partial') then 'closed-unprotected'
        else coalesce(fill_status, 'unknown') end as outcome,
      count(*)
    from trades
    where ${within(sql`created_at`, range)} and completed_at is not null
    group by 1, 2, 3`);
  const closes = await db.execute<{ platform: string; count: string }>(sql`
    select exchange_platform as platform, count(*) from position_closes
    where ${withinIds(sql`id`, range)} and reason = ${CLOSE_REASONS.stopMissing}
    group by 1`);
  const bounds = sql.raw(`array[${SIGNAL_TO_ORDER_BUCKETS.join(', ')}]::numeric[]`);
  const waits = await db.execute<{ bucket: string; count: string; seconds: string }>(sql`
    select (select count(*) from unnest(${bounds}) as bound where bound < seconds) as bucket,
      count(*), sum(seconds) as seconds
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
    workflows: workflows.rows.map((row) => ({ ...row, count: Number(row.count) })),
    orders: orders.rows.map((row) => ({ ...row, count: Number(row.count) })),
    unprotectedCloses: closes.rows.map((row) => ({ ...row, count: Number(row.count) })),
    signalToOrder: waits.rows.map(({ bucket, count, seconds }) => ({
      bucket: Number(bucket),
      count: Number(count),
      seconds: Number(seconds),
    })),
  };
}

const noTotals = (): Totals => ({
  workflows: new Map(),
  orders: new Map(),
  unprotectedCloses: new Map(),
  signalToOrder: new Map(),
});

function added(totals: Totals, more: EndedWork): Totals {
  return {
    workflows: addCounts(totals.workflows, more.workflows, ({ trigger, status }) => `${trigger} ${status}`),
    orders: addCounts(
      totals.orders,
      more.orders,
      ({ platform, trigger, outcome }) => `${platform} ${trigger} ${outcome}`,
    ),
    unprotectedCloses: addCounts(
      totals.unprotectedCloses,
      more.unprotectedCloses,
      ({ platform }) => platform,
    ),
    signalToOrder: addCounts(
      totals.signalToOrder,
      more.signalToOrder,
      ({ bucket }) => String(bucket),
      (row, known) => ({ seconds: row.seconds + known.seconds }),
    ),
  };
}

function addCounts<Row extends { count: number }>(
  known: ReadonlyMap<string, Row>,
  more: readonly Row[],
  keyOf: (row: Row) => string,
  addRest: (row: Row, known: Row) => Partial<Row> = () => ({}),
): Map<string, Row> {
  const sums = new Map(known);
  for (const row of more) {
    const key = keyOf(row);
    const before = sums.get(key);
    sums.set(
      key,
      before === undefined ? row : { ...row, count: row.count + before.count, ...addRest(row, before) },
    );
  }
  return sums;
}
