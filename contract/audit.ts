import { z } from 'zod';
import { AUDIT_ACTIONS } from './audit-actions.ts';
import { filterInstant, filterText, pagingQuery } from './paging.ts';

// In a module of its own, which the browser can import without zod.
export { AUDIT_ACTIONS, type AuditAction } from './audit-actions.ts';

export const AUDIT_ACTOR_KINDS = ['user', 'token', 'command', 'program'] as const;
export type AuditActorKind = (typeof AUDIT_ACTOR_KINDS)[number];

export const AUDIT_SUBJECT_KINDS = [
  'user',
  'session',
  'passkey',
  'token',
  'webhook',
  'signal',
  'workflow',
  'trade',
  'position',
  'halt',
  'risk limits',
  'strategy',
  'exit plan',
  'stop',
  'channel',
  'feed',
  'installation',
] as const;
export type AuditSubjectKind = (typeof AUDIT_SUBJECT_KINDS)[number];

/** Fields before or after; a secret appears as its hint only. */
export const auditValues = z.record(z.string(), z.json());
export type AuditValues = z.infer<typeof auditValues>;

export const auditFilter = z.object({
  /** A user's id, or a name as it stands in the column Actor. */
  actor: filterText,
  action: filterText.pipe(z.enum(AUDIT_ACTIONS).optional()),
  /** An id or a name as it stands in the column Subject. */
  subject: filterText,
  /** Both instants are part of the range. */
  from: filterInstant,
  to: filterInstant,
});
export type AuditFilter = z.infer<typeof auditFilter>;

export const auditQuery = pagingQuery(20).extend(auditFilter.shape);

export const auditEntry = z.object({
  id: z.string(),
  /** Null for the moment until the entry is chained. */
  sequence: z.number().nullable(),
  at: z.string(),
  actor: z.object({ kind: z.enum(AUDIT_ACTOR_KINDS), id: z.string().nullable(), name: z.string() }),
  address: z.string().nullable(),
  action: z.enum(AUDIT_ACTIONS),
  subject: z
    .object({
      kind: z.enum(AUDIT_SUBJECT_KINDS),
      id: z.string().nullable(),
      name: z.string().nullable(),
    })
    .nullable(),
  before: auditValues.nullable(),
  after: auditValues.nullable(),
  requestId: z.string().nullable(),
});
export type AuditEntry = z.infer<typeof auditEntry>;

export const auditAnswer = z.object({ entries: z.array(auditEntry), total: z.number() });
export type AuditAnswer = z.infer<typeof auditAnswer>;

/*
 * An export has one JSON object a line: a header, the entries in the order of their sequence, those that are not sealed
 * yet, and a last line. Without the last line it is incomplete.
 */

export const auditExportHeader = z.object({
  export: z.literal('signal-board-audit'),
  version: z.literal(1),
  exportedAt: z.string(),
  /** Null: all entries. With a filter nobody can tell whether entries are missing. */
  filter: z.record(z.string(), z.string()).nullable(),
});
export type AuditExportHeader = z.infer<typeof auditExportHeader>;

const hexHash = z.string().regex(/^[0-9a-f]{64}$/);

/** An entry as it is stored, with what proves it. */
export const auditExportEntry = z.strictObject({
  id: z.string(),
  sequence: z.number().int().nullable(),
  at: z.iso.datetime(),
  actorKind: z.enum(AUDIT_ACTOR_KINDS),
  actorId: z.string().nullable(),
  actorName: z.string(),
  address: z.string().nullable(),
  action: z.enum(AUDIT_ACTIONS),
  subjectKind: z.enum(AUDIT_SUBJECT_KINDS).nullable(),
  subjectId: z.string().nullable(),
  subjectName: z.string().nullable(),
  before: auditValues.nullable(),
  after: auditValues.nullable(),
  requestId: z.string().nullable(),
  rowMac: hexHash,
  chainHash: hexHash.nullable(),
});

export const auditExportEnd = z.object({ entries: z.number().int() });
