import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import { findSecretKeys } from '../config/secret-key.ts';
import type { Queryable } from '../db/database.ts';
import { createSecretBox } from '../secret-box.ts';
import { isAuditKeyLost } from './audit-key.ts';
import { type AuditTrail, createAuditTrail } from './audit-trail.ts';

/**
 * The trail for a command of the operator. Null when SECRET_KEY is missing or another one: a command that helps after
 * that must still work.
 */
export async function openCommandTrail({
  db,
  clock,
  config,
}: {
  db: Queryable;
  clock: Clock;
  config: Pick<Config, 'dataDir' | 'secretKey' | 'secretKeyNext'>;
}): Promise<AuditTrail | null> {
  const keys = await findSecretKeys(config);
  if (keys === null) return null;
  const secretBox = createSecretBox(keys.secretKey, keys.nextKey);
  return (await isAuditKeyLost({ db, secretBox })) ? null : createAuditTrail({ db, clock, secretBox });
}
