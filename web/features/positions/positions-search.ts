import { textParam } from '../../lib/search-params.ts';

/** Closed positions shown initially, and after 'Show more', which is the server's limit. */
export const CLOSED_SHOWN = 100;
export const CLOSED_SHOWN_AT_MOST = 1000;

export interface PositionsSearch {
  userId?: string | undefined;
  token?: string | undefined;
  limit?: typeof CLOSED_SHOWN_AT_MOST | undefined;
}

export function parsePositionsSearch(raw: Record<string, unknown>): PositionsSearch {
  return {
    userId: textParam(raw, 'userId'),
    token: textParam(raw, 'token'),
    limit: raw.limit === String(CLOSED_SHOWN_AT_MOST) ? CLOSED_SHOWN_AT_MOST : undefined,
  };
}
