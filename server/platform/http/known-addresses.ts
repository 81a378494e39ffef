import { and, desc, eq, inArray, lt, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { Queryable } from '../db/database.ts';
import { knownAddresses, users } from '../db/schema.ts';
import { addressGroup } from './source-address.ts';

const KNOWN_FOR_MS = 30 * 24 * 60 * 60 * 1000;
const MAX_PER_USER = 20;

/**
 * Notes that a user gave the right password at an address. Only call it for a password that opened something: who
 * guesses from a known address does not share the allowance of all others.
 */
export async function rememberAddress(
  db: Queryable,
  options: { userId: string; address: string; now: Date },
): Promise<void> {
  const { userId, now } = options;
  const address = addressGroup(options.address);
  await db
    .insert(knownAddresses)
    .values({ userId, address, lastUsedAt: now })
    .onConflictDoUpdate({
      target: [knownAddresses.userId, knownAddresses.address],
      set: { lastUsedAt: sql`greatest(${knownAddresses.lastUsedAt}, excluded.last_used_at)` },
    });
  const newest = db
    .select({ address: knownAddresses.address })
    .from(knownAddresses)
    .where(eq(knownAddresses.userId, userId))
    .orderBy(desc(knownAddresses.lastUsedAt), knownAddresses.address)
    .limit(MAX_PER_USER);
  await db
    .delete(knownAddresses)
    .where(
      and(
        eq(knownAddresses.userId, userId),
        or(lt(knownAddresses.lastUsedAt, since(now)), notInArray(knownAddresses.address, newest)),
      ),
    );
}

/** Whether the user of a name, in its compared form, is known at an address: as part of another statement. */
export function isKnownAddress(
  db: Queryable,
  { account, address, now }: { account: string; address: string; now: Date },
): SQL<boolean> {
  const user = db.select({ id: users.id }).from(users).where(eq(users.usernameKey, account));
  const known = db
    .select({ one: sql`1` })
    .from(knownAddresses)
    .where(
      and(
        inArray(knownAddresses.userId, user),
        eq(knownAddresses.address, address),
        sql`${knownAddresses.lastUsedAt} > ${since(now)}`,
      ),
    );
  return sql<boolean>`exists ${known}`;
}

const since = (now: Date) => new Date(now.getTime() - KNOWN_FOR_MS);
