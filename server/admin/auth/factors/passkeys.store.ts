import { and, asc, eq } from 'drizzle-orm';
import type { PasskeySummary } from '#contract/factors.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { passkeys } from '#server/platform/db/schema.ts';

export type PasskeyRow = typeof passkeys.$inferSelect;

export const listPasskeys = (db: Queryable, userId: string): Promise<PasskeyRow[]> =>
  db.select().from(passkeys).where(eq(passkeys.userId, userId)).orderBy(asc(passkeys.createdAt), passkeys.id);

export async function findPasskey(
  db: Queryable,
  { id, userId }: { id: string; userId: string },
): Promise<PasskeyRow | null> {
  const [row] = await db
    .select()
    .from(passkeys)
    .where(and(eq(passkeys.id, id), eq(passkeys.userId, userId)));
  return row ?? null;
}

export async function findPasskeyByCredential(
  db: Queryable,
  credentialId: string,
): Promise<PasskeyRow | null> {
  const [row] = await db.select().from(passkeys).where(eq(passkeys.credentialId, credentialId));
  return row ?? null;
}

/** Null when the user has no such passkey. */
export async function deletePasskey(
  db: Queryable,
  { id, userId }: { id: string; userId: string },
): Promise<PasskeyRow | null> {
  const [row] = await db
    .delete(passkeys)
    .where(and(eq(passkeys.id, id), eq(passkeys.userId, userId)))
    .returning();
  return row ?? null;
}

/** False when the passkey was used or removed in between. */
export async function notePasskeyUse(
  db: Queryable,
  { passkey, counter, now }: { passkey: PasskeyRow; counter: number; now: Date },
): Promise<boolean> {
  const noted = await db
    .update(passkeys)
    .set({ counter, lastUsedAt: now })
    .where(and(eq(passkeys.id, passkey.id), eq(passkeys.counter, passkey.counter)))
    .returning({ id: passkeys.id });
  return noted.length > 0;
}

export const toPasskeySummary = (row: PasskeyRow): PasskeySummary => ({
  id: row.id,
  name: row.name,
  createdAt: row.createdAt.toISOString(),
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
});
