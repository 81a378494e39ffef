import { sql } from 'drizzle-orm';
import type { Db, Tx } from '#server/platform/db/database.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import { MARGIN_MS } from './add-up-list.ts';
import { ADDED_UP, type CountedList, FIRST_ID, markOf, type Part } from './counted-lists.ts';

const FORGOTTEN_AFTER = '1 day';

/**
 * An instance whose clock is behind the database's by more than the margin makes ids that lie among those that have
 * been added up, and their rows would be missing from the totals. It says so here: adding up then stays so far behind,
 * and begins anew where it had got further. Answers the lag that is allowed for because of this instance.
 */
export async function noteClockLag(
  db: Db,
  options: { idClock?: () => number; marginMs?: number } = {},
): Promise<number> {
  const { idClock = Date.now, marginMs = MARGIN_MS } = options;
  const { rows } = await db.execute<{ ms: string; allowed: string }>(sql`
    select extract(epoch from clock_timestamp()) * 1000 as ms,
      (select coalesce(sum(clock_lag_ms), 0) from counted_lists) as allowed`);
  const lagMs = Number(rows[0]?.ms ?? 0) - idClock();
  if (lagMs <= marginMs / 2) {
    if (Number(rows[0]?.allowed) > 0) {
      await db.execute(sql`
        update counted_lists set clock_lag_ms = 0
        where clock_lag_seen_at < now() - ${FORGOTTEN_AFTER}::interval`);
    }
    return 0;
  }
  const allowedMs = Math.ceil(lagMs / marginMs) * marginMs;
  await db.transaction(async (tx) => {
    for (const part of ADDED_UP) await stayBehind(tx, part, allowedMs, marginMs);
  });
  return allowedMs;
}

async function stayBehind(
  tx: Tx,
  { list, what }: { list: CountedList; what: Part },
  lagMs: number,
  marginMs: number,
): Promise<void> {
  const name = markOf(list, what);
  const { rows } = await tx.execute<{ counted_before: string; ms: string }>(sql`
    insert into counted_lists as known (list, counted_before, clock_lag_ms, clock_lag_seen_at)
    values (${name}, ${FIRST_ID}, ${lagMs}, now())
    on conflict (list) do update set
      clock_lag_ms = greatest(known.clock_lag_ms, excluded.clock_lag_ms), clock_lag_seen_at = now()
    returning counted_before, extract(epoch from clock_timestamp()) * 1000 - clock_lag_ms as ms`);
  const [mark] = rows;
  if (mark === undefined || mark.counted_before <= firstIdOf(new Date(Number(mark.ms) - marginMs))) return;
  await tx.execute(sql`update counted_lists set counted_before = ${FIRST_ID} where list = ${name}`);
  if (what === 'choices') {
    await tx.execute(sql`delete from list_choices where list = ${list}`);
    return;
  }
  await tx.execute(sql`delete from list_totals where list = ${list}`);
  await tx.execute(sql`delete from list_totals_by_month where list = ${list}`);
  if (list === 'signals') await tx.execute(sql`delete from signal_totals_by_quarter`);
}
