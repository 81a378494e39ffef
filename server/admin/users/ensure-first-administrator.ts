import { sql } from 'drizzle-orm';
import type { Deps } from '#server/deps.ts';
import { programActor } from '#server/platform/audit/audit-trail.ts';
import { ConfigError } from '#server/platform/config/config.ts';
import { generatePassword } from '#server/platform/password.ts';
import { createUser } from './create-user.ts';
import { passwordFault } from './password-rules.ts';
import { countUsers } from './users.store.ts';

/** Arbitrary advisory lock key; instances that start together take turns. */
const FIRST_ADMINISTRATOR_LOCK = 7_305_001;

export interface FirstAdministrator {
  username: string;
  /** The generated password, shown once; null when ADMIN_PASSWORD was used. */
  password: string | null;
}

/** Creates the first administrator if there are no users; otherwise null. */
export async function ensureFirstAdministrator(
  deps: Pick<Deps, 'audit' | 'config' | 'clock' | 'db' | 'log'>,
): Promise<FirstAdministrator | null> {
  if ((await countUsers(deps.db, { includeInactive: true })) > 0) return null;
  return deps.db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${FIRST_ADMINISTRATOR_LOCK})`);
    if ((await countUsers(tx, { includeInactive: true })) > 0) return null;
    const { adminUsername: username, adminPassword } = deps.config;
    if (adminPassword !== null) await checkAdminPassword(deps.config, adminPassword);
    const password = adminPassword ?? generatePassword();
    const administrator = await createUser(
      { ...deps, db: tx },
      { username, password, isAdmin: true, actor: programActor('Signal Board') },
    );
    deps.log.info({ userId: administrator.id }, 'first administrator created');
    return { username, password: adminPassword === null ? password : null };
  });
}

async function checkAdminPassword(
  { adminUsername: username, exchangeMode }: Deps['config'],
  password: string,
): Promise<void> {
  const fault = await passwordFault({ username, password, isAdmin: true, exchangeMode });
  if (fault !== null) throw new ConfigError(`ADMIN_PASSWORD is not accepted: ${fault}`);
}
