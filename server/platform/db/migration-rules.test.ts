import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/**
 * Expand, then contract (CONTRIBUTING.md): a program of the previous version keeps running next to the one that
 * migrates, so a migration only adds. Every database begins with the baseline.
 */
const BASELINE = '0000_baseline.sql';
const BASELINE_HASH = 'cf7abc4029c8be9a7dff6d13fba4b120523b80c619088dbb593d88bec02ee351';
const FOLDER = 'migrations';

/** Allowed exceptions, and why they break no program of the previous version. */
const EXCEPTIONS: Record<string, { rule: string; reason: string }[]> = {};

const files = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .sort();
const textOf = (file: string) => readFileSync(`${FOLDER}/${file}`, 'utf8');

const withoutComments = (sql: string) => sql.replaceAll(/--.*$/gm, ' ').replaceAll(/\/\*[\s\S]*?\*\//g, ' ');
const name = String.raw`(?:"?public"?\.)?"?(\w+)"?`;
const namesBy = (sql: string, pattern: string) =>
  [...sql.matchAll(new RegExp(pattern, 'gi'))].map((match) => match[1] ?? '');

/** The names of all unique keys that a file creates, including indexes in a DO block. */
const uniqueKeysOf = (sql: string) => [
  ...namesBy(sql, `create unique index (?:concurrently )?(?:if not exists )?${name}`),
  ...namesBy(sql, `constraint ${name}\\s+(?:unique|primary key)`),
  ...namesBy(sql, `create (?:unlogged )?table (?:if not exists )?${name}`).map((table) => `${table}_pkey`),
];

/** `earlier`: the text of all earlier migrations. */
function breaches(text: string, earlier = ''): string[] {
  const sql = withoutComments(text);
  const found = new Set<string>();
  const forbid = (rule: string, pattern: RegExp) => {
    if (pattern.test(sql)) found.add(rule);
  };
  forbid('drops a table or column', /\bdrop\s+(table|column|schema|view|type)\b/i);
  forbid('renames', /\brename\s+(to|column|constraint|")/i);
  forbid('changes a type', /\balter\s+(column\s+)?"?\w+"?\s+(set\s+data\s+)?type\b/i);
  forbid('forbids null', /\bset\s+not\s+null\b/i);
  for (const [column] of sql.matchAll(/\badd\s+column\b[^;]*?(?=,\s*add\b|;|$)/gi)) {
    if (/\bnot\s+null\b/i.test(column) && !/\b(default|generated)\b/i.test(column)) {
      found.add('adds a column that must not be null and has no default');
    }
  }
  const unique = new Set(uniqueKeysOf(withoutComments(earlier)));
  const dropped = [
    ...namesBy(sql, `drop index (?:concurrently )?(?:if exists )?${name}`),
    ...namesBy(sql, `drop constraint (?:if exists )?${name}`),
  ];
  if (dropped.some((key) => unique.has(key))) found.add('drops a unique key');
  const own = new Set(namesBy(sql, `create table (?:if not exists )?${name}`));
  const narrowed = [
    ...namesBy(sql, `create unique index[^;]*? on (?:only )?${name}`),
    ...namesBy(sql, `alter table (?:only )?${name}\\s+add constraint "?\\w+"?\\s+unique`),
  ];
  if (narrowed.some((table) => !own.has(table))) found.add('makes a key of a table that is there unique');
  return [...found];
}

const judged = files.filter((file) => file !== BASELINE);

test('the baseline comes first and stays unchanged, because a database is recognized by its hash', () => {
  expect(files[0]).toBe(BASELINE);
  expect(createHash('sha256').update(textOf(BASELINE)).digest('hex')).toBe(BASELINE_HASH);
});

test.each(judged)('%s only adds, except for listed exceptions', (file) => {
  const earlier = files
    .filter((other) => other < file)
    .map(textOf)
    .join('\n');
  const allowed = (EXCEPTIONS[file] ?? []).map(({ rule }) => rule);
  expect(breaches(textOf(file), earlier).sort()).toEqual(allowed.sort());
});

test('every exception belongs to an existing migration and has a reason', () => {
  for (const [file, exceptions] of Object.entries(EXCEPTIONS)) {
    expect(judged).toContain(file);
    for (const { reason } of exceptions) expect(reason).not.toBe('');
  }
});

describe('statements that would break a program of the previous version', () => {
  const EARLIER = `CREATE TABLE "signals" ("id" uuid PRIMARY KEY NOT NULL, "hash" text);
    CREATE UNIQUE INDEX "signals_hash" ON "signals" USING btree ("hash");
    CREATE INDEX "signals_received" ON "signals" ("received_at");`;
  test.each([
    ['drops a table or column', 'DROP TABLE "signals";'],
    ['drops a table or column', 'ALTER TABLE "signals" DROP COLUMN "hash";'],
    ['renames', 'ALTER TABLE "signals" RENAME COLUMN "hash" TO "digest";'],
    ['renames', 'ALTER TABLE "signals" RENAME TO "alerts";'],
    ['changes a type', 'ALTER TABLE "signals" ALTER COLUMN "hash" SET DATA TYPE bytea USING "hash"::bytea;'],
    ['changes a type', 'ALTER TABLE signals ALTER hash TYPE bytea;'],
    ['forbids null', 'ALTER TABLE "signals" ALTER COLUMN "hash" SET NOT NULL;'],
    [
      'adds a column that must not be null and has no default',
      'ALTER TABLE "signals" ADD COLUMN "kind" text NOT NULL;',
    ],
    ['drops a unique key', 'DO $$ BEGIN\n DROP INDEX "signals_hash"; END $$;'],
    ['drops a unique key', 'ALTER TABLE "signals" DROP CONSTRAINT "signals_pkey";'],
    ['makes a key of a table that is there unique', 'CREATE UNIQUE INDEX "x" ON "signals" ("hash");'],
    ['makes a key of a table that is there unique', 'ALTER TABLE signals ADD CONSTRAINT x UNIQUE (hash);'],
  ])('%s: %s', (rule, sql) => {
    expect(breaches(sql, EARLIER)).toEqual([rule]);
  });

  test('do not include what such a program does not notice', () => {
    const additions = `-- DROP TABLE in a comment
      CREATE TABLE "more" ("id" uuid PRIMARY KEY NOT NULL, "kind" text NOT NULL);
      CREATE UNIQUE INDEX "more_kind" ON "more" USING btree ("kind");
      ALTER TABLE "signals" ADD COLUMN "kind" text;
      ALTER TABLE "signals" ADD COLUMN "tries" integer DEFAULT 0 NOT NULL;
      DROP INDEX "signals_received";
      CREATE INDEX "signals_kind" ON "signals" USING btree ("kind");`;
    expect(breaches(additions, EARLIER)).toEqual([]);
  });
});
