import type { UsersAnswer } from '#contract/users.ts';
import type { Deps } from '#server/deps.ts';
import { toUser } from './user-rows.ts';
import { countUsers, listUsers } from './users.store.ts';

const DEFAULT_PAGE_SIZE = 10;

/** A page of users; without page and limit every user, inactive ones included (decisions §3). */
export async function listUsersPage(
  deps: Pick<Deps, 'db'>,
  query: { page?: number | undefined; limit?: number | undefined; includeInactive: boolean },
): Promise<UsersAnswer> {
  if (query.page === undefined && query.limit === undefined) {
    const everyone = await listUsers(deps.db, { includeInactive: true });
    return { users: everyone.map((row) => toUser(row.user, row.settings)), total: everyone.length };
  }
  const { page = 1, limit = DEFAULT_PAGE_SIZE, includeInactive } = query;
  const [rows, total] = await Promise.all([
    listUsers(deps.db, { includeInactive, page: { limit, offset: (page - 1) * limit } }),
    countUsers(deps.db, { includeInactive }),
  ]);
  return { users: rows.map((row) => toUser(row.user, row.settings)), total };
}
