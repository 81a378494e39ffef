import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { UsersAnswer } from '#contract/users.ts';
import { requestJson } from '../../lib/api-client.ts';

/** Part 1 §9. */
export const USERS_PAGE_SIZE = 10;

export const usersPath = '/api/admin/users';

const usersQuery = (options: { page: number; includeInactive: boolean }) => {
  const params = { page: options.page, limit: USERS_PAGE_SIZE, includeInactive: options.includeInactive };
  return queryOptions({
    queryKey: [usersPath, params],
    queryFn: ({ signal }) => requestJson<UsersAnswer>(usersPath, { params, signal }),
    placeholderData: keepPreviousData,
  });
};

export const useUsers = (options: { page: number; includeInactive: boolean }) =>
  useQuery(usersQuery(options));
