import { type SQL, sql } from 'drizzle-orm';
import type { OrderCounts } from '#domain/results/figures.ts';
import type { Db } from '#server/platform/db/database.ts';
import { coverRange, ORDER_SPANS, type Range } from './cover-range.ts';
import {
  type Grouping,
  isInstant,
  isOfGrain,
  keyOf,
  matching,
  type Trades,
  textOfKey,
} from './performance.store.ts';

/** How many orders that were begun in the range have ended, and how many of them were filled, by group. */
export async function countOrders(
  db: Db,
  orders: Trades,
  grouping: Omit<Grouping, 'isWholeHours'>,
): Promise<Map<string, OrderCounts>> {
  const isByTime = grouping.by === 'hour' || grouping.by === 'weekday';
  const counted = (rows: SQL, at: SQL, range: Range) => sql`
    select ${keyOf({ ...grouping, isWholeHours: true }, at)} as key, sum(orders) as orders, sum(filled) as filled
    from ${rows} and ${isInstant(at, range)} and ${matching(orders)} group by 1`;
  const since = sql`since`;
  const parts = coverRange(orders, isByTime ? ['quarter'] : ORDER_SPANS).flatMap((piece) =>
    piece.source === 'trades'
      ? [counted(sql`counted_orders where orders = 1`, sql`created_at`, piece)]
      : [
          counted(
            sql`order_totals where ${isOfGrain(orders, grouping.by)} and span = ${piece.source}`,
            since,
            piece,
          ),
          counted(sql`order_changes where true`, since, piece),
        ],
  );
  if (parts.length === 0) return new Map();
  const { rows } = await db.execute<{ key: string; orders: number; filled: number }>(sql`
    select ${textOfKey(grouping)} as key, sum(orders)::int as orders, sum(filled)::int as filled
    from (${sql.join(parts, sql` union all `)}) as parts group by parts.key having sum(orders) > 0`);
  return new Map(rows.map(({ key, ...counts }) => [key, counts]));
}
