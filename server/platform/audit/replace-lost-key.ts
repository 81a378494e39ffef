import { asc, eq, isNull } from 'drizzle-orm';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { auditLog } from '../db/schema.ts';
import { StartError } from '../db/start-error.ts';
import type { Logger } from '../log.ts';
import type { SecretBox } from '../secret-box.ts';
import { isAuditKeyLost, replaceAuditKey } from './audit-key.ts';
import { macOfRow } from './audit-mac.ts';
import { programActor, writeEntry } from './audit-trail.ts';
import { checkpointOf, lockSealing, readTip, sealRows } from './seal-audit-log.ts';
import { KEY_REPLACED } from './verify-audit-log.ts';

/**
 * Gives the trail a new key when the SECRET_KEY that sealed the former one was replaced. The entry about it is the first
 * that the new key signs, and it names the checkpoint before it. Entries that were not sealed yet are signed anew,
 * because nobody can check their former HMAC. Returns whether that entry was written.
 */
export async function replaceLostAuditKey({
  db,
  clock,
  log,
  secretBox,
  isNewSecretKey,
}: {
  db: Db;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  secretBox: SecretBox;
  /** Only a new SECRET_KEY explains a key that does not open. */
  isNewSecretKey: boolean;
}): Promise<boolean> {
  if (!(await isAuditKeyLost({ db, secretBox }))) return false;
  if (!isNewSecretKey) {
    throw new StartError(
      'The key of the audit trail (table audit_keys) was changed; put it back from a backup, or start once with --new-secret-key to go on with another one',
    );
  }
  return db.transaction(async (tx) => {
    await lockSealing(tx);
    // Another instance was first.
    if (!(await isAuditKeyLost({ db: tx, secretBox }))) return false;
    const key = await replaceAuditKey({ db: tx, secretBox });
    const tip = await readTip(tx);
    const unsealed = await tx
      .select()
      .from(auditLog)
      .where(isNull(auditLog.sequence))
      .orderBy(asc(auditLog.id));
    for (const row of unsealed) {
      await tx
        .update(auditLog)
        .set({ rowMac: macOfRow(key, row) })
        .where(eq(auditLog.id, row.id));
    }
    const entry = await writeEntry(tx, {
      key,
      now: clock.now(),
      actor: programActor('Signal Board'),
      action: KEY_REPLACED,
      subject: { kind: 'installation', id: null, name: null },
      after: { checkpoint: tip === null ? null : checkpointOf(tip), signedAnew: unsealed.length },
    });
    await sealRows(tx, { key, rows: [entry] });
    log.warn(
      'the audit trail goes on with another key: keep a copy of the former one to verify older entries',
    );
    return true;
  });
}
