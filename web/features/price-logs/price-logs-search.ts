import { choice, instant, page, searchReader, text } from '../../lib/search-reader.ts';

export const parsePriceLogsSearch = searchReader({
  page,
  token: text,
  timeframe: text,
  processor: text,
  from: instant,
  to: instant,
  /** The price log with its parameters or chart open. */
  log: text,
  dialog: choice(['chart']),
});

export type PriceLogsSearch = ReturnType<typeof parsePriceLogsSearch>;
