import { sameProcessor } from '#domain/eligibility/processor.ts';
import { sameTimeframe } from '#domain/timeframe.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { listValues } from '#server/platform/db/list-totals/count-list.ts';
import type { CountedList } from '#server/platform/db/list-totals/counted-lists.ts';

const IS_SAME = { timeframe: sameTimeframe, processor: sameProcessor };

/** The spellings of a timeframe or a processor that occur in a list: seldom more than one or two. */
export async function listSpellings(
  db: Pick<Queryable, 'execute'>,
  list: CountedList,
  column: keyof typeof IS_SAME,
  text: string,
): Promise<string[]> {
  const stored = await listValues(db, list, column);
  return stored.filter((value) => IS_SAME[column](value, text));
}

/**
 * Every spelling of a filter's timeframe in the list. A single one is a plain value: only an equality uses the order of
 * an index.
 */
export async function timeframeFilter(
  db: Pick<Queryable, 'execute'>,
  list: CountedList,
  timeframe: string | undefined,
): Promise<string | string[] | undefined> {
  if (timeframe === undefined) return undefined;
  const spellings = await listSpellings(db, list, 'timeframe', timeframe);
  return spellings.length > 1 ? spellings : (spellings[0] ?? timeframe);
}
