import { sameProcessor } from '#domain/processor.ts';
import { sameTimeframe } from '#domain/timeframe.ts';
import { listValues } from '#server/features/list-totals/count-list.ts';
import type { Queryable } from '#server/platform/database/database.ts';

const IS_SAME = { timeframe: sameTimeframe, processor: sameProcessor };

/** In which ways a timeframe or a processor is written among the stored price logs: seldom more than one or two. */
export async function listSpellings(
  db: Pick<Queryable, 'execute'>,
  column: keyof typeof IS_SAME,
  text: string,
): Promise<string[]> {
  const stored = await listValues(db, 'price-logs', column);
  return stored.filter((value) => IS_SAME[column](value, text));
}
