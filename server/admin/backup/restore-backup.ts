import type { MigrationMeta } from 'drizzle-orm/migrator';
import pg from 'pg';
import { forgetSecretKey } from '#server/admin/hooks/check-secret-key.ts';
import { createAuditTrail, programActor } from '#server/platform/audit/audit-trail.ts';
import { systemClock } from '#server/platform/clock.ts';
import { drizzleOn } from '#server/platform/db/drizzle-over.ts';
import { applyMigrations, isBeforeBaseline, readMigrations } from '#server/platform/db/migrate.ts';
import type { DatabaseConnection } from '#server/platform/db/pool.ts';
import { secretKeyChecks } from '#server/platform/db/schema.ts';
import { StartError } from '#server/platform/db/start-error.ts';
import { createSecretBox } from '#server/platform/secret-box.ts';
import {
  isSameCheck,
  type KeyState,
  keyCheckOf,
  type SecretKeys,
} from '#server/platform/secret-keys/key-state.ts';
import { backupCheckOf, LEFT_OUT, type OpenBackup, openBackup } from './backup-file.ts';
import { endRestoredWork, type RestoredWork } from './end-restored-work.ts';
import { listTables } from './list-tables.ts';

export interface Restored extends RestoredWork {
  createdAt: string;
  rows: number;
  /** Whether the signature shows that nothing was changed since the backup was made. */
  isVerified: boolean;
}

/**
 * Restores a database from a backup in one transaction, after the whole file was verified: creates the tables as they
 * were, fills them, applies later migrations, and ends unfinished work, so that nothing is ordered twice.
 */
export async function restoreBackup(options: {
  connection: DatabaseConnection;
  path: string;
  /** Null accepts a backup whose secrets any key has sealed. */
  keys: SecretKeys | null;
  /** Also takes a backup that does not verify: who edits one can make anybody an administrator. */
  unverified?: boolean;
  /** Empties the database first. */
  replace: boolean;
  now: Date;
  /** Defaults to the program's own migrations. */
  migrations?: MigrationMeta[];
}): Promise<Restored> {
  const { connection, path, keys, replace, now, migrations = readMigrations(), unverified = false } = options;
  const examined = await openBackup(path);
  const known = knownMigrations(examined, { path, migrations });
  const state = keys === null ? null : keyStateOf(examined, keys);
  if (keys !== null && state === null) {
    throw new StartError(
      'The backup was made with another SECRET_KEY: put that one into SECRET_KEY or DATA_DIR/secret.key, or add --other-key --unverified to go without what is sealed with it (webhook keys, exchange credentials)',
    );
  }
  const signingKey = keys === null ? null : signingKeyOf(examined, keys);
  const tables = await readThrough(examined, signingKey);
  const isVerified = examined.contents().signature === 'valid';
  if (!isVerified && !unverified) throw new StartError(whyUnverified(examined, path));
  const backup = await openBackup(path);
  const client = new pg.Client({ ...connection, application_name: 'signal-board restore' });
  client.on('error', () => {});
  await client.connect();
  try {
    await refuseWhileInUse(client);
    await client.query('begin');
    await client.query("set local timezone = 'UTC'");
    if (replace) await empty(client);
    else await refuseWhenFilled(client);
    await applyMigrations(client, migrations.slice(0, known));
    await requireKnownTables(client, { tables, path });
    const rows = await fill(client, { backup, signingKey });
    // The file was read twice, and may have been changed in between.
    if (isVerified && backup.contents().signature !== 'valid')
      throw new StartError(whyUnverified(backup, path));
    await fillHashes(client);
    await applyMigrations(client, migrations.slice(known));
    const work = await endRestoredWork(drizzleOn(client), now);
    // Without the key, the next start writes an entry about its replacement.
    if (keys === null) await forgetSecretKey(drizzleOn(client));
    else await noteRestore(client, { keys, now, backup, rows, isVerified });
    // Of two keys, the next start cannot tell which one it is.
    if (state !== null && keys?.nextKey != null) {
      await drizzleOn(client).insert(secretKeyChecks).values(state);
    }
    await client.query('commit');
    return { createdAt: backup.header.createdAt, rows, isVerified, ...work };
  } finally {
    await client.end().catch(() => {});
  }
}

const signingKeyOf = ({ header }: OpenBackup, { secretKey, nextKey }: SecretKeys): string | null =>
  [secretKey, nextKey].find((key) => key !== null && backupCheckOf(key) === header.keyCheck) ?? null;

/** Reads the whole file without keeping its rows, and returns the tables that it has. */
async function readThrough(backup: OpenBackup, signingKey: string | null): Promise<readonly string[]> {
  if (signingKey !== null) backup.checkWith(signingKey);
  for await (const _ of backup.batches());
  return backup.contents().tables;
}

const ANYWAY = 'The change may have made anybody an administrator. Add --unverified to restore it anyway';

function whyUnverified(backup: OpenBackup, path: string): string {
  const { signature } = backup.contents();
  if (signature === 'wrong') return `${path} was changed after it was made. ${ANYWAY}`;
  if (signature === 'missing') {
    return `${path} has no signature: an older version made it, or it was changed since. ${ANYWAY}`;
  }
  return `Without the SECRET_KEY of the backup nobody can tell whether ${path} was changed after it was made. ${ANYWAY}`;
}

/** Refuses tables that no backup of its version has: left out ones, partitions, and names of other things. */
async function requireKnownTables(
  client: pg.Client,
  { tables, path }: { tables: readonly string[]; path: string },
): Promise<void> {
  const known = (await listTables(client)).filter((table) => !LEFT_OUT.includes(table));
  const stranger = tables.find((table, index) => !known.includes(table) || tables.indexOf(table) !== index);
  if (stranger !== undefined) {
    throw new StartError(`${path} has a table that no backup has, or has it twice: ${stranger}`);
  }
}

/**
 * The keys that have sealed the backup's secrets, as the database has to know them; null when another key did. A backup
 * from a rotation that was not finished needs both keys.
 */
function keyStateOf({ header }: OpenBackup, { secretKey, nextKey }: SecretKeys): KeyState | null {
  const given = nextKey === null ? [secretKey] : [secretKey, nextKey];
  const key = given.find((one) => backupCheckOf(one) === header.keyCheck);
  if (key === undefined) return null;
  const keyCheck = keyCheckOf(key);
  if (header.nextKeyCheck === undefined) return { keyCheck, nextKeyCheck: null };
  const nextKeyCheck = Buffer.from(header.nextKeyCheck, 'hex');
  if (given.some((one) => isSameCheck(keyCheckOf(one), nextKeyCheck))) return { keyCheck, nextKeyCheck };
  throw new StartError(
    'The backup was made while SECRET_KEY was rotated: put the former key into SECRET_KEY and the next one into SECRET_KEY_NEXT',
  );
}

/** Number of migrations that had been applied when the backup was made. */
function knownMigrations(
  { header }: OpenBackup,
  { path, migrations }: { path: string; migrations: MigrationMeta[] },
): number {
  if (isBeforeBaseline(header.migrations)) {
    throw new StartError(`${path} was made by an older version; only that version can restore it`);
  }
  const isPast = header.migrations.every((hash, index) => migrations[index]?.hash === hash);
  if (isPast) return header.migrations.length;
  throw new StartError(
    `${path} was made by version ${header.program} of the program with a schema that this version does not know; restore it with that version`,
  );
}

async function refuseWhileInUse(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select application_name from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and (application_name = 'signal-board' or application_name = 'pgboss')`,
  );
  if (rows.length > 0) throw new StartError('Signal Board is running on this database; stop all of it first');
}

async function refuseWhenFilled(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select from pg_class where relkind in ('r', 'p') and relnamespace::regnamespace::text in ('public', 'drizzle', 'jobs') limit 1`,
  );
  if (rows.length > 0) {
    throw new StartError(
      'The database is not empty; add --replace to put the backup in the place of what is there',
    );
  }
}

/** Empties the public schema instead of dropping it, because another role may own it. */
async function empty(client: pg.Client): Promise<void> {
  await client.query('set local client_min_messages = warning');
  await client.query('drop schema if exists drizzle, jobs cascade');
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
  );
  for (const { name } of rows)
    await client.query(`drop table if exists public.${client.escapeIdentifier(name)} cascade`);
  const functions = await client.query<{ name: string }>(
    `select oid::regprocedure::text as name from pg_proc where pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`,
  );
  for (const { name } of functions.rows) await client.query(`drop function if exists ${name} cascade`);
}

async function noteRestore(
  client: pg.Client,
  options: { keys: SecretKeys; now: Date; backup: OpenBackup; rows: number; isVerified: boolean },
): Promise<void> {
  const { keys, now, backup, rows, isVerified } = options;
  const db = drizzleOn(client);
  const secretBox = createSecretBox(keys.secretKey, keys.nextKey);
  await createAuditTrail({ db, clock: { ...systemClock, now: () => now }, secretBox }).record(db, {
    actor: programActor('npm run restore', 'command'),
    action: 'backup restored',
    subject: { kind: 'installation', id: null, name: null },
    after: { asOf: backup.header.createdAt, rows, ...(isVerified ? {} : { verified: false }) },
  });
}

async function fill(
  client: pg.Client,
  { backup, signingKey }: { backup: OpenBackup; signingKey: string | null },
): Promise<number> {
  if (signingKey !== null) backup.checkWith(signingKey);
  const tables = new Set<string>();
  let count = 0;
  for await (const { table, rows } of backup.batches()) {
    tables.add(table);
    const name = `public.${client.escapeIdentifier(table)}`;
    await client.query(
      `insert into ${name} overriding system value select * from json_populate_recordset(null::${name}, $1::json)`,
      [`[${rows.join(',')}]`],
    );
    count += rows.length;
  }
  for (const table of tables) await continueNumbers(client, table);
  return count;
}

/** Inserts in the order of the price logs, for the BRIN index. Adding the primary key last is much faster. */
async function fillHashes(client: pg.Client): Promise<void> {
  await client.query(`set local maintenance_work_mem = '256MB'`);
  await client.query('alter table price_log_hashes drop constraint price_log_hashes_pkey');
  await client.query(
    `insert into price_log_hashes (hash_value, price_log_id)
     select decode(hash_value, 'hex'), id from price_logs order by id`,
  );
  await client.query('alter table price_log_hashes add primary key (hash_value)');
}

/** Makes identity columns continue after their highest value. */
async function continueNumbers(client: pg.Client, table: string): Promise<void> {
  const { rows } = await client.query<{ column: string; sequence: string }>(
    `select attname as column, pg_get_serial_sequence($1, attname) as sequence
     from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attidentity <> ''`,
    [`public.${table}`],
  );
  for (const { column, sequence } of rows) {
    const name = client.escapeIdentifier(column);
    await client.query(
      `select setval($1::regclass, highest) from (select max(${name}) as highest from public.${client.escapeIdentifier(table)}) as found
       where highest is not null`,
      [sequence],
    );
  }
}
