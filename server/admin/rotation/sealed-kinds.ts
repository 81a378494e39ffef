import { and, asc, eq, getTableName, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { totpPlace } from '#server/admin/auth/factors/totp.ts';
import { hashHookKey, hookKeyPlace } from '#server/admin/hooks/hook-keys.ts';
import { credentialsPlace } from '#server/admin/keys/seal-credentials.ts';
import { channelPlace } from '#server/alerts/channel-config.ts';
import { sealFields } from '#server/engine/records/decision-record.ts';
import { AUDIT_KEY_PLACE } from '#server/platform/audit/audit-key.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { databaseErrorCode } from '#server/platform/db/database-errors.ts';
import {
  auditKeys,
  decisions,
  exchangeCredentials,
  hooks,
  notificationChannels,
  totpFactors,
} from '#server/platform/db/schema.ts';
import {
  type LookupPurpose,
  type SealOptions,
  type SealPurpose,
  type SecretBox,
  SecretBoxError,
} from '#server/platform/secret-box.ts';

const BATCH_ROWS = 200;
const LOCK_NOT_AVAILABLE = '55P03';

/** The keys as boxes of one key each. */
export interface RotationBoxes {
  former: SecretBox;
  next: SecretBox;
}

/** The rows of one pass over a kind. */
export interface Pass {
  /** Were under the next key already. */
  done: number;
  resealed: number;
  /** Changed or locked at the same time: the next pass looks again. */
  busy: number;
  /** Under neither of the two keys, or altered: nothing could read them before either. */
  unreadable: number;
}

/** Secrets that are kept in one table. */
export interface SealedKind {
  /** For the operator. */
  name: string;
  /** What depends on SECRET_KEY. */
  columns: readonly PgColumn[];
  /** Re-seals what is under the former key, in batches. */
  pass(db: Queryable, boxes: RotationBoxes): Promise<Pass>;
}

interface KindDescription<Row, Changes> {
  name: string;
  columns: readonly PgColumn[];
  /** Rows in the order of a key. */
  list(db: Queryable, after: Row | null): Promise<Row[]>;
  reseal(row: Row, boxes: RotationBoxes): Changes | 'done' | 'unreadable';
  /** Writes a row that has not changed since; returns the number of rows. */
  save(db: Queryable, row: Row, changes: Changes): Promise<number | null>;
}

function kind<Row, Changes extends object>(options: KindDescription<Row, Changes>): SealedKind {
  const { name, columns, list, reseal, save } = options;

  /** A transaction for each row: a rotation never holds two locks, nor one for long. */
  async function resealRow(db: Queryable, row: Row, boxes: RotationBoxes): Promise<keyof Pass> {
    const changes = reseal(row, boxes);
    if (changes === 'done' || changes === 'unreadable') return changes;
    try {
      return (await save(db, row, changes)) === 1 ? 'resealed' : 'busy';
    } catch (error) {
      if (databaseErrorCode(error) === LOCK_NOT_AVAILABLE) return 'busy';
      throw error;
    }
  }

  return {
    name,
    columns,
    async pass(db, boxes) {
      const pass: Pass = { done: 0, resealed: 0, busy: 0, unreadable: 0 };
      for (let after: Row | null = null; ; ) {
        const rows: Row[] = await list(db, after);
        for (const row of rows) pass[await resealRow(db, row, boxes)] += 1;
        after = rows.at(-1) ?? null;
        if (rows.length < BATCH_ROWS) return pass;
      }
    },
  };
}

interface TextRow extends Record<string, unknown> {
  keys: string[];
  sealed: string;
}

/** A column of sealed text. */
function sealedText({
  name,
  sealed,
  keys,
  placeOf,
  hash,
}: {
  name: string;
  sealed: PgColumn;
  /** They identify the row and what the text is bound to. */
  keys: readonly PgColumn[];
  placeOf: (keys: string[]) => SealOptions;
  /** A column with a hash of the plain text. */
  hash?: { column: PgColumn; of: (box: SecretBox, plain: string) => Buffer };
}): SealedKind {
  const table = sql.identifier(getTableName(sealed.table));
  const row = sql`(${sql.join([...keys], sql`, `)})`;
  const valuesOf = (values: string[]): SQL =>
    sql`(${sql.join(
      values.map((value) => sql`${value}`),
      sql`, `,
    )})`;
  return kind<TextRow, { text: string; hash: Buffer | null }>({
    name,
    columns: hash === undefined ? [sealed] : [sealed, hash.column],
    async list(db, after) {
      const texts = keys.map((key) => sql`${key}::text`);
      const { rows } = await db.execute<TextRow>(sql`
        select array[${sql.join(texts, sql`, `)}] as keys, ${sealed} as sealed from ${table}
        where ${after === null ? sql`true` : sql`${row} > ${valuesOf(after.keys)}`}
        order by ${sql.join([...keys], sql`, `)} limit ${BATCH_ROWS}`);
      return rows;
    },
    reseal({ keys, sealed }, { former, next }) {
      const place = placeOf(keys);
      if (openOrNull(next, sealed, place) !== null) return 'done';
      const plain = openOrNull(former, sealed, place);
      if (plain === null) return 'unreadable';
      return { text: next.seal(plain, place), hash: hash?.of(next, plain) ?? null };
    },
    async save(db, { keys, sealed: read }, changes) {
      const andHash = hash && sql`, ${sql.identifier(hash.column.name)} = ${changes.hash}`;
      const { rowCount } = await db.execute(sql`
        update ${table} set ${sql.identifier(sealed.name)} = ${changes.text}${andHash}
        where ${row} = ${valuesOf(keys)} and ${sealed} = ${read}`);
      return rowCount;
    },
  });
}

function openOrNull(box: SecretBox, sealed: string, place: SealOptions): string | null {
  try {
    return box.open(sealed, place);
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}

type DecisionRow = typeof decisions.$inferSelect;

/** Keyed hashes of the fields of each decision. */
const decisionSeals = kind<DecisionRow, Record<string, string>>({
  name: 'decision records',
  columns: [decisions.seals],
  list(db, after) {
    const { workflowId, userId } = decisions;
    return db
      .select()
      .from(decisions)
      .where(
        after === null ? undefined : sql`(${workflowId}, ${userId}) > (${after.workflowId}, ${after.userId})`,
      )
      .orderBy(asc(workflowId), asc(userId))
      .limit(BATCH_ROWS);
  },
  // A field that does not fit its seal keeps it: a new one would make a change in the database look genuine.
  reseal({ seals, record, ...owner }, { former, next }) {
    const wanted = sealFields(next, owner, record);
    const open = Object.keys(seals).filter((field) => seals[field] !== wanted[field]);
    if (open.length === 0) return 'done';
    const known = sealFields(former, owner, record);
    const fitting = open.filter((field) => seals[field] === known[field]);
    if (fitting.length === 0) return 'unreadable';
    return Object.fromEntries(fitting.map((field) => [field, wanted[field] ?? '']));
  },
  async save(db, { workflowId, userId, seals }, changes) {
    const { rowCount } = await db
      .update(decisions)
      .set({ seals: sql`${decisions.seals} || ${JSON.stringify(changes)}::jsonb` })
      .where(
        and(
          eq(decisions.workflowId, workflowId),
          eq(decisions.userId, userId),
          sql`${decisions.seals} = ${JSON.stringify(seals)}::jsonb`,
        ),
      );
    return rowCount;
  },
});

/** Everything that depends on SECRET_KEY, by purpose: the compiler asks for a new purpose here. */
export const SEALED_KINDS = {
  'audit-chain': sealedText({
    name: 'key of the audit trail',
    sealed: auditKeys.keySealed,
    keys: [auditKeys.isOnly],
    placeOf: () => AUDIT_KEY_PLACE,
  }),
  'exchange-credentials': sealedText({
    name: 'exchange credentials',
    sealed: exchangeCredentials.sealed,
    keys: [exchangeCredentials.userId, exchangeCredentials.exchangePlatform],
    placeOf: ([userId = '', platform = '']) => credentialsPlace({ userId, platform }),
  }),
  'webhook-key': sealedText({
    name: 'webhook keys',
    sealed: hooks.keySealed,
    keys: [hooks.id, hooks.userId],
    placeOf: ([id = '', userId = '']) => hookKeyPlace({ id, userId }),
    hash: { column: hooks.keyHash, of: hashHookKey },
  }),
  totp: sealedText({
    name: 'authenticator apps',
    sealed: totpFactors.secretSealed,
    keys: [totpFactors.userId],
    placeOf: ([userId = '']) => totpPlace(userId),
  }),
  'notification-channel': sealedText({
    name: 'notification channels',
    sealed: notificationChannels.configSealed,
    keys: [notificationChannels.id, notificationChannels.ownerUserId],
    placeOf: ([id = '', ownerUserId = '']) => channelPlace({ id, ownerUserId }),
  }),
  decision: decisionSeals,
} satisfies Record<SealPurpose | Exclude<LookupPurpose, 'database' | 'backup'>, SealedKind>;
