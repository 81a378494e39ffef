import { type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { Mark, MarkSource } from '#server/exchanges/paper/mark-source.ts';
import { writtenOnce } from '#server/platform/db/built-once.ts';
import { listValues } from '#server/platform/db/list-totals/count-list.ts';

const PAGE = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/**
 * The paper exchange's prices: stored candles and signals in order of arrival. Administrators' data counts for everyone,
 * a user's own only for that user.
 */
export function storedMarks(): MarkSource {
  return {
    async newest(tokens, { db, userId }) {
      if (tokens.length === 0) return new Map();
      const { rows } = await (userId === null
        ? newestForAll(db, { tokens: [...tokens] })
        : newestForUser(db, { tokens: [...tokens], userId }));
      return new Map(rows.map((row) => [row.token, toMark(row)]));
    },
    async since(token, cursor, { db, userId }) {
      const after = cursor === null ? sql`true` : sql`id > ${cursor}::uuid`;
      const { rows } = await db.execute<MarkRow>(
        marksOf({ token: sql`${token}`, viewer: userId, after, order: sql`id`, limit: PAGE }),
      );
      return rows.map(toMark);
    },
    moved: { condition: hasMoved },
    async tokens({ db }) {
      const lists = [await listValues(db, 'price-logs', 'token'), await listValues(db, 'signals', 'token')];
      return [...new Set(lists.flat())].sort();
    },
  };
}

type Viewer = string | Placeholder | SQL | null;
type OfUser = { userId: string };

const visibleTo = (viewer: Viewer): SQL =>
  viewer === null ? sql`from_admin` : sql`(from_admin or owner_user_id = ${viewer})`;

// Query each table in its own index order: over a union PostgreSQL would read and sort both whole.
function marksOf(options: { token: SQL; viewer: Viewer; after: SQL; order: SQL; limit: number }): SQL {
  const { token, viewer, after, order, limit } = options;
  const from = (table: SQL) => sql`(
    select id, price, received_at from ${table}
    where ${table}.token = ${token} and ${visibleTo(viewer)} and ${after}
    order by ${order} limit ${limit})`;
  return sql`${from(sql`price_logs`)} union all ${from(sql`signals`)} order by ${order} limit ${limit}`;
}

/** Hides the array's length from the planner, which would otherwise replan over all partitions each time. */
const hidden = (values: Placeholder): SQL => sql`(select ${values}::text[])`;

type Tokens = { tokens: string[] };
const newestMarks = (tokens: Placeholder, viewer: Viewer): SQL => sql`
  select asked.token, mark.id, mark.price, mark.received_at
  from unnest(${hidden(tokens)}) as asked (token)
  cross join lateral (
    ${marksOf({ token: sql`asked.token`, viewer, after: sql`true`, order: sql`id desc`, limit: 1 })}
  ) as mark`;
const newestForAll = writtenOnce<Tokens>()<TokenMarkRow>((value) => newestMarks(value('tokens'), null));
const newestForUser = writtenOnce<Tokens & OfUser>()<TokenMarkRow>((value) =>
  newestMarks(value('tokens'), value('userId')),
);

function hasMoved({ token, cursor, userId }: { token: SQL; cursor: SQL; userId: SQL }): SQL {
  const from = sql`coalesce(${cursor}::uuid, ${sql.raw(`'${BEFORE_ALL}'`)})`;
  const isIn = (table: SQL) => sql`exists (
    select from ${table} as mark where mark.token = ${token} and ${visibleTo(userId)} and mark.id > ${from})`;
  return sql`(${isIn(sql`price_logs`)} or ${isIn(sql`signals`)})`;
}

// The row type of a raw query has no column types: node-postgres returns dates as Date, numerics as text.
type MarkRow = { id: string; price: string; received_at: Date | string };
type TokenMarkRow = MarkRow & { token: string };

const toMark = (row: MarkRow): Mark => ({ price: row.price, at: new Date(row.received_at), cursor: row.id });
