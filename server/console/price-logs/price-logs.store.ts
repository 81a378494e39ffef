import { desc, eq, inArray, lte } from 'drizzle-orm';
import { timeframeFilter } from '#server/engine/sizing/spellings.ts';
import type { PriceLogRow } from '#server/ingest/stored-price-logs.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { countList } from '#server/platform/db/list-totals/count-list.ts';
import { readPage } from '#server/platform/db/list-totals/read-page.ts';
import { priceLogs } from '#server/platform/db/schema.ts';

export interface PriceLogFilter {
  token?: string | undefined;
  timeframe?: string | undefined;
  processor?: string | undefined;
  until?: Date | undefined;
}

/** One page, newest first, and the total number of matching rows. */
export async function listPriceLogs(
  db: Queryable,
  options: { filter: PriceLogFilter; page: number; limit: number; now: Date },
): Promise<{ rows: PriceLogRow[]; total: number }> {
  const { page, limit, now } = options;
  const { until, ...values } = options.filter;
  const timeframe = await timeframeFilter(db, 'price-logs', values.timeframe);
  const filter = { ...values, timeframe };
  const total = await countList(db, 'price-logs', { filter, until, now });
  const rows = await readPage(db, {
    table: priceLogs,
    where: [
      filter.token === undefined ? undefined : eq(priceLogs.token, filter.token),
      timeframe === undefined
        ? undefined
        : typeof timeframe === 'string'
          ? eq(priceLogs.timeframe, timeframe)
          : inArray(priceLogs.timeframe, timeframe),
      filter.processor === undefined ? undefined : eq(priceLogs.processor, filter.processor),
      until === undefined ? undefined : lte(priceLogs.receivedAt, until),
    ],
    order: [desc(priceLogs.receivedAt), desc(priceLogs.id)],
    page,
    limit,
  });
  return { rows, total };
}
