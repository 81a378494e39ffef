import { sql } from 'drizzle-orm';
import type { Mark, MarkSource } from '#server/exchanges/paper/mark-source.ts';

const PAGE = 500;

/**
 * The paper exchange's prices: the close of every stored candle and the price of every stored signal, in the order
 * of their arrival. Administrators' data counts for everyone, a user's own for that user alone (decisions §11).
 */
export function storedMarks(): MarkSource {
  const marksOf = (token: string, userId: string | null) => {
    const visible = userId === null ? sql`from_admin` : sql`(from_admin or owner_user_id = ${userId})`;
    return sql`
      select id, price, received_at from price_logs where token = ${token} and ${visible}
      union all
      select id, price, received_at from signals where token = ${token} and ${visible}`;
  };
  return {
    async newest(token, { db, userId }) {
      const { rows } = await db.execute<MarkRow>(
        sql`select * from (${marksOf(token, userId)}) marks order by id desc limit 1`,
      );
      return rows[0] === undefined ? null : toMark(rows[0]);
    },
    async since(token, cursor, { db, userId }) {
      const after = cursor === null ? sql`true` : sql`id > ${cursor}::uuid`;
      const { rows } = await db.execute<MarkRow>(
        sql`select * from (${marksOf(token, userId)}) marks where ${after} order by id limit ${PAGE}`,
      );
      return rows.map(toMark);
    },
    async tokens({ db }) {
      const { rows } = await db.execute<{ token: string }>(
        sql`select distinct token from price_logs union select distinct token from signals order by token`,
      );
      return rows.map(({ token }) => token);
    },
  };
}

// The row type of a raw query has no column types: node-postgres gives dates as Date, numerics as text.
type MarkRow = { id: string; price: string; received_at: Date | string };

const toMark = (row: MarkRow): Mark => ({ price: row.price, at: new Date(row.received_at), cursor: row.id });
