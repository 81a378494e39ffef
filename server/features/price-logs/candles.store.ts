import { and, asc, desc, eq, gt, inArray, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Candle } from '#contract/charts.ts';
import type { Queryable } from '#server/platform/database/database.ts';
import { priceLogs } from '#server/platform/database/schema.ts';
import { toCandle } from './candle-figures.ts';
import { timeframeTexts } from './timeframe-texts.ts';

export interface CandleSeries {
  token: string;
  /** Compared in minutes (decisions §5). */
  timeframe: string;
  /** Administrators' candles count for every chart, those of a user's webhook for that user's own data alone. */
  hookId: string | null;
  /** Candles that name another processor are left out; null takes all. */
  processor: string | null;
}

/**
 * The candles of a series up to an instant (the newest of all without one), at most `limit` of them, oldest first.
 * Of those with the same candle time the one that arrived last holds.
 */
export async function listCandlesUntil(
  db: Queryable,
  options: { series: CandleSeries; until: Date | null; limit: number },
): Promise<Candle[]> {
  const { series, until, limit } = options;
  const rows = await db
    .selectDistinctOn([priceLogs.candleTimeServer], COLUMNS)
    .from(priceLogs)
    .where(and(belongsTo(series), until === null ? undefined : lte(priceLogs.candleTimeServer, until)))
    .orderBy(LATEST_FIRST, ...NEWEST_ARRIVAL)
    .limit(limit);
  return rows.reverse().map(toCandle);
}

/** The first candles of a series after an instant, oldest first. */
export async function listCandlesAfter(
  db: Queryable,
  options: { series: CandleSeries; after: Date; limit: number },
): Promise<Candle[]> {
  const { series, after, limit } = options;
  const rows = await db
    .selectDistinctOn([priceLogs.candleTimeServer], COLUMNS)
    .from(priceLogs)
    .where(and(belongsTo(series), gt(priceLogs.candleTimeServer, after)))
    .orderBy(EARLIEST_FIRST, ...NEWEST_ARRIVAL)
    .limit(limit);
  return rows.map(toCandle);
}

const COLUMNS = {
  candleTimeServer: priceLogs.candleTimeServer,
  price: priceLogs.price,
  parameters: priceLogs.parameters,
};
const LATEST_FIRST = desc(priceLogs.candleTimeServer);
const EARLIEST_FIRST = asc(priceLogs.candleTimeServer);
const NEWEST_ARRIVAL = [desc(priceLogs.receivedAt), desc(priceLogs.id)];

/** The rule of domain/price-log-match.ts, said in SQL: a chart may reach back over years of candles. */
function belongsTo({ token, timeframe, hookId, processor }: CandleSeries): SQL | undefined {
  const texts = timeframeTexts(timeframe);
  return and(
    eq(priceLogs.token, token),
    texts === null
      ? sql`lower(${priceLogs.timeframe}) = lower(${timeframe.trim()})`
      : inArray(priceLogs.timeframe, texts),
    hookId === null ? priceLogs.fromAdmin : or(priceLogs.fromAdmin, eq(priceLogs.hookId, hookId)),
    processor === null
      ? undefined
      : sql`(${priceLogs.processor} is null or lower(${priceLogs.processor}) = lower(${processor.trim()}))`,
  );
}
