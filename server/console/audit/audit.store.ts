import { and, desc, eq, gte, lte, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { AuditEntry, AuditFilter } from '#contract/audit.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { auditLog } from '#server/platform/db/schema.ts';

type AuditRow = typeof auditLog.$inferSelect;

/** Newest first, by their place in the chain; entries without one yet come first. */
export async function listAuditEntries(
  db: Queryable,
  { page, limit, ...filter }: AuditFilter & { page: number; limit: number },
): Promise<{ entries: AuditEntry[]; total: number }> {
  const which = matchEntries(filter);
  const rows = await db
    .select()
    .from(auditLog)
    .where(which)
    .orderBy(desc(auditLog.sequence), desc(auditLog.at), desc(auditLog.id))
    .limit(limit)
    .offset((page - 1) * limit);
  return { entries: rows.map(toEntry), total: await db.$count(auditLog, which) };
}

/** Undefined matches all entries. */
export const matchEntries = ({ actor, action, subject, from, to }: AuditFilter): SQL | undefined =>
  and(
    actor === undefined ? undefined : or(isId(actor), isName(auditLog.actorName, actor)),
    action === undefined ? undefined : eq(auditLog.action, action),
    subject === undefined
      ? undefined
      : or(eq(auditLog.subjectId, subject), isName(auditLog.subjectName, subject)),
    from === undefined ? undefined : gte(auditLog.at, from),
    to === undefined ? undefined : lte(auditLog.at, to),
  );

const isId = (text: string): SQL | undefined =>
  z.uuid().safeParse(text).success ? eq(auditLog.actorId, text) : undefined;

const isName = (column: typeof auditLog.actorName | typeof auditLog.subjectName, name: string): SQL =>
  sql`lower(${column}) = lower(${name})`;

function toEntry(row: AuditRow): AuditEntry {
  const { id, sequence, address, action, before, after, requestId } = row;
  return {
    id,
    sequence,
    at: row.at.toISOString(),
    actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
    address,
    action,
    subject:
      row.subjectKind === null ? null : { kind: row.subjectKind, id: row.subjectId, name: row.subjectName },
    before,
    after,
    requestId,
  };
}
