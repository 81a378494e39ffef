import { choiceParam, pageParam, textParam } from '../../lib/search-params.ts';

export interface PriceLogsSearch {
  page?: number | undefined;
  token?: string | undefined;
  timeframe?: string | undefined;
  processor?: string | undefined;
  /** The price log with its parameters or chart open. */
  log?: string | undefined;
  dialog?: 'chart' | undefined;
}

export function parsePriceLogsSearch(raw: Record<string, unknown>): PriceLogsSearch {
  return {
    page: pageParam(raw),
    token: textParam(raw, 'token'),
    timeframe: textParam(raw, 'timeframe'),
    processor: textParam(raw, 'processor'),
    log: textParam(raw, 'log'),
    dialog: choiceParam(raw, 'dialog', ['chart']),
  };
}
