import { LONGEST_USERNAME } from '#contract/users.ts';

/** What makes two usernames the same: compatibility forms and letter case do not count. */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').trim().toLowerCase();
}

/** The same for a name that somebody typed; null for one that no account can have, which is not normalised. */
export function typedUsernameKey(typed: string): string | null {
  const username = typed.trim();
  return username.length > LONGEST_USERNAME ? null : usernameKey(username);
}
