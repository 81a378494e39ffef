import { desc, isNull, sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { hooks, secretKeyChecks } from '#server/platform/db/schema.ts';
import { StartError } from '#server/platform/db/start-error.ts';
import type { Logger } from '#server/platform/log.ts';
import { createSecretBox, type SecretBox } from '#server/platform/secret-box.ts';
import { openHookKey } from './hook-keys.ts';

/** In a database without a key check, the key must open at least one of this many newest webhooks. */
const ASKED_HOOKS = 20;

const MISMATCH =
  'The SECRET_KEY (or DATA_DIR/secret.key) is not the one that this database was sealed with: no webhook key would be known, and every alert be lost. Put the former key back, or start once with --new-secret-key to go without what is sealed with it (webhook keys, exchange credentials)';

/**
 * Refuses to start with a key that is not the database's: the program would look healthy but answer 401 to every alert,
 * and alerts are not resent. The first start stores a check of its key; `replace` accepts another key.
 */
export async function checkSecretKey(options: {
  db: Queryable;
  secretKey: string;
  replace: boolean;
  log: Pick<Logger, 'warn'>;
}): Promise<void> {
  const { db, secretKey, replace, log } = options;
  const box = createSecretBox(secretKey);
  const own = box.lookupHash('the key of this database', 'database');
  const [known] = await db.select().from(secretKeyChecks);
  if (known?.keyCheck?.equals(own)) return;
  if (!replace && known === undefined && !(await opensHooks(db, box))) throw new StartError(MISMATCH);
  const isFree = replace ? sql`true` : isNull(secretKeyChecks.keyCheck);
  await db
    .insert(secretKeyChecks)
    .values({ keyCheck: own })
    .onConflictDoUpdate({ target: secretKeyChecks.isOnly, set: { keyCheck: own }, setWhere: isFree });
  // Another instance may have started at the same time and stored its key first.
  const [decided] = await db.select().from(secretKeyChecks);
  if (!decided?.keyCheck?.equals(own)) throw new StartError(MISMATCH);
  if (replace) log.warn('what was sealed with the former SECRET_KEY cannot be read any more');
}

/** Lets the next start store a check of its own key, whatever key sealed the rows. */
export async function forgetSecretKey(db: Queryable): Promise<void> {
  await db
    .insert(secretKeyChecks)
    .values({ keyCheck: null })
    .onConflictDoUpdate({ target: secretKeyChecks.isOnly, set: { keyCheck: null } });
}

async function opensHooks(db: Queryable, box: SecretBox): Promise<boolean> {
  const newest = await db.select().from(hooks).orderBy(desc(hooks.updatedAt)).limit(ASKED_HOOKS);
  return newest.length === 0 || newest.some((hook) => openHookKey(box, hook) !== null);
}
