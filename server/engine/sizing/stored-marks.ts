import { type SQL, sql } from 'drizzle-orm';
import type { Mark, MarkSource } from '#server/exchanges/paper/mark-source.ts';
import { runNamed } from '#server/platform/db/drizzle-over.ts';
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
        ? runNamed<TokenMarkRow>(db, { text: NEWEST_FOR_ALL, values: [[...tokens]] })
        : runNamed<TokenMarkRow>(db, { text: NEWEST_FOR_USER, values: [[...tokens], userId] }));
      return new Map(rows.map((row) => [row.token, toMark(row)]));
    },
    async since(token, cursor, { db, userId }) {
      const after = cursor ?? BEFORE_ALL;
      const { rows } = await (userId === null
        ? runNamed<MarkRow>(db, { text: SINCE_FOR_ALL, values: [token, after] })
        : runNamed<MarkRow>(db, { text: SINCE_FOR_USER, values: [token, after, userId] }));
      return rows.map(toMark);
    },
    moved: { condition: hasMoved },
    async tokens({ db }) {
      const lists = [await listValues(db, 'price-logs', 'token'), await listValues(db, 'signals', 'token')];
      return [...new Set(lists.flat())].sort();
    },
  };
}

const FOR_ALL = 'from_admin';
const forUser = (userId: string) => `(from_admin or owner_user_id = ${userId}::uuid)`;

// Query each table in its own index order: over a union PostgreSQL would read and sort both whole.
function marksOf(options: {
  token: string;
  visible: string;
  after: string;
  order: string;
  limit: number;
}): string {
  const { token, visible, after, order, limit } = options;
  const from = (table: string) => `(
    select id, price, received_at from ${table}
    where ${table}.token = ${token} and ${visible} and ${after}
    order by ${order} limit ${limit})`;
  return `${from('price_logs')} union all ${from('signals')} order by ${order} limit ${limit}`;
}

const newest = (visible: string): string => `
  select asked.token, mark.id, mark.price, mark.received_at
  -- Hides the list's length from the planner, which would otherwise replan over all partitions each time.
  from unnest((select $1::text[])) as asked (token)
  cross join lateral (
    ${marksOf({ token: 'asked.token', visible, after: 'true', order: 'id desc', limit: 1 })}
  ) as mark`;
const NEWEST_FOR_ALL = newest(FOR_ALL);
const NEWEST_FOR_USER = newest(forUser('$2'));

const since = (visible: string): string =>
  marksOf({ token: '$1', visible, after: 'id > $2::uuid', order: 'id', limit: PAGE });
const SINCE_FOR_ALL = since(FOR_ALL);
const SINCE_FOR_USER = since(forUser('$3'));

function hasMoved({ token, cursor, userId }: { token: SQL; cursor: SQL; userId: SQL }): SQL {
  const from = sql`coalesce(${cursor}::uuid, ${sql.raw(`'${BEFORE_ALL}'`)})`;
  const isIn = (table: SQL) => sql`exists (
    select from ${table} as mark where mark.token = ${token} and (from_admin or owner_user_id = ${userId})
      and mark.id > ${from})`;
  return sql`(${isIn(sql`price_logs`)} or ${isIn(sql`signals`)})`;
}

// The row type of a raw query has no column types: node-postgres returns dates as Date, numerics as text.
type MarkRow = { id: string; price: string; received_at: Date | string };
type TokenMarkRow = MarkRow & { token: string };

const toMark = (row: MarkRow): Mark => ({ price: row.price, at: new Date(row.received_at), cursor: row.id });
