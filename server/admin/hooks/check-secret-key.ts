import { desc, isNull, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { hooks, secretKeyChecks } from '#server/platform/db/schema.ts';
import { StartError } from '#server/platform/db/start-error.ts';
import type { Logger } from '#server/platform/log.ts';
import { createSecretBox, type SecretBox } from '#server/platform/secret-box.ts';
import {
  isSameCheck,
  keyCheckOf,
  readKeyState,
  type SecretKeys,
} from '#server/platform/secret-keys/key-state.ts';
import { openHookKey } from './hook-keys.ts';

/** In a database without a key check, the key must open at least one of this many newest webhooks. */
const ASKED_HOOKS = 20;

const MISMATCH =
  'The SECRET_KEY (or DATA_DIR/secret.key) is not the one that this database was sealed with: no webhook key would be known, and every alert be lost. Put the former key back, or start once with --new-secret-key to go without what is sealed with it (webhook keys, exchange credentials)';
const NEXT_MISSING =
  'A rotation of SECRET_KEY has begun, and this instance does not know the next key: start with that key in SECRET_KEY_NEXT';
const FORMER_MISSING =
  'The rotation of SECRET_KEY is not finished: start with the former key in SECRET_KEY and the next one in SECRET_KEY_NEXT, and run npm run rotate-secret again';

/**
 * Refuses to start with a key that is not the database's: the program would look healthy but answer 401 to every alert,
 * and alerts are not resent. The first start stores a check of its key; `replace` accepts another key. Returns whether the
 * database knew this key. While a rotation is not finished, both keys are needed.
 */
export async function checkSecretKey(options: {
  db: Queryable;
  keys: SecretKeys;
  replace: boolean;
  log: Pick<Logger, 'warn'>;
}): Promise<'known' | 'new' | 'replaced'> {
  const { db, keys, replace, log } = options;
  const own = keyCheckOf(keys.secretKey);
  const next = keys.nextKey === null ? null : keyCheckOf(keys.nextKey);
  const isKnown = (check: Buffer | null) => isSameCheck(check, own) || isSameCheck(check, next);
  const state = await readKeyState(db);
  const isRotating = state !== null && state.nextKeyCheck !== null;
  if (state !== null && isKnown(state.keyCheck)) {
    if (!isRotating || isKnown(state.nextKeyCheck)) return 'known';
    if (!replace) throw new StartError(NEXT_MISSING);
  }
  if (isRotating && isKnown(state.nextKeyCheck) && !replace) throw new StartError(FORMER_MISSING);
  const box = createSecretBox(keys.secretKey, keys.nextKey);
  if (!replace && state === null && !(await opensHooks(db, box))) throw new StartError(MISMATCH);
  const isFree = replace ? sql`true` : isNull(secretKeyChecks.keyCheck);
  const stored = { keyCheck: own, nextKeyCheck: null };
  await db
    .insert(secretKeyChecks)
    .values(stored)
    .onConflictDoUpdate({ target: secretKeyChecks.isOnly, set: stored, setWhere: isFree });
  // Another instance may have started at the same time and stored its key first.
  const decided = await readKeyState(db);
  if (!isSameCheck(decided?.keyCheck ?? null, own)) throw new StartError(MISMATCH);
  if (!replace) return 'new';
  log.warn('what was sealed with the former SECRET_KEY cannot be read any more');
  return 'replaced';
}

/** Refuses to make a key beside data that another one has sealed, before the new one is written anywhere. */
export async function requireUnsealed(db: Queryable, path: string): Promise<void> {
  const state = await readKeyState(db);
  const isSealed = state === null ? (await newestHooks(db)).length > 0 : state.keyCheck !== null;
  if (!isSealed) return;
  throw new StartError(
    `There is no ${path}, and this database was sealed with a key: put that file back, or start once with --new-secret-key to go without what is sealed with it (webhook keys, exchange credentials)`,
  );
}

/** Lets the next start store a check of its own key, whatever key sealed the rows. */
export async function forgetSecretKey(db: Queryable): Promise<void> {
  await db
    .insert(secretKeyChecks)
    .values({ keyCheck: null, nextKeyCheck: null })
    .onConflictDoUpdate({ target: secretKeyChecks.isOnly, set: { keyCheck: null, nextKeyCheck: null } });
}

const newestHooks = (db: Queryable) =>
  db.select().from(hooks).orderBy(desc(hooks.updatedAt)).limit(ASKED_HOOKS);

async function opensHooks(db: Queryable, box: SecretBox): Promise<boolean> {
  const newest = await newestHooks(db);
  return newest.length === 0 || newest.some((hook) => openHookKey(box, hook) !== null);
}
