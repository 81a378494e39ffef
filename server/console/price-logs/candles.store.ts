import { and, asc, desc, eq, gt, inArray, isNull, lte, or, type SQL } from 'drizzle-orm';
import type { Candle } from '#contract/charts.ts';
import { isDecimal, largest, parsePositiveNumber, smallest, toPlain } from '#domain/decimal.ts';
import { listSpellings } from '#server/console/price-logs/spellings.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { priceLogs } from '#server/platform/db/schema.ts';

export interface CandleSeries {
  token: string;
  /** Compared in minutes. */
  timeframe: string;
  /** Also includes candles of this webhook. Every chart shows administrators' candles. */
  hookId: string | null;
  /** Leaves out candles that name another processor; null includes all. */
  processor: string | null;
}

/** A series with every stored spelling of its timeframe and its processor. */
export interface StoredSeries extends Pick<CandleSeries, 'token' | 'hookId'> {
  timeframes: readonly string[];
  /** Candles without a processor are always included; null includes all. */
  processors: readonly string[] | null;
}

export async function findSeries(db: Queryable, series: CandleSeries): Promise<StoredSeries> {
  const { token, hookId, timeframe, processor } = series;
  const [timeframes, processors] = await Promise.all([
    listSpellings(db, 'price-logs', 'timeframe', timeframe),
    processor === null ? null : listSpellings(db, 'price-logs', 'processor', processor),
  ]);
  return { token, hookId, timeframes, processors };
}

/**
 * The last candles of a series up to an instant (null: up to now), at most `limit`, oldest first. Of candles with the same
 * candle time, the one that arrived last wins.
 */
export async function listCandlesUntil(
  db: Queryable,
  options: { series: StoredSeries; until: Date | null; limit: number },
): Promise<Candle[]> {
  const { series, until, limit } = options;
  const within = until === null ? undefined : lte(priceLogs.candleTimeServer, until);
  const rows = await readSeries(db, { series, within, direction: 'back', limit });
  return rows.reverse().map(toCandle);
}

/** The first candles of a series after an instant, oldest first. */
export async function listCandlesAfter(
  db: Queryable,
  options: { series: StoredSeries; after: Date; limit: number },
): Promise<Candle[]> {
  const { series, after, limit } = options;
  const within = gt(priceLogs.candleTimeServer, after);
  const rows = await readSeries(db, { series, within, direction: 'on', limit });
  return rows.map(toCandle);
}

const COLUMNS = {
  candleTimeServer: priceLogs.candleTimeServer,
  price: priceLogs.price,
  parameters: priceLogs.parameters,
  receivedAt: priceLogs.receivedAt,
  id: priceLogs.id,
};
type Row = Pick<typeof priceLogs.$inferSelect, keyof typeof COLUMNS>;

/**
 * Reads each spelling of the timeframe separately, in index order, and merges the first rows: a daily chart may reach
 * back over years of one-minute candles.
 */
async function readSeries(
  db: Queryable,
  options: { series: StoredSeries; within: SQL | undefined; direction: 'back' | 'on'; limit: number },
): Promise<Row[]> {
  const { series, within, direction, limit } = options;
  const order = direction === 'back' ? desc(priceLogs.candleTimeServer) : asc(priceLogs.candleTimeServer);
  const found = await Promise.all(
    series.timeframes.map((timeframe) =>
      db
        .selectDistinctOn([priceLogs.candleTimeServer], COLUMNS)
        .from(priceLogs)
        .where(and(eq(priceLogs.timeframe, timeframe), belongsTo(series), within))
        .orderBy(order, desc(priceLogs.receivedAt), desc(priceLogs.id))
        .limit(limit),
    ),
  );
  const sign = direction === 'back' ? -1 : 1;
  const inOrder = found.flat().sort((a, b) => sign * compareTimes(a, b) || compareArrivals(b, a));
  const holding = new Map<number, Row>();
  for (const row of inOrder) {
    const time = row.candleTimeServer.getTime();
    if (!holding.has(time)) holding.set(time, row);
  }
  return [...holding.values()].slice(0, limit);
}

const belongsTo = ({ token, hookId, processors }: StoredSeries): SQL | undefined =>
  and(
    eq(priceLogs.token, token),
    hookId === null ? priceLogs.fromAdmin : or(priceLogs.fromAdmin, eq(priceLogs.hookId, hookId)),
    processors === null
      ? undefined
      : or(isNull(priceLogs.processor), inArray(priceLogs.processor, [...processors])),
  );

const compareTimes = (a: Row, b: Row): number => a.candleTimeServer.getTime() - b.candleTimeServer.getTime();
const compareArrivals = (a: Row, b: Row): number =>
  a.receivedAt.getTime() - b.receivedAt.getTime() || (a.id < b.id ? -1 : 1);

type Figures = Record<string, unknown>;

/** Reads a figure of a candle by case-insensitive name; null unless it is a decimal. */
export function figureReader(parameters: Figures): (name: string) => string | null {
  const figures = new Map(Object.entries(parameters).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = figures.get(name);
    const text = typeof value === 'number' ? String(value) : value;
    return typeof text === 'string' && isDecimal(text) ? toPlain(text) : null;
  };
}

/**
 * The bar of a stored candle. Open, high and low come from the charting platform and may be absent or unusable: the close
 * replaces a missing open, and a missing high or low is taken from open and close.
 */
function toCandle(row: { candleTimeServer: Date; price: string; parameters: Figures }): Candle {
  const figure = figureReader(row.parameters);
  const price = (name: string) => {
    const text = figure(name);
    const parsed = text === null ? null : parsePositiveNumber(text);
    return parsed?.ok ? parsed.value : null;
  };
  const close = toPlain(row.price);
  const open = price('open') ?? close;
  return {
    time: row.candleTimeServer.toISOString(),
    open,
    high: price('high') ?? toPlain(largest(open, close)),
    low: price('low') ?? toPlain(smallest(open, close)),
    close,
  };
}
