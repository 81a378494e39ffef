import type { UserSort, UsersAnswer } from '#contract/users.ts';
import type { Deps } from '#server/deps.ts';
import { toUser } from './user-rows.ts';
import { countUsers, listUsers } from './users.store.ts';

const DEFAULT_PAGE_SIZE = 10;

interface UsersRequest {
  page?: number | undefined;
  limit?: number | undefined;
  includeInactive: boolean;
  search?: string | undefined;
  sort?: UserSort | undefined;
  direction: 'asc' | 'desc';
}

/** A page of users; without page and limit every user, inactive ones included. */
export async function listUsersPage(deps: Pick<Deps, 'db'>, query: UsersRequest): Promise<UsersAnswer> {
  const { search, direction } = query;
  const order = query.sort === undefined ? undefined : { sort: query.sort, direction };
  if (query.page === undefined && query.limit === undefined) {
    const everyone = await listUsers(deps.db, { includeInactive: true, search, order });
    return { users: everyone.map((row) => toUser(row.user, row.settings)), total: everyone.length };
  }
  const { page = 1, limit = DEFAULT_PAGE_SIZE, includeInactive } = query;
  const [rows, total] = await Promise.all([
    listUsers(deps.db, { includeInactive, search, order, page: { limit, offset: (page - 1) * limit } }),
    countUsers(deps.db, { includeInactive, search }),
  ]);
  return { users: rows.map((row) => toUser(row.user, row.settings)), total };
}
