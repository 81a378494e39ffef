import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../lib/session.ts';

interface UserName {
  id: string;
  username: string;
}

/** All users for administrators; nobody but themselves for others. */
export function useUsers() {
  const { user } = useSession();
  const query = useQuery<UserName[]>({ queryKey: ['/api/users'], enabled: user.isAdmin === true });
  return { users: user.isAdmin ? (query.data ?? []) : [user], isError: query.isError };
}

/** The name of a user; the beginning of the id while it is not known. */
export function useUserNames(): (userId: string) => string {
  const { users } = useUsers();
  return (userId) => users.find(({ id }) => id === userId)?.username ?? userId.slice(0, 8);
}
