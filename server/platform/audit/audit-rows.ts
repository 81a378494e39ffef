import { and, asc, gt, isNull, type SQL } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import type { Statements } from '../db/database.ts';
import { auditLog } from '../db/schema.ts';
import type { AuditRow } from './audit-mac.ts';

const BATCH_ROWS = 500;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** All entries in the order of their sequence, then those that are not sealed yet; in batches. */
export async function* readAuditRows(db: Pick<Statements, 'select'>, filter?: SQL): AsyncGenerator<AuditRow> {
  // A sequence below 1 is a fault that must be found.
  let after = { sequence: Number.MIN_SAFE_INTEGER, id: FIRST_ID };
  for (;;) {
    // One statement, so that an entry that is sealed meanwhile is in one of both parts.
    const batch = await unionAll(
      db
        .select()
        .from(auditLog)
        .where(and(gt(auditLog.sequence, after.sequence), filter))
        .orderBy(asc(auditLog.sequence))
        .limit(BATCH_ROWS),
      db
        .select()
        .from(auditLog)
        .where(and(isNull(auditLog.sequence), gt(auditLog.id, after.id), filter))
        .orderBy(asc(auditLog.id))
        .limit(BATCH_ROWS),
    );
    const [sealed, unsealed] = [batch.filter(isSealed), batch.filter((row) => !isSealed(row))];
    yield* sealed;
    after = { ...after, sequence: sealed.at(-1)?.sequence ?? after.sequence };
    if (sealed.length === BATCH_ROWS) continue;
    yield* unsealed;
    after = { ...after, id: unsealed.at(-1)?.id ?? after.id };
    if (unsealed.length < BATCH_ROWS) return;
  }
}

const isSealed = ({ sequence }: AuditRow): boolean => sequence !== null;
