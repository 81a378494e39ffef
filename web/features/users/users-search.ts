import type { UserSort } from '#contract/users.ts';
import { choiceParam, pageParam, textParam } from '../../lib/search-params.ts';
import { type SortDirection, USER_SORTS } from './users-order.ts';

export interface UsersSearch {
  page?: number | undefined;
  search?: string | undefined;
  sort?: UserSort | undefined;
  direction?: SortDirection | undefined;
  dialog?: 'create' | undefined;
}

/** The server takes no more. */
export const MAX_SEARCH_LENGTH = 100;

export function parseUsersSearch(raw: Record<string, unknown>): UsersSearch {
  return {
    page: pageParam(raw),
    search: textParam(raw, 'search')?.trim().slice(0, MAX_SEARCH_LENGTH) || undefined,
    sort: choiceParam(raw, 'sort', USER_SORTS),
    direction: choiceParam(raw, 'direction', ['asc', 'desc']),
    dialog: choiceParam(raw, 'dialog', ['create']),
  };
}
