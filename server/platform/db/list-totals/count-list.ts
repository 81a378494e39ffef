import { type SQL, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { monthOf } from '#server/platform/db/partitions.ts';
import {
  type CountedList,
  type Dimension,
  dimension,
  FIRST_ID,
  LIST_SHAPES,
  type ListFilter,
  matching,
} from './counted-lists.ts';

type Asked = Pick<Queryable, 'execute'>;

/**
 * Runs a statement over the totals of a list and its remaining rows, as of one instant. `build` gets the id before
 * which rows are added up (the mark of that name) as a value: only then does the planner know how few rows remain.
 */
export async function readCounted<Row extends Record<string, unknown>>(
  db: Asked,
  name: string,
  build: (countedBefore: string) => SQL,
): Promise<Row[]> {
  const mark = sql`(select counted_before from counted_lists where list = ${name})`;
  for (;;) {
    const { rows: known } = await db.execute<{ mark: string | null }>(sql`select ${mark} as mark`);
    const expected = known[0]?.mark ?? null;
    const { rows } = await db.execute<Record<string, unknown>>(sql`
      select ${mark} as mark, parts.*
      from (values (1)) as always
      left join (select true as found, part.* from (${build(expected ?? FIRST_ID)}) as part) as parts on true`);
    // Otherwise rows were added up between the two statements, and would count twice.
    if (rows[0]?.mark === expected) return rows.filter(({ found }) => found === true) as Row[];
  }
}

/** The instants between which rows were received; both are included. */
export interface TimeRange {
  from?: Date | undefined;
  until?: Date | undefined;
}

/** The exact number of matching rows in the range; `now` only decides from which side to count. */
export async function countList(
  db: Asked,
  list: CountedList,
  options: TimeRange & { filter: ListFilter; now: Date },
): Promise<number> {
  const { filter, from, until, now } = options;
  if (from !== undefined && until !== undefined && from > until) return 0;
  const [row] = await readCounted<{ total: string }>(db, list, (before) => {
    const parts = { list, filter, before };
    const upTo = until === undefined ? countAll(parts) : countUntil({ ...parts, until, now });
    if (from === undefined) return sql`select ${upTo} as total`;
    // Instants are stored in whole milliseconds.
    const earlier = countUntil({ ...parts, until: new Date(from.getTime() - 1), now });
    return sql`select (${upTo}) - (${earlier}) as total`;
  });
  return Number(row?.total ?? 0);
}

/** The values that occur in a column of a list, in order. */
export async function listValues(db: Asked, list: CountedList, column: Dimension): Promise<string[]> {
  const name = dimension(column);
  const rows = await readCounted<{ value: string }>(
    db,
    list,
    (before) => sql`
      select ${name} as value from list_totals where list = ${list} and ${name} > ''
      union
      select ${name} from ${LIST_SHAPES[list].table} where id >= ${before} and ${name} > ''`,
  );
  return rows.map(({ value }) => value).sort();
}

interface Parts {
  list: CountedList;
  filter: ListFilter;
  before: string;
}

const rowsWhere = ({ list, filter }: Parts, condition: SQL): SQL =>
  sql`(select count(*) from ${LIST_SHAPES[list].table} where ${condition} and ${matching(filter)})`;

const monthsWhere = ({ list, filter }: Parts, condition: SQL): SQL => sql`(
  select coalesce(sum(rows), 0) from list_totals_by_month
  where list = ${list} and ${condition} and ${matching(filter)})`;

const countAll = (parts: Parts): SQL => sql`
  (select coalesce(sum(rows), 0) from list_totals where list = ${parts.list} and ${matching(parts.filter)})
  + ${rowsWhere(parts, sql`id >= ${parts.before}`)}`;

/** Takes whole months from the totals; counts the rest by the index of receipt, from the nearest side. */
function countUntil(parts: Parts & { until: Date; now: Date }): SQL {
  const { list, before, until, now } = parts;
  const { receivedAt } = LIST_SHAPES[list];
  const [start, end] = [monthOf(until), monthOf(until, 1)];
  const fromNow = Math.abs(now.getTime() - until.getTime());
  const fromStart = until.getTime() - start.getTime();
  const fromEnd = end.getTime() - until.getTime();
  const at = (moment: Date) => sql`${moment.toISOString()}::timestamptz`;
  const month = sql`${start.toISOString().slice(0, 10)}::date`;
  if (fromNow <= Math.min(fromStart, fromEnd)) {
    return sql`${countAll(parts)} - ${rowsWhere(parts, sql`${receivedAt} > ${at(until)}`)}`;
  }
  const rest = rowsWhere(parts, sql`id >= ${before} and ${receivedAt} <= ${at(until)}`);
  if (fromStart <= fromEnd) {
    const more = sql`${receivedAt} >= ${at(start)} and ${receivedAt} <= ${at(until)} and id < ${before}`;
    return sql`${monthsWhere(parts, sql`month < ${month}`)} + ${rowsWhere(parts, more)} + ${rest}`;
  }
  const less = sql`${receivedAt} > ${at(until)} and ${receivedAt} < ${at(end)} and id < ${before}`;
  return sql`${monthsWhere(parts, sql`month <= ${month}`)} - ${rowsWhere(parts, less)} + ${rest}`;
}
