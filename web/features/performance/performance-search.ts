import { choice, page, searchReader, text } from '../../lib/search-reader.ts';

const day = (raw: Record<string, unknown>, name: string): string | undefined => {
  const value = text(raw, name);
  return value !== undefined && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined;
};

/** The last 30 days without a range. Chosen days, both included, override the range. */
export const parsePerformanceSearch = searchReader({
  range: choice(['today', '7d', '90d', 'all']),
  fromDay: day,
  toDay: day,
  userId: text,
  processor: text,
  token: text,
  by: choice(['user', 'token', 'timeframe', 'sizingMethod', 'side', 'hour', 'weekday']),
  sort: choice(['net', 'r']),
  order: choice(['asc']),
  page,
});
export type PerformanceSearch = ReturnType<typeof parsePerformanceSearch>;
