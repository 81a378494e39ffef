import { pageParam } from '../../lib/search-params.ts';

export interface UsersSearch {
  page?: number | undefined;
  /** The table shows all users; 'false' leaves the inactive ones out. */
  includeInactive?: 'false' | undefined;
  dialog?: 'create' | undefined;
}

export function parseUsersSearch(raw: Record<string, unknown>): UsersSearch {
  return {
    page: pageParam(raw),
    includeInactive: raw.includeInactive === 'false' ? 'false' : undefined,
    dialog: raw.dialog === 'create' ? 'create' : undefined,
  };
}
