import { z } from 'zod';
import { filterInstant, filterText, pagingQuery, timeQuery } from './paging.ts';

export const PRICE_LOGS_PAGE_SIZE = 100;

export const priceLog = z.object({
  id: z.string(),
  token: z.string(),
  timeframe: z.string(),
  price: z.string(),
  currency: z.string(),
  processor: z.string().nullable(),
  candleTimeTradingview: z.string(),
  candleTimeServer: z.string(),
  receivedAt: z.string(),
  sourceIp: z.string(),
  hashValue: z.string(),
  parameters: z.record(z.string(), z.unknown()),
});
export type PriceLog = z.infer<typeof priceLog>;

export const priceLogsQuery = pagingQuery(PRICE_LOGS_PAGE_SIZE).extend({
  ...timeQuery.shape,
  token: filterText,
  timeframe: filterText,
  processor: filterText,
  /** Only rows received up to this instant, so new arrivals do not shift the pages. */
  until: filterInstant,
});
export const priceLogsAnswer = z.object({ priceLogs: z.array(priceLog), total: z.number() });
export type PriceLogsAnswer = z.infer<typeof priceLogsAnswer>;

/** GET /api/price-logs/hash/{hashValue}: a price log with the candle's figures at the top level. */
export const priceLogDetail = priceLog.extend({
  open: z.string().nullable(),
  high: z.string().nullable(),
  low: z.string().nullable(),
  close: z.string().nullable(),
  volume: z.string().nullable(),
  timestamp: z.string(),
  received_at: z.string(),
});
export type PriceLogDetail = z.infer<typeof priceLogDetail>;

export const hashParams = z.object({
  hashValue: z.string().regex(/^[0-9a-f]{64}$/, 'A hash is 64 hexadecimal digits'),
});

export const stringList = z.array(z.string());
