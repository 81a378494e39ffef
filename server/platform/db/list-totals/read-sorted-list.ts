import { type InferSelectModel, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { OutcomeKind } from '#domain/workflow/outcome-kinds.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { signals, workflows } from '#server/platform/db/schema.ts';
import { countList, type TimeRange } from './count-list.ts';
import {
  countOutcomesBy,
  countSignalsByToken,
  inRange,
  isOutcome,
  type OutcomeList,
  SETTLED,
  STORED_OUTCOMES,
} from './count-outcomes.ts';
import { LIST_SHAPES, type ListFilter, matching } from './counted-lists.ts';
import { readList } from './read-list.ts';

const TABLES = { signals, workflows };

/** What a request asks of a list whose rows have an outcome. */
export interface SortedOptions extends TimeRange {
  filter: ListFilter;
  sort?: 'time' | 'token' | 'outcome' | undefined;
  /** Rows with the same token or outcome come newest first. */
  order?: 'asc' | 'desc';
  outcome?: OutcomeKind | undefined;
  /** An id or how one begins. */
  id?: string | undefined;
  page: number;
  limit: number;
  now: Date;
}

type Rows<List extends OutcomeList> = InferSelectModel<(typeof TABLES)[List]>[];

/** One page of a list and the exact number of all rows that match. */
export async function readSortedList<List extends OutcomeList>(
  db: Queryable,
  list: List,
  options: SortedOptions,
): Promise<{ rows: Rows<List>; total: number }> {
  const { sort = 'time', outcome, id, page, limit } = options;
  if (sort === 'time' && outcome === undefined && id === undefined) {
    return (await readList(db, list, options)) as { rows: Rows<List>; total: number };
  }
  const parts =
    id !== undefined || outcome === 'running'
      ? [await findFew(db, list, options)]
      : await splitList(db, list, options);
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  const ids = await readIds(db, { parts, skip: (page - 1) * limit, limit });
  if (ids.length === 0) return { rows: [], total };
  const table: PgTable & { id: PgColumn } = TABLES[list];
  const rows = (await db.select().from(table).where(isOneOf(table.id, ids))) as { id: string }[];
  const placeOf = new Map(ids.map((one, place) => [one, place]));
  const placed = (row: { id: string }) => placeOf.get(row.id) ?? ids.length;
  return { rows: rows.sort((a, b) => placed(a) - placed(b)) as Rows<List>, total };
}

/** Rows of a list that are found by one index, one part after the other. */
interface Part {
  from: SQL;
  where: SQL;
  orderBy: SQL;
  count: number;
}

const RUNNING = sql`('pending', 'processing')`;

/** Rows without a stored outcome: those whose workflow runs, and the others, which normally do not exist. */
const UNSETTLED: Record<OutcomeList, { running: SQL; rest: SQL }> = {
  signals: {
    running: sql`(
      select signals.* from workflows join signals on signals.id = workflows.signal_id
      where status in ${RUNNING} and not exists (select from signal_outcomes where id = signals.id)
    ) as signals`,
    rest: sql`(
      select * from signals where not exists (select from signal_outcomes where id = signals.id)
        and not exists (select from workflows where signal_id = signals.id and status in ${RUNNING})
    ) as signals`,
  },
  workflows: {
    running: sql`(select * from workflows where status in ${RUNNING}) as workflows`,
    rest: sql`(select * from workflows where outcome is null and status not in ${RUNNING}) as workflows`,
  },
};

/** The rows with an id, or whose signal has it, and what came of them. */
const FOUND: Record<OutcomeList, (hasId: (id: SQL) => SQL) => SQL> = {
  signals: (hasId) => sql`(
    select signals.*, coalesce(signal_outcomes.outcome, case when exists (
      select from workflows where signal_id = signals.id and status in ${RUNNING}
    ) then 'running' end) as came_to
    from signals left join signal_outcomes using (id) where ${hasId(sql`signals.id`)}
  ) as signals`,
  workflows: (hasId) => sql`(
    select *, coalesce(outcome, case when status in ${RUNNING} then 'running' end) as came_to
    from workflows where ${hasId(sql`id`)} or ${hasId(sql`signal_id`)}
  ) as workflows`,
};

const KINDS = ['running', ...STORED_OUTCOMES] as const;
const inDirection = ({ order }: SortedOptions): SQL => (order === 'asc' ? sql`asc` : sql`desc`);

const byTime = (list: OutcomeList, direction = sql`desc`): SQL =>
  sql`${LIST_SHAPES[list].receivedAt} ${direction}, id ${direction}`;

/** Rows that are few: those with an id, or those that run. They are sorted on request. */
async function findFew(db: Queryable, list: OutcomeList, options: SortedOptions): Promise<Part> {
  const { id, outcome, sort, filter } = options;
  const isWanted = id !== undefined && outcome !== undefined ? sql`came_to = ${outcome}` : sql`true`;
  const from = id === undefined ? UNSETTLED[list].running : FOUND[list](startsWith(id));
  const where = sql`${isWanted} and ${matching(filter)} and ${inRange(list, options)}`;
  const direction = inDirection(options);
  const orderBy =
    sort === 'token'
      ? sql`token ${direction}, ${byTime(list)}`
      : sort === 'outcome' && id !== undefined
        ? sql`array_position(${sql.param([...KINDS])}::text[], came_to) ${direction}, ${byTime(list)}`
        : byTime(list, sort === 'time' || sort === undefined ? direction : undefined);
  return { from, where, orderBy, count: await countRows(db, { from, where }) };
}

async function countRows(db: Queryable, { from, where }: Pick<Part, 'from' | 'where'>): Promise<number> {
  const { rows } = await db.execute<{ count: number }>(
    sql`select count(*)::int as count from ${from} where ${where}`,
  );
  return rows[0]?.count ?? 0;
}

/** Ids from the first to the last one that begins so; dashes may be missing. */
function startsWith(text: string): (id: SQL) => SQL {
  const digits = text.toLowerCase().replaceAll('-', '').slice(0, 32);
  const bound = (digit: string) => digits.padEnd(32, digit);
  return (id) => sql`${id} between ${bound('0')}::uuid and ${bound('f')}::uuid`;
}

async function splitList(db: Queryable, list: OutcomeList, options: SortedOptions): Promise<Part[]> {
  const { outcome, sort, filter, from, until, order } = options;
  const stored = outcome === 'running' ? undefined : outcome;
  const asked = { filter, from, until, outcome: stored };
  const matches = sql`${matching(filter)} and ${inRange(list, options)}`;
  const part = (source: SQL, where: SQL, count: number): Part => ({
    from: source,
    where: sql`${where} and ${matches}`,
    orderBy: byTime(list),
    count,
  });
  if (sort === 'token') {
    const source = stored === undefined ? LIST_SHAPES[list].table : SETTLED[list];
    const counts =
      stored === undefined
        ? await countByToken(db, list, asked)
        : await countOutcomesBy(db, list, 'token', asked);
    const tokens = [...counts.keys()].sort();
    return (order === 'asc' ? tokens : tokens.reverse()).map((token) => {
      const isToken = sql`token = ${token}`;
      const where = stored === undefined ? isToken : sql`${isOutcome(stored)} and ${isToken}`;
      return part(source, where, counts.get(token) ?? 0);
    });
  }
  const counts = await countOutcomesBy(db, list, 'outcome', asked);
  if (stored !== undefined) {
    const one = part(SETTLED[list], isOutcome(stored), counts.get(stored) ?? 0);
    return [{ ...one, orderBy: byTime(list, sort === 'outcome' ? undefined : inDirection(options)) }];
  }
  const { running, rest } = UNSETTLED[list];
  const runningCount = await countRows(db, { from: running, where: matches });
  const settled = STORED_OUTCOMES.map((kind) => part(SETTLED[list], isOutcome(kind), counts.get(kind) ?? 0));
  const known = settled.reduce((sum, { count }) => sum + count, runningCount);
  const total = await countList(db, list, options);
  const parts = [
    part(running, sql`true`, runningCount),
    ...settled,
    part(rest, sql`true`, Math.max(total - known, 0)),
  ];
  return order === 'asc' ? parts : parts.reverse();
}

type Asked = Parameters<typeof countOutcomesBy>[3];

/** Totals of workflows do not know their tokens, but those of outcomes do, and all others are few. */
async function countByToken(db: Queryable, list: OutcomeList, asked: Asked): Promise<Map<string, number>> {
  if (list === 'signals') return await countSignalsByToken(db, asked);
  const counts = await countOutcomesBy(db, list, 'token', asked);
  for (const source of Object.values(UNSETTLED[list])) {
    const { rows } = await db.execute<{ token: string; count: number }>(sql`
      select token, count(*)::int as count from ${source}
      where ${matching(asked.filter)} and ${inRange(list, asked)} group by 1`);
    for (const { token, count } of rows) counts.set(token, (counts.get(token) ?? 0) + count);
  }
  return counts;
}

/** The ids of a page that may begin and end in any of the parts. */
async function readIds(
  db: Queryable,
  { parts, skip, limit }: { parts: readonly Part[]; skip: number; limit: number },
): Promise<string[]> {
  const pieces: SQL[] = [];
  let offset = skip;
  let left = limit;
  for (const { from, where, orderBy, count } of parts) {
    if (left === 0) break;
    const taken = Math.min(Math.max(count - offset, 0), left);
    if (taken > 0) {
      pieces.push(sql`(
        select ${sql.raw(String(pieces.length))} as part, row_number() over (order by ${orderBy}) as place, id
        from ${from} where ${where} order by ${orderBy} limit ${taken} offset ${offset})`);
    }
    left -= taken;
    offset = Math.max(offset - count, 0);
  }
  if (pieces.length === 0) return [];
  const { rows } = await db.execute<{ id: string }>(
    sql`select id from (${sql.join(pieces, sql` union all `)}) as page order by part, place`,
  );
  return rows.map(({ id }) => id);
}
