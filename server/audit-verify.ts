import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { eq } from 'drizzle-orm';
import { runCommand, withDatabase } from './command.ts';
import { openAuditExport } from './platform/audit/audit-export.ts';
import { keyText, parseKeyText, readAuditKey } from './platform/audit/audit-key.ts';
import { readAuditRows } from './platform/audit/audit-rows.ts';
import { programActor, writeEntry } from './platform/audit/audit-trail.ts';
import { checkpointOf } from './platform/audit/seal-audit-log.ts';
import {
  type Checkpoint,
  findKeyStart,
  KEY_REPLACED,
  parseCheckpoint,
  type Verdict,
  verifyAuditLog,
} from './platform/audit/verify-audit-log.ts';
import { systemClock } from './platform/clock.ts';
import { readConfig } from './platform/config/config.ts';
import { findSecretKeys } from './platform/config/secret-key.ts';
import type { Queryable } from './platform/db/database.ts';
import { auditLog } from './platform/db/schema.ts';
import { hasCode, StartError } from './platform/db/start-error.ts';
import { createSecretBox, SecretBoxError } from './platform/secret-box.ts';

// node server/audit-verify.ts: names the first entry of the audit trail that was changed, removed, inserted or moved, in
// the database or in an export.

const USAGE = `npm run audit:verify -- [--checkpoint SEQUENCE:HASH] [--former-key FILE …]
npm run audit:verify -- --export FILE --key-file FILE [--checkpoint SEQUENCE:HASH] [--former-key FILE …]
npm run audit:verify -- --export-key FILE

Names the first entry of the audit trail that was changed, removed, inserted or moved. Exits with 1 if there is one.

  --export FILE      reads a signed export, without the database; the program's key is then in --key-file
  --key-file FILE    a key that --export-key has written
  --export-key FILE  writes the key of the trail; anybody who has it can forge entries
  --former-key FILE  a key from before SECRET_KEY was lost and replaced, for the entries of that time
  --checkpoint …     what the log said last ('audit trail checkpoint'): shows a trail whose end was cut off`;

/** npm changes to the project's folder; file names are relative to the caller's. */
const fileOf = (path: string): string => resolve(process.env.INIT_CWD ?? '.', path);

await runCommand(main);

async function main(args: string[]): Promise<void> {
  const given = readArguments(args);
  if (given.help) {
    console.log(USAGE);
    return;
  }
  const exportKey = given['export-key'];
  if (exportKey !== undefined) {
    await writeKey(fileOf(exportKey));
    return;
  }
  const checkpoint = readCheckpoint(given.checkpoint);
  const formerKeys = await Promise.all((given['former-key'] ?? []).map((path) => readKey(fileOf(path))));
  const [exported, keyFile] = [given.export, given['key-file']];
  if ((exported === undefined) !== (keyFile === undefined)) {
    throw new StartError(`--export and --key-file go together\n\n${USAGE}`);
  }
  if (exported === undefined || keyFile === undefined) await verifyDatabase({ checkpoint, formerKeys });
  else await verifyExport(fileOf(exported), { key: await readKey(fileOf(keyFile)), checkpoint, formerKeys });
}

function readArguments(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        export: { type: 'string' },
        'key-file': { type: 'string' },
        'export-key': { type: 'string' },
        'former-key': { type: 'string', multiple: true },
        checkpoint: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return values;
  } catch (error) {
    throw new StartError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

function readCheckpoint(text: string | undefined): Checkpoint | null {
  if (text === undefined) return null;
  const checkpoint = parseCheckpoint(text);
  if (checkpoint === null) throw new StartError(`${text} is not a checkpoint such as 120:5f1c… of the log`);
  return checkpoint;
}

async function readKey(path: string): Promise<Buffer> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT', 'EISDIR', 'EACCES')) throw new StartError(`${path} cannot be read`);
    throw error;
  });
  const key = parseKeyText(text);
  if (key === null) throw new StartError(`${path} is not a key that --export-key has written`);
  return key;
}

interface Given {
  checkpoint: Checkpoint | null;
  formerKeys: readonly Buffer[];
}

function verifyDatabase(given: Given): Promise<void> {
  return withTrail(async (db, key) => {
    // One snapshot, so that entries written meanwhile are all in or all out.
    const verdict = await db.transaction(
      async (tx) => {
        const keyFrom = await findKeyStart(readAuditRows(tx, eq(auditLog.action, KEY_REPLACED)), key);
        return verifyAuditLog(readAuditRows(tx), { ...given, key, keyFrom });
      },
      { isolationLevel: 'repeatable read' },
    );
    report(verdict, null);
  });
}

async function verifyExport(path: string, given: Given & { key: Buffer }): Promise<void> {
  const { header, rows } = await openAuditExport(path);
  const keyFrom = await findKeyStart(rows(), given.key);
  report(
    await verifyAuditLog(rows(), { ...given, keyFrom, isFiltered: header.filter !== null }),
    header.filter,
  );
}

function report(verdict: Verdict, filter: Record<string, string> | null): void {
  if (!verdict.isUnbroken) {
    console.log(`The audit trail is broken: ${verdict.fault.text}`);
    process.exitCode = 1;
    return;
  }
  const { entries, unsealed, unchecked, tip } = verdict;
  const notes = [
    entries === 1 ? '1 entry' : `${entries} entries`,
    ...(tip === null ? [] : [`up to ${checkpointOf(tip)}`]),
    ...(unsealed === 0 ? [] : [`${unsealed} not sealed yet`]),
    ...(unchecked === 0 ? [] : [`${unchecked} of a former key not checked: give it with --former-key`]),
  ].join(', ');
  if (filter === null) console.log(`The audit trail is unbroken: ${notes}`);
  else {
    const by = Object.entries(filter).map(([name, value]) => `${name} ${value}`);
    console.log(`No entry was changed: ${notes}; filtered by ${by.join(', ')}, so removed ones do not show`);
  }
}

/** With the key entries can be forged, so taking it out is an entry itself. */
function writeKey(path: string): Promise<void> {
  return withTrail(async (db, key) => {
    await db.transaction(async (tx) => {
      await writeEntry(tx, {
        key,
        now: systemClock.now(),
        actor: programActor('audit:verify', 'command'),
        action: 'audit key exported',
        subject: { kind: 'installation', id: null, name: null },
      });
      await writeFile(path, keyText(key), { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
        if (hasCode(error, 'EEXIST')) throw new StartError(`${path} exists already`);
        if (hasCode(error, 'ENOENT', 'EACCES')) throw new StartError(`${path} cannot be written`);
        throw error;
      });
    });
    console.log(`${path} has the key of the audit trail. Keep it where the database is not.`);
  });
}

async function withTrail(work: (db: Queryable, key: Buffer) => Promise<void>): Promise<void> {
  const config = readConfig();
  const keys = await findSecretKeys(config);
  if (keys === null) throw new StartError('SECRET_KEY is unset, and the data folder has no secret.key');
  const secretBox = createSecretBox(keys.secretKey, keys.nextKey);
  await withDatabase({ config, command: 'audit:verify' }, async (db) => {
    const key = await readAuditKey({ db, secretBox }).catch((error: unknown) => {
      if (!(error instanceof SecretBoxError)) throw error;
      throw new StartError('The key of the audit trail was sealed by another SECRET_KEY');
    });
    if (key === null) throw new StartError('The audit trail has no entries yet');
    await work(db, key);
  });
}
