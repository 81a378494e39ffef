import { type SQL, sql } from 'drizzle-orm';
import type { Mark, MarkSource } from '#server/exchanges/paper/mark-source.ts';
import { listValues } from '#server/features/list-totals/count-list.ts';

const PAGE = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/**
 * The paper exchange's prices: the close of every stored candle and the price of every stored signal, in the order
 * of their arrival. Administrators' data counts for everyone, a user's own for that user alone (decisions §11).
 */
export function storedMarks(): MarkSource {
  // Each table by itself in the order of its index: over both at once PostgreSQL would read and sort them whole.
  const marksOf = (options: { token: SQL; userId: string | null; after: SQL; order: SQL; limit: number }) => {
    const { token, userId, after, order, limit } = options;
    const from = (table: SQL) => sql`(
      select id, price, received_at from ${table}
      where ${table}.token = ${token} and ${visibleTo(userId)} and ${after}
      order by ${order} limit ${limit})`;
    return sql`${from(sql`price_logs`)} union all ${from(sql`signals`)} order by ${order} limit ${limit}`;
  };
  return {
    async newest(tokens, { db, userId }) {
      if (tokens.length === 0) return new Map();
      const token = sql`asked.token`;
      const { rows } = await db.execute<MarkRow & { token: string }>(sql`
        select asked.token, mark.id, mark.price, mark.received_at
        from unnest(${hidden(tokens, 'text')}) as asked (token)
        cross join lateral (
          ${marksOf({ token, userId, after: sql`true`, order: sql`id desc`, limit: 1 })}
        ) as mark`);
      return new Map(rows.map((row) => [row.token, toMark(row)]));
    },
    async since(token, cursor, { db, userId }) {
      const after = cursor === null ? sql`true` : sql`id > ${cursor}::uuid`;
      const { rows } = await db.execute<MarkRow>(
        marksOf({ token: sql`${token}`, userId, after, order: sql`id`, limit: PAGE }),
      );
      return rows.map(toMark);
    },
    async moved(cursors, { db, userId }) {
      const isNewer = (table: SQL) => sql`exists (
        select from ${table} as mark where mark.token = known.token and ${visibleTo(userId)} and mark.id > known.cursor)`;
      const { rows } = await db.execute<{ token: string }>(sql`
        select token from unnest(
          ${hidden([...cursors.keys()], 'text')},
          ${hidden(
            [...cursors.values()].map((cursor) => cursor ?? BEFORE_ALL),
            'uuid',
          )}
        ) as known (token, cursor)
        where ${isNewer(sql`price_logs`)} or ${isNewer(sql`signals`)}`);
      return new Set(rows.map(({ token }) => token));
    },
    async tokens({ db }) {
      const lists = [await listValues(db, 'price-logs', 'token'), await listValues(db, 'signals', 'token')];
      return [...new Set(lists.flat())].sort();
    },
  };
}

const visibleTo = (userId: string | null): SQL =>
  userId === null ? sql`from_admin` : sql`(from_admin or owner_user_id = ${userId})`;

/**
 * An array whose length the planner cannot see. Seeing it, it expects less than from an array of any length, and plans
 * each time anew over all partitions, which takes twice as long as the query itself.
 */
const hidden = (values: readonly string[], type: 'text' | 'uuid'): SQL =>
  sql`(select ${sql.param([...values])}::${sql.raw(type)}[])`;

// The row type of a raw query has no column types: node-postgres gives dates as Date, numerics as text.
type MarkRow = { id: string; price: string; received_at: Date | string };

const toMark = (row: MarkRow): Mark => ({ price: row.price, at: new Date(row.received_at), cursor: row.id });
