import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServerProcess, type TestServerProcess } from '#test/app/test-server-process.ts';

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

test('a backup of a running program is restored into a new data folder, where the webhook goes on', {
  timeout: 120_000,
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
  const [name = ''] = await readdir(join(old, 'backups'));
  const file = join(old, 'backups', name);

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
  const signal = { symbol: 'BTCUSDT', action: 'buy', price: '1', timeframe: '15', processor: 'Tesla' };
  expect((await post(second, `/hooks/trading_view_signal?hkid=${hook.hookKey}`, signal)).status).toBe(200);
  const listed = await fetch(`${second.url}/api/signals`, { headers: { cookie } });
  expect(((await listed.json()) as { total: number }).total).toBe(1);
});

// Requirements: sign-in-and-sessions-4
test('a forgotten password is replaced beside the running program, and without it', {
  timeout: 120_000,
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
  expect((await tryToSignIn(second, passwordIn(again.output))).status).toBe(200);
  expect(second.output()).not.toContain(passwordIn(again.output));
});

// Requirements: sign-in-and-sessions-4
test('a password is reset of a user alone, in a database that is there', async () => {
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
