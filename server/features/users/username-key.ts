/** What makes two usernames the same: compatibility forms and letter case do not count (decisions §4). */
export function usernameKey(username: string): string {
  return username.normalize('NFKC').trim().toLowerCase();
}
