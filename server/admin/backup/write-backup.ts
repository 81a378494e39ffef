import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import { createAuditTrail, programActor } from '#server/platform/audit/audit-trail.ts';
import { systemClock } from '#server/platform/clock.ts';
import { drizzleOn } from '#server/platform/db/drizzle-over.ts';
import { listAppliedMigrations } from '#server/platform/db/migrate.ts';
import type { DatabaseConnection } from '#server/platform/db/pool.ts';
import { StartError } from '#server/platform/db/start-error.ts';
import { makeFolder } from '#server/platform/make-folder.mjs';
import { createSecretBox } from '#server/platform/secret-box.ts';
import { isSameCheck, keyCheckOf, type SecretKeys } from '#server/platform/secret-keys/key-state.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { type BackupHeader, backupCheckOf, createBackupHmac, FORMAT, LEFT_OUT } from './backup-file.ts';
import { listTables } from './list-tables.ts';

const FETCH_ROWS = 500;

/**
 * Writes everything that must survive into one file while instances keep working. One read-only transaction gives a
 * consistent snapshot. The file gets its final name once it is complete and synced to disk.
 */
export async function writeBackup(options: {
  connection: DatabaseConnection;
  keys: SecretKeys;
  path: string;
  now: Date;
}): Promise<{ tables: number; rows: number }> {
  const { connection, keys, path, now } = options;
  const client = new pg.Client({ ...connection, application_name: 'signal-board backup' });
  client.on('error', () => {});
  await client.connect();
  const draft = `${path}.part`;
  await makeFolder(dirname(path));
  await rm(draft, { force: true });
  try {
    await client.query('begin isolation level repeatable read read only');
    // The text form of values must not depend on the server's settings.
    await client.query("set local timezone = 'UTC'");
    await client.query("set local bytea_output = 'hex'");
    await client.query("set local datestyle = 'ISO'");
    const migrations = await listAppliedMigrations(client);
    if (migrations.length === 0) throw new StartError('There is nothing to back up: the database is empty');
    const tables = (await listTables(client)).filter((table) => !LEFT_OUT.includes(table));
    const { secretKey, ...checks } = await readKeyChecks(client, keys);
    const head: BackupHeader = {
      format: FORMAT,
      version: 1,
      createdAt: now.toISOString(),
      program: manifest.version,
      ...checks,
      migrations,
    };
    const zip = createGzip({ level: 6 });
    const file = createWriteStream(draft, { mode: 0o600, flags: 'wx' });
    zip.pipe(file);
    const written = finished(file);
    // A full disk makes the next write or the end fail.
    written.catch((error: Error) => zip.destroy(error));
    const hmac = createBackupHmac(secretKey);
    const write = async (line: string) => {
      hmac.update(`${line}\n`);
      if (!zip.write(`${line}\n`)) await Promise.race([once(zip, 'drain'), written]);
    };
    await write(JSON.stringify(head));
    let rows = 0;
    for (const table of tables) {
      await write(JSON.stringify({ table }));
      rows += await writeTable(client, table, write);
    }
    await write(JSON.stringify({ rows, whole: true }));
    zip.end(`${JSON.stringify({ seal: hmac.digest('hex') })}\n`);
    await written;
    await client.query('commit');
    await putInPlace(draft, path);
    return { tables: tables.length, rows };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Records a backup that is complete. It is not in the backup itself. */
export async function noteBackup(options: {
  connection: DatabaseConnection;
  keys: SecretKeys;
  path: string;
  rows: number;
}): Promise<void> {
  const { connection, keys, path, rows } = options;
  const client = new pg.Client({ ...connection, application_name: 'signal-board backup' });
  client.on('error', () => {});
  await client.connect();
  try {
    const db = drizzleOn(client);
    const secretBox = createSecretBox(keys.secretKey, keys.nextKey);
    const trail = createAuditTrail({ db, clock: systemClock, secretBox });
    await trail.record(db, {
      actor: programActor('npm run backup', 'command'),
      action: 'backup written',
      subject: { kind: 'installation', id: null, name: null },
      after: { file: basename(path), rows },
    });
  } finally {
    await client.end().catch(() => {});
  }
}

/** The key that has sealed what the backup holds, and its check; both checks while a rotation is not finished. */
async function readKeyChecks(
  client: pg.Client,
  { secretKey, nextKey }: SecretKeys,
): Promise<Pick<BackupHeader, 'keyCheck' | 'nextKeyCheck'> & { secretKey: string }> {
  // All columns: a database that the program has not migrated yet lacks the second one.
  const { rows } = await client.query('select * from secret_key_checks');
  const state: { key_check?: Buffer | null; next_key_check?: Buffer | null } = rows[0] ?? {};
  const isRotated = nextKey !== null && isSameCheck(state.key_check ?? null, keyCheckOf(nextKey));
  const sealing = isRotated ? nextKey : secretKey;
  return {
    secretKey: sealing,
    keyCheck: backupCheckOf(sealing),
    ...(state.next_key_check ? { nextKeyCheck: state.next_key_check.toString('hex') } : {}),
  };
}

async function writeTable(
  client: pg.Client,
  table: string,
  write: (line: string) => Promise<void>,
): Promise<number> {
  const name = client.escapeIdentifier(table);
  await client.query(
    `declare backed_up no scroll cursor for select row_to_json(one)::text as row from public.${name} as one`,
  );
  let count = 0;
  for (;;) {
    const { rows } = await client.query<{ row: string }>(`fetch ${FETCH_ROWS} from backed_up`);
    for (const { row } of rows) await write(` ${row}`);
    count += rows.length;
    if (rows.length < FETCH_ROWS) break;
  }
  await client.query('close backed_up');
  return count;
}

async function putInPlace(draft: string, path: string): Promise<void> {
  const file = await open(draft, 'r');
  await file.sync();
  await file.close();
  await rename(draft, path);
}
