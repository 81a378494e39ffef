import { and, desc, eq, type SQL, sql } from 'drizzle-orm';
import type { UserSort } from '#contract/users.ts';
import { userSettings, users } from '#server/platform/db/schema.ts';

export interface UserFilter {
  includeInactive: boolean;
  /** Part of the username, of 'first last' or of the phone number; letter case does not count. */
  search?: string | undefined;
}

export interface UserOrder {
  sort: UserSort;
  direction: 'asc' | 'desc';
}

const fullName = sql`concat_ws(' ', ${users.firstName}, ${users.lastName})`;
const phone = sql`concat(${users.countryCode}, ${users.mobileNumber})`;

/** Which users a list shows; undefined: all of them. */
export function matchUsers({ includeInactive, search = '' }: UserFilter): SQL | undefined {
  const active = includeInactive ? undefined : eq(users.isActive, true);
  if (search === '') return active;
  const part = containing(search);
  // A phone number is found however it is set apart: the table shows '+44 7700900123'.
  const digits = search.replace(/[\s()./-]/g, '');
  const byPhone = /^\+?\d+$/.test(digits) ? sql` or ${phone} like ${containing(digits)}` : sql``;
  return and(active, sql`(${users.username} ilike ${part} or ${fullName} ilike ${part}${byPhone})`);
}

/** Newest first unless asked otherwise: a user just created stands on the first page. Ties: newest first, then id. */
export function orderUsers(order: UserOrder | undefined): SQL[] {
  const newestFirst = [desc(users.createdAt), desc(users.id)];
  if (order === undefined) return newestFirst;
  const direction = sql.raw(order.direction);
  // Users without a name or without settings come last either way.
  return [sql`${SORT_KEYS[order.sort]} ${direction} nulls last`, ...newestFirst];
}

const SORT_KEYS: Record<UserSort, SQL> = {
  username: sql`${users.usernameKey}`,
  name: sql`nullif(lower(${fullName}), '')`,
  createdAt: sql`${users.createdAt}`,
  isActive: sql`${users.isActive}`,
  activeTrading: sql`${userSettings.activeTrading}`,
};

const containing = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
