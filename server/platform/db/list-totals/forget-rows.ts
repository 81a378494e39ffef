import { sql } from 'drizzle-orm';
import type { Tx } from '#server/platform/db/database.ts';
import { addUp, addUpChoices } from './add-up-list.ts';
import { ADDED_UP, type CountedList, FIRST_ID, markOf, type Part } from './counted-lists.ts';

interface Ids {
  from: string;
  to: string;
}

/**
 * Takes rows that are about to be dropped off the totals and choices: those with ids from `from` up to `to`, not
 * included. To be called in the transaction that drops them and before it does; it reads them once for each. Nothing
 * else may be done to rows that have been added up.
 */
export async function forgetRows(tx: Tx, list: CountedList, ids: Ids): Promise<void> {
  for (const part of ADDED_UP) if (part.list === list) await forgetPart(tx, part, ids);
  // What occurs no more is not to be offered as a filter.
  for (const table of ['list_totals', 'list_totals_by_month', 'list_choices']) {
    await tx.execute(sql`delete from ${sql.identifier(table)} where list = ${list} and rows = 0`);
  }
}

async function forgetPart(
  tx: Tx,
  { list, what }: { list: CountedList; what: Part },
  { from, to }: Ids,
): Promise<void> {
  const { rows } = await tx.execute<{ counted_before: string }>(
    sql`select counted_before from counted_lists where list = ${markOf(list, what)} for update`,
  );
  const countedBefore = rows[0]?.counted_before ?? FIRST_ID;
  const end = to < countedBefore ? to : countedBefore;
  if (end <= from) return;
  const add = what === 'totals' ? addUp : addUpChoices;
  await add(tx, list, { from, to: end, sign: sql`-1` });
}
