import { sql } from 'drizzle-orm';
import type { Db } from '#server/platform/db/database.ts';

/** Arbitrary advisory lock key: one instance at a time adds up. */
const ADD_UP_LOCK = 6_204_812;
const ROWS_A_STEP = 20_000;

/** Of the sums over all users. */
export const EVERYBODY = '00000000-0000-0000-0000-000000000000';

const KEY = sql`grain, span, user_id, since, processor, token, timeframe, sizing_method, side`;

/**
 * Moves ended orders into their totals, in one short step. Returns false when nothing is left to do, or when another
 * instance is at it. A reader sees each order once, in whichever of the tables it is.
 */
export async function addUpOrders(db: Db, { rowsAStep = ROWS_A_STEP } = {}): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ mine: boolean }>(
      sql`select pg_try_advisory_xact_lock(${ADD_UP_LOCK}) as mine`,
    );
    if (rows[0]?.mine !== true) return false;
    const taken = await tx.execute<{ taken: number }>(sql`
      with taken as (
        delete from order_changes where ctid = any (array(select ctid from order_changes limit ${rowsAStep}))
        returning *
      ), added as (
        insert into order_totals as known (${KEY}, orders, filled)
        select grain, span, case when by_user then user_id else ${EVERYBODY}::uuid end,
          case span when 'quarter' then since else date_trunc(span, since, 'UTC') end,
          case when by_detail then processor else '' end, case when by_detail then token else '' end,
          case when by_detail then timeframe else '' end, case when by_detail then sizing_method else '' end,
          case when by_detail then side else '' end, sum(orders), sum(filled)
        from taken
        cross join (values ('quarter'), ('day'), ('month')) as spans (span)
        cross join (values ('all', false, false), ('user', true, false), ('detail', false, true),
          ('user detail', true, true)) as grains (grain, by_user, by_detail)
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9 having sum(orders) <> 0 or sum(filled) <> 0
        on conflict (${KEY}) do update set
          orders = known.orders + excluded.orders, filled = known.filled + excluded.filled
      )
      select count(*)::int as taken from taken`);
    return (taken.rows[0]?.taken ?? 0) >= rowsAStep;
  });
}
