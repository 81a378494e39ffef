import { sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { readCounted } from './count-list.ts';
import {
  ADMINISTRATORS,
  type ChoiceColumn,
  type ChoiceList,
  dimension,
  LIST_SHAPES,
  markOf,
} from './counted-lists.ts';

/** Nobody can look through a longer list; the addresses of lists take any value. */
export const MOST_CHOICES = 50;

/**
 * The values of a column that are offered to a user, in order: the fifty most frequent of those that administrators and
 * the user sent. Values of other users work as filters but fill nobody's lists.
 */
export async function listChoices(
  db: Pick<Queryable, 'execute'>,
  list: ChoiceList,
  column: ChoiceColumn,
  viewerId: string,
): Promise<string[]> {
  const name = dimension(column);
  const mostOf = (audience: string) => sql`(
    select value, rows from list_choices
    where list = ${list} and "column" = ${column} and audience = ${audience}
    order by rows desc, value limit ${MOST_CHOICES})`;
  const rows = await readCounted<{ value: string }>(
    db,
    markOf(list, 'choices'),
    (before) => sql`
      select value from (
        ${mostOf(ADMINISTRATORS)}
        union all ${mostOf(viewerId)}
        union all (
          select ${name}, count(*) from ${LIST_SHAPES[list].table}
          where id >= ${before} and ${name} > '' and (from_admin or owner_user_id = ${viewerId})
          group by 1)
      ) as seen (value, rows)
      group by value order by sum(rows) desc, value limit ${MOST_CHOICES}`,
  );
  return rows.map(({ value }) => value).sort();
}
