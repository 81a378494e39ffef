import type { Queryable } from '../db/database.ts';
import { secretKeyChecks } from '../db/schema.ts';
import { createSecretBox } from '../secret-box.ts';

/** The key of the database, and the one that is to replace it; null when there is none. */
export interface SecretKeys {
  secretKey: string;
  nextKey: string | null;
}

/** What the database knows of its keys: the key's check, and since a rotation has begun, the next key's. */
export interface KeyState {
  keyCheck: Buffer | null;
  nextKeyCheck: Buffer | null;
}

/** Tells a key from another one and reveals nothing else. */
export const keyCheckOf = (secretKey: string): Buffer =>
  createSecretBox(secretKey).lookupHash('the key of this database', 'database');

export const isSameCheck = (one: Buffer | null, other: Buffer | null): boolean =>
  one !== null && other !== null && one.equals(other);

/** Null before the first start, and after a restore. */
export async function readKeyState(db: Queryable): Promise<KeyState | null> {
  const [state] = await db.select().from(secretKeyChecks);
  return state ?? null;
}

/** From the beginning of a rotation on, secrets are sealed under the next key; before it, no instance may do so. */
export const sealsUnderNext = (state: KeyState | null, nextKeyCheck: Buffer | null): boolean =>
  state !== null && isSameCheck(state.nextKeyCheck ?? state.keyCheck, nextKeyCheck);
