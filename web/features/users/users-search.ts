import type { UserSort } from '#contract/users.ts';
import { textParam } from '../../lib/search-params.ts';
import { choice, page, searchReader, text } from '../../lib/search-reader.ts';

/** The server's limit. */
export const MAX_SEARCH_LENGTH = 100;

const USER_SORTS: readonly UserSort[] = ['createdAt', 'username', 'name', 'activeTrading', 'isActive'];

export const parseUsersSearch = searchReader({
  page,
  search: (raw) => textParam(raw, 'search')?.trim().slice(0, MAX_SEARCH_LENGTH) || undefined,
  sort: choice(USER_SORTS),
  direction: choice(['asc', 'desc']),
  dialog: choice(['create', 'decisions']),
  /** Whose decisions the dialog shows. */
  user: text,
});

export type UsersSearch = ReturnType<typeof parseUsersSearch>;
