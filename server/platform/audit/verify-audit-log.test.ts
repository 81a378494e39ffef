import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import type { Db } from '../db/database.ts';
import { auditLog } from '../db/schema.ts';
import { createSecretBox } from '../secret-box.ts';
import { exportLines, openAuditExport } from './audit-export.ts';
import { loadAuditKey, replaceAuditKey } from './audit-key.ts';
import { readAuditRows } from './audit-rows.ts';
import { type AuditTrail, createAuditTrail, programActor } from './audit-trail.ts';
import { replaceLostAuditKey } from './replace-lost-key.ts';
import { checkpointOf, readTip } from './seal-audit-log.ts';
import {
  findKeyStart,
  KEY_REPLACED,
  parseCheckpoint,
  type Verdict,
  type VerifyOptions,
  verifyAuditLog,
} from './verify-audit-log.ts';

const ENTRIES = 12;
const clock = systemClock;
const secretBox = createSecretBox('a secret key of the verifier, long enough');

let testDatabase: TestDatabase;
let db: Db;
let key: Buffer;
let trail: AuditTrail;
let folder: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = testDatabase.database.db;
  trail = createAuditTrail({ db, clock, secretBox });
  folder = await mkdtemp(join(tmpdir(), 'signal-board-audit-'));
});
afterAll(async () => {
  await testDatabase.close();
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  await db.delete(auditLog);
  key = await replaceAuditKey({ db, secretBox });
  trail = createAuditTrail({ db, clock, secretBox });
  for (let number = 1; number <= ENTRIES; number += 1) await record(number);
  await trail.seal();
});

/** An entry with a value in every column. */
const record = (number: number) =>
  trail.record(db, {
    actor: {
      kind: 'user',
      id: randomUUID(),
      name: 'ann@example.com',
      address: '10.0.0.1',
      requestId: 'req-1',
    },
    action: 'settings changed',
    subject: { kind: 'user', id: randomUUID(), name: 'bob@example.com' },
    before: { portion: '0.05' },
    after: { portion: `0.${number}` },
  });

async function verify(options: Partial<VerifyOptions> = {}): Promise<Verdict> {
  const keyFrom = await findKeyStart(
    readAuditRows(db, eq(auditLog.action, KEY_REPLACED)),
    options.key ?? key,
  );
  return verifyAuditLog(readAuditRows(db), { key, keyFrom, ...options });
}

const change = (text: string) => db.execute(sql.raw(text));
const fault = (kind: string, sequence: number | null, text: string) => ({
  isUnbroken: false,
  fault: { kind, sequence, text: expect.stringContaining(text) },
});

test('a trail as the program wrote it is unbroken, with entries that are not sealed yet', async () => {
  await record(13);
  expect(await verify()).toMatchObject({ isUnbroken: true, entries: 13, unsealed: 1, tip: { sequence: 12 } });
});

test('twenty writers on two instances leave a trail without gaps', async () => {
  const trails = [trail, createAuditTrail({ db, clock, secretBox })];
  // As at the start: loads its key before transactions hold all connections.
  await trails[1]?.seal();
  let isWriting = true;
  const sealing = trails.map(async (one) => {
    while (isWriting) await one.seal();
  });
  const writing = Array.from({ length: 20 }, async (_, writer) => {
    for (let number = 0; number < 10; number += 1) {
      // A transaction that is rolled back leaves neither an entry nor a gap.
      const isUndone = number % 4 === 3;
      await db
        .transaction(async (tx) => {
          const actor = programActor(`writer ${writer}`);
          await trails[writer % 2]?.record(tx, { actor, action: 'settings changed' });
          if (isUndone) throw new Error('undone');
        })
        .catch((error: Error) => expect(error.message).toBe('undone'));
    }
  });
  await Promise.all(writing);
  isWriting = false;
  await Promise.all(sealing);
  await trail.seal();
  const rows = await db.select({ sequence: auditLog.sequence }).from(auditLog);
  const sequences = rows.map(({ sequence }) => sequence ?? 0).sort((one, other) => one - other);
  expect(sequences).toEqual(Array.from({ length: ENTRIES + 20 * 8 }, (_, index) => index + 1));
  expect(await verify()).toMatchObject({ isUnbroken: true, entries: ENTRIES + 160, unsealed: 0 });
});

// Requirements: additions-audit-2
describe('names the entry', () => {
  test.each([
    ['id', 'gen_random_uuid()'],
    ['at', "at + interval '1 millisecond'"],
    ['actor_kind', "'program'"],
    ['actor_id', 'null'],
    ['actor_name', "'eve@example.com'"],
    ['address', "'10.0.0.2'"],
    ['action', "'user created'"],
    ['subject_kind', "'webhook'"],
    ['subject_id', 'gen_random_uuid()'],
    ['subject_name', 'null'],
    ['before', `'{"portion":"0.06"}'`],
    ['after', 'null'],
    ['request_id', "'req-2'"],
  ])('whose %s was changed', async (column, value) => {
    await change(`update audit_log set "${column}" = ${value} where sequence = 7`);
    expect(await verify()).toEqual(fault('changed', 7, 'Entry 7 ('));
  });

  test.each([
    ['HMAC', "row_mac = decode(repeat('ab', 32), 'hex')"],
    ['row and its HMAC', "actor_name = 'eve', row_mac = decode(repeat('ab', 32), 'hex')"],
  ])('whose %s was changed', async (_what, values) => {
    await change(`update audit_log set ${values} where sequence = 7`);
    expect(await verify()).toEqual(fault('inserted', 7, 'Entry 7 ('));
  });

  test('whose chain hash was changed', async () => {
    await change(`update audit_log set chain_hash = decode(repeat('ab', 32), 'hex') where sequence = 7`);
    expect(await verify()).toEqual(fault('moved', 7, 'Entry 7 ('));
  });

  test('whose chain hash was taken away', async () => {
    await change('update audit_log set chain_hash = null where sequence = 7');
    expect(await verify()).toEqual(fault('moved', 7, 'Entry 7 ('));
  });

  test('that was deleted', async () => {
    await change('delete from audit_log where sequence = 5');
    expect(await verify()).toEqual(fault('removed', 5, 'Entry 5 was removed: Entry 4 ('));
  });

  test('that was deleted at the beginning', async () => {
    await change('delete from audit_log where sequence <= 2');
    expect(await verify()).toEqual(
      fault('removed', 1, 'Entries 1 to 2 were removed: the first one is Entry 3'),
    );
  });

  test('that was deleted while those after it moved up', async () => {
    await change('delete from audit_log where sequence = 5');
    await change('update audit_log set sequence = sequence - 1 where sequence > 5');
    expect(await verify()).toEqual(fault('moved', 5, 'or entries before it were removed'));
  });

  test('that was inserted at the end', async () => {
    await change(`insert into audit_log (id, sequence, at, actor_kind, actor_name, action, row_mac, chain_hash)
      select gen_random_uuid(), 13, at, actor_kind, actor_name, action, row_mac, chain_hash from audit_log where sequence = 12`);
    expect(await verify()).toEqual(fault('inserted', 13, 'Entry 13 ('));
  });

  test('that was inserted without a place', async () => {
    await change(`insert into audit_log (id, at, actor_kind, actor_name, action, row_mac)
      select gen_random_uuid(), at, actor_kind, actor_name, action, row_mac from audit_log where sequence = 12`);
    expect(await verify()).toEqual(fault('inserted', null, 'not sealed yet'));
  });

  test('that was inserted in the middle, with those after it moved down', async () => {
    await change('update audit_log set sequence = sequence + 100 where sequence >= 6');
    await change('update audit_log set sequence = sequence - 99 where sequence >= 100');
    await change(`insert into audit_log (id, sequence, at, actor_kind, actor_name, action, row_mac, chain_hash)
      select gen_random_uuid(), 6, at, actor_kind, actor_name, action, row_mac, chain_hash from audit_log where sequence = 5`);
    expect(await verify()).toEqual(fault('inserted', 6, 'Entry 6 ('));
  });

  test('that was swapped with another one', async () => {
    await change('update audit_log set sequence = 1000 where sequence = 4');
    await change('update audit_log set sequence = 4 where sequence = 9');
    await change('update audit_log set sequence = 9 where sequence = 1000');
    expect(await verify()).toEqual(fault('moved', 4, 'Entry 4 ('));
  });

  test('that was swapped with another one together with its chain hash', async () => {
    await change(`update audit_log set chain_hash = other.chain_hash from audit_log other
      where (audit_log.sequence, other.sequence) in ((4, 9), (9, 4))`);
    await change('update audit_log set sequence = 1000 where sequence = 4');
    await change('update audit_log set sequence = 4 where sequence = 9');
    await change('update audit_log set sequence = 9 where sequence = 1000');
    expect(await verify()).toMatchObject({ isUnbroken: false, fault: { sequence: 4 } });
  });

  test('that was moved to another place', async () => {
    await change('update audit_log set sequence = 100 where sequence = 5');
    expect(await verify()).toEqual(fault('removed', 5, 'Entry 5 was removed'));
  });
});

test('a trail whose end was cut off shows only beside a checkpoint', async () => {
  const tip = await readTip(db);
  if (tip === null) throw new Error('nothing was sealed');
  const checkpoint = parseCheckpoint(checkpointOf(tip));
  expect(await verify({ checkpoint })).toMatchObject({ isUnbroken: true });
  await change('delete from audit_log where sequence >= 11');
  expect(await verify()).toMatchObject({ isUnbroken: true, entries: 10 });
  expect(await verify({ checkpoint })).toEqual(
    fault('removed', 12, 'Entry 12 of the checkpoint was removed'),
  );
  // New entries in the place of the removed ones.
  await record(11);
  await record(12);
  await trail.seal();
  expect(await verify()).toMatchObject({ isUnbroken: true, entries: 12 });
  expect(await verify({ checkpoint })).toEqual(fault('changed', 12, 'is not the one of the checkpoint'));
});

test('an emptied trail shows beside a checkpoint', async () => {
  const tip = await readTip(db);
  const checkpoint = tip && parseCheckpoint(checkpointOf(tip));
  await change('truncate audit_log');
  expect(await verify({ checkpoint })).toEqual(fault('removed', 12, 'there are no sealed entries'));
});

test.each(['', '12', '0:ab', `12:${'g'.repeat(64)}`, `x:${'a'.repeat(64)}`])(
  '%j is no checkpoint',
  (text) => {
    expect(parseCheckpoint(text)).toBeNull();
  },
);

test('a trail under another key is not taken for unbroken', async () => {
  expect(await verify({ key: Buffer.alloc(32, 7) })).toEqual(fault('inserted', 1, 'Entry 1 ('));
});

describe('after a lost key was replaced', () => {
  let former: Buffer;
  let next: Buffer;

  beforeEach(async () => {
    former = key;
    await record(13);
    const otherBox = createSecretBox('another secret key of the verifier, long enough');
    const log = { warn: () => {} };
    const deps = { db, clock, log, secretBox: otherBox, isNewSecretKey: true };
    expect(await replaceLostAuditKey(deps)).toBe(true);
    next = await loadAuditKey({ db, secretBox: otherBox });
    trail = createAuditTrail({ db, clock, secretBox: otherBox });
    await record(14);
    await trail.seal();
  });

  test('new entries are checked, and the former ones with the former key', async () => {
    expect(await verify({ key: next })).toMatchObject({ isUnbroken: true, entries: 15, unchecked: ENTRIES });
    const both = await verify({ key: next, formerKeys: [former] });
    expect(both).toMatchObject({ isUnbroken: true, entries: 15, unchecked: 0 });
  });

  test('a changed former entry shows with the former key', async () => {
    await change("update audit_log set actor_name = 'eve' where sequence = 3");
    expect(await verify({ key: next, formerKeys: [former] })).toEqual(fault('changed', 3, 'Entry 3 ('));
  });

  test('a missing former entry shows without the former key', async () => {
    await change('delete from audit_log where sequence = 3');
    expect(await verify({ key: next })).toEqual(fault('removed', 3, 'Entry 3 was removed'));
  });
});

// Requirements: additions-audit-3
describe('an export', () => {
  let path: string;
  let lines: string[];

  beforeEach(async () => {
    path = join(folder, 'export.ndjson');
    lines = await writeExport(null);
  });

  async function writeExport(filter: Record<string, string> | null, where = sql`true`): Promise<string[]> {
    const written: string[] = [];
    const header = { exportedAt: new Date().toISOString(), filter };
    for await (const text of exportLines(readAuditRows(db, where), header)) written.push(text);
    await writeFile(path, written.join(''));
    return written;
  }

  async function verifyFile(rewritten?: readonly string[]): Promise<Verdict> {
    if (rewritten !== undefined) await writeFile(path, rewritten.join(''));
    const { header, rows } = await openAuditExport(path);
    const keyFrom = await findKeyStart(rows(), key);
    return verifyAuditLog(rows(), { key, keyFrom, isFiltered: header.filter !== null });
  }

  test('is verified without the database', async () => {
    await change('truncate audit_log');
    expect(await verifyFile()).toMatchObject({ isUnbroken: true, entries: ENTRIES, tip: { sequence: 12 } });
  });

  test('with a changed line names its entry', async () => {
    const changed = lines.map((text) => text.replace('"portion":"0.7"', '"portion":"0.8"'));
    expect(changed).not.toEqual(lines);
    expect(await verifyFile(changed)).toEqual(fault('changed', 7, 'Entry 7 ('));
  });

  test('with lines in another order names the first in a wrong place', async () => {
    const [header = '', first = '', second = '', ...rest] = lines;
    expect(await verifyFile([header, second, first, ...rest])).toEqual(fault('moved', 1, 'Entry 1 ('));
  });

  test('with a line that was taken out is refused, and named when the count was changed too', async () => {
    const without = lines.toSpliced(5, 1);
    await expect(verifyFile(without)).rejects.toThrow('should have 12 entries and has 11');
    const counted = without.map((text) => text.replace('{"entries":12}', '{"entries":11}'));
    expect(await verifyFile(counted)).toEqual(fault('removed', 5, 'Entry 5 was removed'));
  });

  test('whose end is missing is refused', async () => {
    await expect(verifyFile(lines.slice(0, -1))).rejects.toThrow('is not whole: its end is missing');
    await writeFile(path, (await readFile(path, 'utf8')).slice(0, -20));
    await expect(verifyFile()).rejects.toThrow(/is not an entry|its end is missing/);
  });

  test('with a line that is no entry is refused', async () => {
    await expect(verifyFile(lines.toSpliced(3, 1, '{"id":"x"}\n'))).rejects.toThrow('Line 4 of');
  });

  test('of something else is refused', async () => {
    await expect(verifyFile(['a;b;c\n'])).rejects.toThrow('is not an export of the audit trail');
  });

  test('with a filter is checked entry by entry', async () => {
    const some = await writeExport({ subject: 'bob@example.com' }, sql`sequence in (2, 3, 8)`);
    expect(await verifyFile()).toMatchObject({ isUnbroken: true, entries: 3 });
    const changed = some.map((text) => text.replace('"portion":"0.8"', '"portion":"0.9"'));
    expect(await verifyFile(changed)).toMatchObject({ isUnbroken: false, fault: { sequence: 8 } });
  });
});
