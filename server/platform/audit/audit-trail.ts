import type { FastifyRequest } from 'fastify';
import type { AuditAction, AuditActorKind, AuditSubjectKind, AuditValues } from '#contract/audit.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Queryable } from '../db/database.ts';
import { auditLog } from '../db/schema.ts';
import { getSession } from '../http/access.ts';
import { sourceAddress } from '../http/source-address.ts';
import { timeOrderedId } from '../ids.ts';
import type { SecretBox } from '../secret-box.ts';
import { loadAuditKey } from './audit-key.ts';
import { macOfRow } from './audit-mac.ts';
import { type Seal, sealBatch } from './seal-audit-log.ts';

export interface AuditActor {
  kind: AuditActorKind;
  /** The user, or the owner of the API token; null for commands and the program. */
  id: string | null;
  name: string;
  address: string | null;
  requestId: string | null;
}

export interface AuditSubject {
  kind: AuditSubjectKind;
  id: string | null;
  name: string | null;
}

export interface AuditRecord {
  actor: AuditActor;
  action: AuditAction;
  subject?: AuditSubject;
  /** Fields that changed, before and after; secrets as hints. */
  before?: AuditValues;
  after?: AuditValues;
}

export interface AuditTrail {
  /** Adds an entry. `db`: the transaction of what the entry tells, so that neither exists without the other. */
  record(db: Queryable, entry: AuditRecord): Promise<void>;
  seal: Seal;
}

/** The signed-in user or API token behind a request. */
export function actorOf(request: FastifyRequest, config: Pick<Config, 'trustProxy'>): AuditActor {
  const { user, token } = getSession(request);
  return {
    kind: token === null ? 'user' : 'token',
    id: user.id,
    name: token === null ? user.username : `${token.name} (${user.username})`,
    address: sourceAddress(request, config),
    requestId: request.id,
  };
}

/** A part of the program, or a command, as an actor. */
export const programActor = (name: string, kind: 'program' | 'command' = 'program'): AuditActor => ({
  kind,
  id: null,
  name,
  address: null,
  requestId: null,
});

/** Load the key before transactions need it: a pool whose connections all wait for it has none left to load it. */
export function createAuditTrail(deps: { db: Queryable; clock: Clock; secretBox: SecretBox }): AuditTrail {
  let key: Promise<Buffer> | null = null;

  function loadKey(): Promise<Buffer> {
    if (key !== null) return key;
    const loading = loadAuditKey(deps);
    key = loading;
    // A failed reading is tried again by the next entry.
    loading.catch(() => {
      key = null;
    });
    return loading;
  }

  return {
    async record(db, entry) {
      await writeEntry(db, { ...entry, key: await loadKey(), now: deps.clock.now() });
    },
    async seal() {
      return sealBatch(deps.db, await loadKey());
    },
  };
}

/** For who has the key and no trail: commands, and the start with another SECRET_KEY. Returns the entry's id and HMAC. */
export async function writeEntry(
  db: Queryable,
  { key, now, actor, action, subject, before, after }: AuditRecord & { key: Buffer; now: Date },
): Promise<{ id: string; rowMac: Buffer }> {
  const row = {
    id: timeOrderedId(),
    at: now,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: storable(actor.name),
    address: actor.address,
    action,
    subjectKind: subject?.kind ?? null,
    subjectId: subject?.id ?? null,
    subjectName: storable(subject?.name ?? null),
    before: storable(before ?? null),
    after: storable(after ?? null),
    requestId: actor.requestId,
  };
  const rowMac = macOfRow(key, row);
  await db.insert(auditLog).values({ ...row, rowMac });
  return { id: row.id, rowMac };
}

/** PostgreSQL takes no NUL and no lone surrogate: an exchange's message must not undo what the entry tells. */
function storable<Value>(value: Value): Value {
  if (value === null) return value;
  return JSON.parse(JSON.stringify(value), (_name, part: unknown) =>
    typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '') : part,
  ) as Value;
}
