import { randomBytes } from 'node:crypto';
import type { Queryable } from '../db/database.ts';
import { auditKeys } from '../db/schema.ts';
import { type SealOptions, type SecretBox, SecretBoxError } from '../secret-box.ts';

const KEY_BYTES = 32;
export const AUDIT_KEY_PLACE: SealOptions = { purpose: 'audit-chain', binding: 'audit' };

const sealNewKey = (secretBox: SecretBox): string =>
  secretBox.seal(randomBytes(KEY_BYTES).toString('base64url'), AUDIT_KEY_PLACE);

/** The random key of this database's trail, made on first use. */
export async function loadAuditKey(deps: { db: Queryable; secretBox: SecretBox }): Promise<Buffer> {
  const known = await readAuditKey(deps);
  if (known !== null) return known;
  const keySealed = sealNewKey(deps.secretBox);
  await deps.db.insert(auditKeys).values({ keySealed }).onConflictDoNothing();
  const made = await readAuditKey(deps);
  if (made === null) throw new Error('The key of the audit trail is missing');
  return made;
}

/** Null before the first entry. Throws a SecretBoxError when another SECRET_KEY sealed it. */
export async function readAuditKey({
  db,
  secretBox,
}: {
  db: Queryable;
  secretBox: SecretBox;
}): Promise<Buffer | null> {
  const [row] = await db.select().from(auditKeys);
  return row === undefined ? null : Buffer.from(secretBox.open(row.keySealed, AUDIT_KEY_PLACE), 'base64url');
}

/** Whether the trail has a key that this SECRET_KEY does not open. */
export async function isAuditKeyLost(deps: { db: Queryable; secretBox: SecretBox }): Promise<boolean> {
  try {
    await readAuditKey(deps);
    return false;
  } catch (error) {
    if (error instanceof SecretBoxError) return true;
    throw error;
  }
}

/** Replaces a key that cannot be opened any more. */
export async function replaceAuditKey({
  db,
  secretBox,
}: {
  db: Queryable;
  secretBox: SecretBox;
}): Promise<Buffer> {
  await db.delete(auditKeys);
  return loadAuditKey({ db, secretBox });
}

/** The key in a file, as `npm run audit:verify -- --export-key` writes it. */
export const keyText = (key: Buffer): string => `${key.toString('base64url')}\n`;

/** Null for a text that is no key. */
export function parseKeyText(text: string): Buffer | null {
  const key = Buffer.from(text.trim(), 'base64url');
  return key.length === KEY_BYTES ? key : null;
}
