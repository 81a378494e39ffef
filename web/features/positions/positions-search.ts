import { choice, searchReader, text } from '../../lib/search-reader.ts';

/** Closed positions shown initially, and after 'Show more', which is the server's limit. */
export const CLOSED_SHOWN = 100;
export const CLOSED_SHOWN_AT_MOST = 1000;

export const parsePositionsSearch = searchReader({
  userId: text,
  token: text,
  /** How open positions are grouped; not at all without it. */
  group: choice(['token', 'user', 'strategy']),
  /** The open position whose panel is shown. */
  position: text,
  limit: ({ limit }) => (limit === String(CLOSED_SHOWN_AT_MOST) ? CLOSED_SHOWN_AT_MOST : undefined),
});

export type PositionsSearch = ReturnType<typeof parsePositionsSearch>;
export type PositionsGroup = NonNullable<PositionsSearch['group']>;
