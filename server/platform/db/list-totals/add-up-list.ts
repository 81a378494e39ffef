import { sql } from 'drizzle-orm';
import type { Db, Tx } from '#server/platform/db/database.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import {
  ADDED_UP,
  ADMINISTRATORS,
  CHOICE_COLUMNS,
  type CountedList,
  DIMENSIONS,
  dimension,
  FIRST_ID,
  groupColumns,
  LIST_SHAPES,
  type ListShape,
  markOf,
  type Part,
} from './counted-lists.ts';

/** Younger rows are not added up yet: an id may be made this long before its transaction by the database's clock. */
export const MARGIN_MS = 60_000;
const ROWS_A_STEP = 20_000;

/** Long transactions that write nothing. */
const READERS = ['pg_dump', 'signal-board backup'];

/**
 * Adds up further rows in one short step, up to an id before which no transaction can still commit a row. Returns false
 * when nothing is left to do, or when another instance is adding up.
 */
export async function addUpList(
  db: Db,
  list: CountedList,
  options: { marginMs?: number; rowsAStep?: number; what?: Part } = {},
): Promise<boolean> {
  const { marginMs = MARGIN_MS, rowsAStep = ROWS_A_STEP, what = 'totals' } = options;
  const shape = LIST_SHAPES[list];
  const name = markOf(list, what);
  return await db.transaction(async (tx) => {
    await tx.execute(
      sql`insert into counted_lists (list, counted_before) values (${name}, ${FIRST_ID}) on conflict do nothing`,
    );
    const { rows } = await tx.execute<{ counted_before: string; clock_lag_ms: string }>(
      sql`select counted_before, clock_lag_ms from counted_lists where list = ${name} for update skip locked`,
    );
    const [mark] = rows;
    if (mark === undefined) return false;
    const after = mark.counted_before;
    // Each further statement has its own snapshot and sees everything that had ended by then.
    const settledBefore = await findSettledBefore(tx, shape, marginMs + Number(mark.clock_lag_ms));
    const { rows: next } = await tx.execute<{ id: string }>(sql`
      select id from ${shape.table} where id >= ${after} and id < ${settledBefore}
      order by id offset ${rowsAStep} limit 1`);
    const before = next[0]?.id ?? settledBefore;
    if (before <= after) return false;
    await add[what](tx, list, { from: after, to: before, sign: 1 });
    await tx.execute(sql`update counted_lists set counted_before = ${before} where list = ${name}`);
    return next.length > 0;
  });
}

/**
 * The id before which every row of the list is committed and final. Idle sessions do not count: they read messages of
 * the server (notifications, changes of the schema) in a transaction that shows the start of their last statement.
 */
async function findSettledBefore(tx: Tx, { table, unsettled }: ListShape, marginMs: number): Promise<string> {
  const { rows } = await tx.execute<{ ms: string }>(sql`
    select floor(extract(epoch from least(clock_timestamp(), min(xact_start))) * 1000) as ms
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and state <> 'idle'
      and application_name not in (${sql.join(
        READERS.map((name) => sql`${name}`),
        sql`, `,
      )})`);
  const committed = firstIdOf(new Date(Number(rows[0]?.ms ?? 0) - marginMs));
  if (unsettled === null) return committed;
  const { rows: oldest } = await tx.execute<{ id: string }>(sql`
    select id from (select id from ${table} where ${unsettled} offset 0) as unsettled order by id limit 1`);
  const id = oldest[0]?.id;
  return id === undefined || id > committed ? committed : id;
}

interface Range {
  from: string;
  to: string;
  /** -1 subtracts the rows again. */
  sign: 1 | -1;
}

async function addUp(tx: Tx, list: CountedList, { from, to, sign }: Range): Promise<void> {
  const shape = LIST_SHAPES[list];
  const names = sql.join(DIMENSIONS.map(dimension), sql`, `);
  const quarters = sql`, by_quarter as (
    insert into signal_totals_by_quarter as known (since, action, rows)
    select quarter, action, sum(rows) from added group by 1, 2
    on conflict (since, action) do update set rows = known.rows + excluded.rows)`;
  await tx.execute(sql`
    with added as materialized (
      select ${groupColumns(shape)},
        date_trunc('month', ${shape.receivedAt} at time zone 'UTC')::date as month,
        ${shape.byQuarter ? sql`date_bin('15 minutes', ${shape.receivedAt}, timestamptz '2000-01-01 00:00Z')` : sql`null`} as quarter,
        count(*) * ${sql.raw(String(sign))} as rows
      from ${shape.table} where id >= ${from} and id < ${to}
      group by ${sql.join(
        Array.from({ length: DIMENSIONS.length + 2 }, (_, index) => sql.raw(String(index + 1))),
        sql`, `,
      )}
    ), by_month as (
      insert into list_totals_by_month as known (list, month, ${names}, rows)
      select ${list}, month, ${names}, sum(rows) from added group by month, ${names}
      on conflict (list, month, ${names}) do update set rows = known.rows + excluded.rows
    )${shape.byQuarter ? quarters : sql``}
    insert into list_totals as known (list, ${names}, rows)
    select ${list}, ${names}, sum(rows) from added group by ${names}
    on conflict (list, ${names}) do update set rows = known.rows + excluded.rows`);
}

async function addUpChoices(tx: Tx, list: CountedList, { from, to, sign }: Range): Promise<void> {
  const values = sql.join(
    CHOICE_COLUMNS.map((column) => sql`(${column}::text, ${dimension(column)})`),
    sql`, `,
  );
  await tx.execute(sql`
    insert into list_choices as known (list, "column", audience, value, rows)
    select ${list}::text, choice."column", case when from_admin then ${ADMINISTRATORS}::uuid else owner_user_id end,
      choice.value, count(*) * ${sql.raw(String(sign))}
    from ${LIST_SHAPES[list].table} cross join lateral (values ${values}) as choice ("column", value)
    where id >= ${from} and id < ${to} and choice.value > ''
    group by 1, 2, 3, 4
    on conflict (list, "column", audience, value) do update set rows = known.rows + excluded.rows`);
}

/** The functions by part. The caller holds the row in counted_lists. */
const add: Record<Part, typeof addUp> = { totals: addUp, choices: addUpChoices };

/**
 * Subtracts rows that are about to be dropped, from the id `from` up to but not including `to`, from the totals and
 * choices. Call it in the transaction that drops them, before the drop. Rows that have been added up must not change in
 * any other way.
 */
export async function forgetRows(
  tx: Tx,
  list: CountedList,
  { from, to }: Pick<Range, 'from' | 'to'>,
): Promise<void> {
  for (const { what } of ADDED_UP.filter((part) => part.list === list)) {
    const { rows } = await tx.execute<{ counted_before: string }>(
      sql`select counted_before from counted_lists where list = ${markOf(list, what)} for update`,
    );
    const countedBefore = rows[0]?.counted_before ?? FIRST_ID;
    const end = to < countedBefore ? to : countedBefore;
    if (end > from) await add[what](tx, list, { from, to: end, sign: -1 });
  }
  // Values that no longer occur must not be offered as filters.
  for (const table of ['list_totals', 'list_totals_by_month', 'list_choices']) {
    await tx.execute(sql`delete from ${sql.identifier(table)} where list = ${list} and rows = 0`);
  }
}
