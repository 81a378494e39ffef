import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AuditAnswer } from '#contract/audit.ts';
import { startServerProcess, type TestServerProcess } from '#test/app/test-server-process.ts';
import { startEmbedded } from './platform/db/embedded.ts';
import { findPostmaster } from './platform/db/embedded-postmaster.ts';
import { openDatabase } from './platform/db/pool.ts';
import { createLog } from './platform/log.ts';

// The commands as an operator uses them, on the embedded database.

const COMPILE_CACHE = join(import.meta.dirname, '..', '.cache', 'node');

let folder: string;
let running: TestServerProcess[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signal-board-commands-'));
  running = [];
});
afterEach(async () => {
  for (const one of running) await one.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(dataDir: string): Promise<TestServerProcess> {
  const server = await startServerProcess({ dataDir });
  running.push(server);
  return server;
}

async function run(file: string, dataDir: string, ...args: string[]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, file), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, TMPDIR: tmpdir(), NODE_COMPILE_CACHE: COMPILE_CACHE, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  return { code, output };
}

async function post(
  server: Pick<TestServerProcess, 'url'>,
  path: string,
  body: unknown,
  cookie = '',
): Promise<Response> {
  return await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.url, cookie },
    body: JSON.stringify(body),
  });
}

const tryToSignIn = ({ adminUsername: username, ...server }: TestServerProcess, password: string) =>
  post(server, '/api/auth/login', { username, password });

async function signIn(server: TestServerProcess): Promise<string> {
  const answer = await tryToSignIn(server, server.adminPassword);
  expect(answer.status).toBe(200);
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** What commands have left in the audit trail, newest first. */
async function entriesOfCommands({ url }: TestServerProcess, cookie: string): Promise<string[]> {
  const answer = await fetch(`${url}/api/audit?limit=100`, { headers: { cookie } });
  const { entries } = (await answer.json()) as AuditAnswer;
  return entries.filter(({ actor }) => actor.kind === 'command').map(({ action }) => action);
}

test('restores a backup of a running program into a new data folder, where the webhook still works', {
  timeout: 300_000,
}, async () => {
  const [old, fresh] = [join(folder, 'old'), join(folder, 'fresh')];
  await mkdir(old, { mode: 0o700 });
  const first = await start(old);
  const hook = (await (await post(first, '/api/hooks', {}, await signIn(first))).json()) as {
    hookKey: string;
  };
  const backedUp = await run('backup.ts', old);
  expect(backedUp.output).toMatch(/signal-board-\d{8}T\d{6}\.backup: \d+ rows of \d+ tables/);
  expect(backedUp.output).toContain(`Keep ${join(old, 'secret.key')} as well`);
  expect(backedUp.code).toBe(0);
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  expect(await entriesOfCommands(first, await signIn(first))).toEqual(['backup written']);
  const [name = ''] = await readdir(join(old, 'backups'));
  const file = join(old, 'backups', name);

  await rename(join(old, 'secret.key'), join(old, 'lost.key'));
  expect(await run('backup.ts', old)).toMatchObject({
    code: 1,
    output: `There is no ${join(old, 'secret.key')}: put the key of this database back first\n`,
  });
  expect(await readdir(old)).not.toContain('secret.key');
  await rename(join(old, 'lost.key'), join(old, 'secret.key'));

  await first.stop();
  expect(await run('restore.ts', fresh, file)).toMatchObject({
    code: 1,
    output: expect.stringContaining('secret.key: put the one that belongs to the backup there first'),
  });
  expect(await run('restore.ts', fresh, file, '--replace')).toMatchObject({
    code: 1,
    output: expect.stringContaining('--replace needs --yes'),
  });
  await mkdir(fresh, { mode: 0o700 });
  await copyFile(join(old, 'secret.key'), join(fresh, 'secret.key'));
  const restored = await run('restore.ts', fresh, file);
  expect(restored.output).toMatch(/^Restored \d+ rows/);
  expect(restored.code).toBe(0);
  const second = await start(fresh);
  expect(second.output()).toContain('Password    as set before');
  const cookie = await signIn(second);
  // The entry about the backup is written when the backup is complete.
  expect(await entriesOfCommands(second, cookie)).toEqual(['backup restored']);
  const signal = { symbol: 'BTCUSDT', action: 'buy', price: '1', timeframe: '15', processor: 'Tesla' };
  expect((await post(second, `/hooks/trading_view_signal?hkid=${hook.hookKey}`, signal)).status).toBe(200);
  const listed = await fetch(`${second.url}/api/signals`, { headers: { cookie } });
  expect(((await listed.json()) as { total: number }).total).toBe(1);
});

// Requirements: sign-in-and-sessions-4
test('replaces a forgotten password while the program runs, and without it', {
  timeout: 300_000,
}, async () => {
  const data = join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
  const first = await start(data);
  const cookie = await signIn(first);
  const reset = await run('reset-password.ts', data, ` ${first.adminUsername.toUpperCase()}`);
  expect(reset).toMatchObject({
    code: 0,
    output: expect.stringContaining(`The password of ${first.adminUsername} is now `),
  });
  const passwordIn = (output: string) => output.match(/is now (\S+)$/m)?.[1] ?? '';
  expect((await fetch(`${first.url}/api/auth/user`, { headers: { cookie } })).status).toBe(401);
  expect((await tryToSignIn(first, first.adminPassword)).status).toBe(401);
  expect((await tryToSignIn(first, passwordIn(reset.output))).status).toBe(200);

  await first.stop();
  const again = await run('reset-password.ts', data, first.adminUsername);
  expect(again.code).toBe(0);
  const second = await start(data);
  expect((await tryToSignIn(second, passwordIn(reset.output))).status).toBe(401);
  const last = await tryToSignIn(second, passwordIn(again.output));
  expect(last.status).toBe(200);
  const session = last.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect(await entriesOfCommands(second, session)).toEqual(['password reset', 'password reset']);
  expect(second.output()).not.toContain(passwordIn(again.output));
});

// Requirements: sign-in-and-sessions-4
test('needs a user and a database to reset a password', async () => {
  const data = join(folder, 'nothing');
  expect(await run('reset-password.ts', data, 'somebody@example.com')).toMatchObject({
    code: 1,
    output: expect.stringContaining(`There is no database in ${data} (DATA_DIR)`),
  });
  expect(await readdir(folder)).toEqual([]);
  const usage = { code: 1, output: expect.stringContaining('Usage: npm run reset-password -- username') };
  expect(await run('reset-password.ts', data)).toMatchObject(usage);
  expect(await run('reset-password.ts', data, 'one', 'two')).toMatchObject(usage);

  await mkdir(data, { mode: 0o700 });
  const { adminUsername } = await start(data);
  expect(await run('reset-password.ts', data, 'nobody@example.com')).toMatchObject({
    code: 1,
    output: expect.stringContaining(
      `There is no user "nobody@example.com"; the administrators are: ${adminUsername}\n`,
    ),
  });
});

test('refuses a data folder from before the baseline in every command, and leaves it unchanged', {
  timeout: 300_000,
}, async () => {
  const data = join(folder, 'older');
  const log = createLog({ level: 'silent' });
  const config = { databaseUrl: null, dataDir: data };
  const made = await openDatabase({ config, log });
  await made.pool.query(`
    create schema drizzle;
    create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
    insert into drizzle.__drizzle_migrations (hash, created_at) values
      ('a52d679d0070495c5357f590c426d716e3f09ebc874c779f0f3c14ddb5680ed8', 1795280028009),
      ('7aeec32538c970cc9d8c16586a9294d0a7be7a71dd568cd93d35bbc2eee19eca', 1795288330730);
    create table users (id uuid primary key)`);
  await made.close();
  await writeFile(join(data, 'secret.key'), 'a secret key of the tests, long enough', { mode: 0o600 });
  await writeFile(join(folder, '.env'), 'PORT=0\n');
  const commands = [
    ['main.ts'],
    ['backup.ts'],
    ['restore.ts', join(folder, 'board.backup'), '--replace', '--yes'],
    ['reset-password.ts', 'admin@example.com'],
  ] as const;
  const refused = {
    code: 1,
    output: `The database in ${data} (DATA_DIR) was made by an older version and cannot be taken over: close all positions with that version, keep a backup of it (npm run backup), then start this version with a new DATA_DIR\n`,
  };
  for (const [file, ...args] of commands) expect(await run(file, data, ...args), file).toEqual(refused);
  expect(await findPostmaster(join(data, 'postgres'))).toBeNull();

  // While a program of that version runs, the commands meet its server.
  const server = await startEmbedded({ dataDir: data, log });
  const client = new pg.Client(server.connection);
  try {
    expect(await run('backup.ts', data)).toEqual(refused);
    expect(await run('reset-password.ts', data, 'admin@example.com')).toEqual(refused);
    await client.connect();
    const { rows } = await client.query(
      `select relname as name from pg_class
       where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'drizzle', 'jobs') order by 1`,
    );
    expect(rows).toEqual([{ name: '__drizzle_migrations' }, { name: 'users' }]);
    expect((await client.query('select from drizzle.__drizzle_migrations')).rowCount).toBe(2);
  } finally {
    await client.end();
    await server.stop();
  }
});
