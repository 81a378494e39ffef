import { sql } from 'drizzle-orm';
import type { Tx } from '#server/platform/database/database.ts';
import { addUp } from './add-up-list.ts';
import { type CountedList, FIRST_ID } from './counted-lists.ts';

/**
 * Takes rows that are about to be dropped off the totals: those with ids from `from` up to `to`, not included. To be
 * called in the transaction that drops them and before it does; it reads them once. Nothing else may be done to rows
 * that have been added up.
 */
export async function forgetRows(
  tx: Tx,
  list: CountedList,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const { rows } = await tx.execute<{ counted_before: string }>(
    sql`select counted_before from counted_lists where list = ${list} for update`,
  );
  const countedBefore = rows[0]?.counted_before ?? FIRST_ID;
  const end = to < countedBefore ? to : countedBefore;
  if (end <= from) return;
  await addUp(tx, list, { from, to: end, sign: sql`-1` });
  // What occurs no more is not to be offered as a filter.
  await tx.execute(sql`delete from list_totals where list = ${list} and rows = 0`);
  await tx.execute(sql`delete from list_totals_by_month where list = ${list} and rows = 0`);
}
