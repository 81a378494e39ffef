import { type SQL, sql } from 'drizzle-orm';
import type { OutcomeKind } from '#domain/workflow/outcome-kinds.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { monthOf } from '#server/platform/db/partitions.ts';
import { readCounted, type TimeRange } from './count-list.ts';
import { type CountedList, LIST_SHAPES, type ListFilter, matching } from './counted-lists.ts';

/** Lists whose rows have an outcome. */
export type OutcomeList = Extract<CountedList, 'signals' | 'workflows'>;
export type StoredOutcome = Exclude<OutcomeKind, 'running'>;

/** In the order of the list by outcome, after those that run. */
export const STORED_OUTCOMES = [
  'filled',
  'partial',
  'not_filled',
  'failed',
  'aborted',
  'skipped',
] as const satisfies readonly StoredOutcome[];

/** The rows of each list that have an outcome, with the columns of the list's filters. */
export const SETTLED: Record<OutcomeList, SQL> = {
  signals: sql`signal_outcomes`,
  workflows: sql`workflows`,
};

/** The month of totals over all months, so that a list without a range sums few rows. */
export const ALL_MONTHS = sql`date '-infinity'`;

export const isOutcome = (outcome: StoredOutcome | undefined): SQL =>
  outcome === undefined
    ? sql`outcome = any(${sql.param([...STORED_OUTCOMES])}::text[])`
    : sql`outcome = ${outcome}`;

const at = (moment: Date): SQL => sql`${moment.toISOString()}::timestamptz`;

/** Rows that were received in the range. */
export const inRange = (list: OutcomeList, { from, until }: TimeRange): SQL => {
  const { receivedAt } = LIST_SHAPES[list];
  return sql`${from ? sql`${receivedAt} >= ${at(from)}` : sql`true`}
    and ${until ? sql`${receivedAt} <= ${at(until)}` : sql`true`}`;
};

interface Counting extends TimeRange {
  filter: ListFilter;
  outcome?: StoredOutcome | undefined;
}

/** How many rows have each outcome or, of rows with an outcome, each token. */
export async function countOutcomesBy(
  db: Pick<Queryable, 'execute'>,
  list: OutcomeList,
  by: 'outcome' | 'token',
  { filter, outcome, ...range }: Counting,
): Promise<Map<string, number>> {
  const column = sql.identifier(by);
  const { months, edges } = splitRange(list, range);
  const wanted = sql`${isOutcome(outcome)} and ${matching(filter)}`;
  const totalled = isWhole(range) ? sql`month = ${ALL_MONTHS}` : sql`month > ${ALL_MONTHS} and ${months}`;
  const counted = [
    sql`
      select ${column} as value, sum(rows) from list_outcome_totals
      where list = ${list} and ${totalled} and ${wanted} group by 1`,
    sql`select ${column}, rows from list_outcome_changes where list = ${list} and ${months} and ${wanted}`,
  ];
  const { rows } = await db.execute<ValueCount>(
    sumByValue([
      ...counted,
      ...edges.map(
        (edge) =>
          sql`select ${column}, count(*) from ${SETTLED[list]} where ${edge} and ${wanted} group by 1`,
      ),
    ]),
  );
  return asMap(rows);
}

/** How many signals have each token, whatever came of them. */
export async function countSignalsByToken(
  db: Pick<Queryable, 'execute'>,
  { filter, ...range }: TimeRange & { filter: ListFilter },
): Promise<Map<string, number>> {
  const { months, edges } = splitRange('signals', range);
  const totals = sql.identifier(isWhole(range) ? 'list_totals' : 'list_totals_by_month');
  const direct = (condition: SQL) =>
    sql`select token, count(*) from signals where ${condition} and ${matching(filter)} group by 1`;
  const rows = await readCounted<ValueCount>(db, 'signals', (before) =>
    sumByValue([
      sql`select token as value, rows from ${totals} where list = 'signals' and ${months} and ${matching(filter)}`,
      direct(sql`id >= ${before} and ${inRange('signals', range)}`),
      ...edges.map((edge) => direct(sql`id < ${before} and ${edge}`)),
    ]),
  );
  return asMap(rows);
}

interface ValueCount extends Record<string, unknown> {
  value: string;
  total: string;
}

const sumByValue = (parts: readonly SQL[]): SQL => sql`
  select value, sum(rows) as total from (${sql.join([...parts], sql` union all `)}) as part (value, rows)
  group by value having sum(rows) > 0`;

const asMap = (rows: readonly ValueCount[]) =>
  new Map(rows.map(({ value, total }) => [value, Number(total)]));

const isWhole = ({ from, until }: TimeRange): boolean => from === undefined && until === undefined;

/** A range as the whole months in it, which are added up, and the rest, which is counted. */
function splitRange(list: OutcomeList, { from, until }: TimeRange): { months: SQL; edges: SQL[] } {
  if (isWhole({ from, until })) return { months: sql`true`, edges: [] };
  const { receivedAt } = LIST_SHAPES[list];
  const first = from && (Number(from) === Number(monthOf(from)) ? from : monthOf(from, 1));
  const end = until && monthOf(until);
  if (first !== undefined && end !== undefined && first >= end) {
    return { months: sql`false`, edges: [inRange(list, { from, until })] };
  }
  const day = (moment: Date) => sql`${moment.toISOString().slice(0, 10)}::date`;
  return {
    months: sql`${first ? sql`month >= ${day(first)}` : sql`true`} and ${end ? sql`month < ${day(end)}` : sql`true`}`,
    edges: [
      ...(from && first && from < first
        ? [sql`${receivedAt} >= ${at(from)} and ${receivedAt} < ${at(first)}`]
        : []),
      ...(until && end ? [sql`${receivedAt} >= ${at(end)} and ${receivedAt} <= ${at(until)}`] : []),
    ],
  };
}
