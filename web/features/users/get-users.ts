import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { UsersAnswer } from '#contract/users.ts';
import { requestJson } from '../../lib/api-client.ts';
import type { UsersSearch } from './users-search.ts';

export const USERS_PAGE_SIZE = 10;

export const usersPath = '/api/admin/users';

interface ListedUsers extends UsersSearch {
  includeInactive: boolean;
}

const usersQuery = ({ page, includeInactive, search, sort, direction }: ListedUsers) => {
  const params = {
    page: page ?? 1,
    limit: USERS_PAGE_SIZE,
    includeInactive,
    search,
    ...(sort === undefined ? {} : { sort, direction }),
  };
  return queryOptions({
    queryKey: [usersPath, params],
    queryFn: ({ signal }) => requestJson<UsersAnswer>(usersPath, { params, signal }),
    placeholderData: keepPreviousData,
  });
};

/** A page of the users; the former one stays until it is there. */
export const useUsers = (listed: ListedUsers) => useQuery(usersQuery(listed));
