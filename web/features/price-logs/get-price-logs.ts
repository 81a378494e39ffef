import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { PRICE_LOGS_PAGE_SIZE, PriceLogsAnswer } from '#contract/price-logs.ts';
import { requestJson } from '../../lib/api-client.ts';
import { usePoll } from '../../lib/live/live-context.tsx';
import type { PriceLogsSearch } from './price-logs-search.ts';

export const priceLogsPath = '/api/price-logs';
export const PAGE_SIZE: typeof PRICE_LOGS_PAGE_SIZE = 100;

const REFRESH_MS = 30_000;

export function usePriceLogs({ page, token, timeframe, processor }: PriceLogsSearch) {
  const params = { page: page ?? 1, limit: PAGE_SIZE, token, timeframe, processor };
  return useQuery({
    queryKey: [priceLogsPath, params],
    queryFn: ({ signal }) => requestJson<PriceLogsAnswer>(priceLogsPath, { params, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: usePoll(REFRESH_MS),
  });
}
