import { useQuery } from '@tanstack/react-query';

/** Names of all users, refetched for each dialog that needs them. */
export const useAllUsers = () =>
  useQuery<{ id: string; username: string }[]>({ queryKey: ['/api/users'], staleTime: 0 });
