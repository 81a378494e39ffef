import { sql } from 'drizzle-orm';
import type { Db } from '#server/platform/db/database.ts';
import { ALL_MONTHS } from './count-outcomes.ts';

/** Arbitrary advisory lock key: one instance at a time adds up. */
const ADD_UP_LOCK = 6_204_811;
const ROWS_A_STEP = 20_000;

const OTHERS = sql`token, action, processor, timeframe, status`;
const KEY = sql`list, outcome, month, ${OTHERS}`;

/**
 * Moves changes of outcomes into their totals, in one short step. Returns false when nothing is left to do, or when
 * another instance is at it. A reader sees each change once, in whichever of the tables it is.
 */
export async function addUpOutcomes(db: Db, { rowsAStep = ROWS_A_STEP } = {}): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ mine: boolean }>(
      sql`select pg_try_advisory_xact_lock(${ADD_UP_LOCK}) as mine`,
    );
    if (rows[0]?.mine !== true) return false;
    const taken = await tx.execute<{ taken: number }>(sql`
      with taken as (
        delete from list_outcome_changes
        where ctid = any (array(select ctid from list_outcome_changes limit ${rowsAStep}))
        returning *
      ), added as (
        insert into list_outcome_totals as known (${KEY}, rows)
        select list, outcome, since, ${OTHERS}, sum(rows)
        from taken cross join lateral (values (month), (${ALL_MONTHS})) as part (since)
        group by list, outcome, since, ${OTHERS} having sum(rows) <> 0
        on conflict (${KEY}) do update set rows = known.rows + excluded.rows
      )
      select count(*)::int as taken from taken`);
    return (taken.rows[0]?.taken ?? 0) >= rowsAStep;
  });
}
