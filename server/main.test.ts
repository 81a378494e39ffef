import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SIGNAL } from '#test/app/test-sender.ts';
import { PROGRAM, startServerProcess, type TestServerProcess } from '#test/app/test-server-process.ts';
import { findPostmaster, stopPostmaster } from './platform/db/embedded-postmaster.ts';

const COMPILE_CACHE = fileURLToPath(new URL('../.cache/node', import.meta.url));

let dataDir: string;
let servers: TestServerProcess[];
let children: ChildProcess[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'signal-board-main-'));
  servers = [];
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const server of servers) await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(env: Record<string, string> = {}): Promise<TestServerProcess> {
  const server = await startServerProcess({ dataDir, env });
  servers.push(server);
  return server;
}

/** Runs the program to its end, for starts that fail. */
async function runToEnd(env: Record<string, string>, args: string[] = []) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: dataDir,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, PORT: '0', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => (stdout += String(text)));
  child.stderr.on('data', (text) => (stderr += String(text)));
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

async function login(server: TestServerProcess, password: string): Promise<number> {
  const answer = await fetch(`${server.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.url },
    body: JSON.stringify({ username: server.adminUsername, password }),
  });
  return answer.status;
}

function databaseRuns(): Promise<boolean> {
  return findPostmaster(join(dataDir, 'postgres')).then((found) => found !== null);
}

test('the first start prints a password that works, and the second start says that it is as before', async () => {
  const first = await start({ ADMIN_PASSWORD: '' });
  const password = /^ {2}Password +(\S+) +\(shown only this once\)$/m.exec(first.output())?.[1] ?? '';
  expect(await login(first, password)).toBe(200);
  expect(await first.stop()).toBe(0);
  const second = await start({ ADMIN_PASSWORD: '' });
  expect(second.output()).toContain('Password    as set before');
  expect(second.output()).not.toContain(password);
  expect(await login(second, password)).toBe(200);
});

test('a weak ADMIN_PASSWORD ends the first start with a line that says why, and a later start ignores it', async () => {
  const refused = await runToEnd({ ADMIN_PASSWORD: '123456' });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toBe(
    'ADMIN_PASSWORD is not accepted: This is one of the most used passwords. Choose another one.\n',
  );
  expect(await databaseRuns()).toBe(false);
  const first = await start();
  expect(await first.stop()).toBe(0);
  const later = await start({ ADMIN_PASSWORD: '123456' });
  expect(await login(later, first.adminPassword)).toBe(200);
});

// Requirements: settings-of-the-program-8
test('a start with another SECRET_KEY than the first is refused, unless the former one is given up', async () => {
  const first = await start();
  expect(await first.stop()).toBe(0);
  const other = { SECRET_KEY: 'another secret key, of the right length' };
  const refused = await runToEnd(other);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /^The SECRET_KEY \(or DATA_DIR\/secret\.key\) is not the one .* --new-secret-key .*\n$/,
  );
  expect(await databaseRuns()).toBe(false);
  const given = await startServerProcess({ dataDir, env: other, args: ['--new-secret-key'] });
  servers.push(given);
  expect(await login(given, given.adminPassword)).toBe(200);
  expect(await given.stop()).toBe(0);
  expect((await runToEnd({})).code).toBe(1);
});

test('the database server gets none of the secrets of the program', async () => {
  await start({
    SECRET_KEY: 'canary-1 of a secret key, long enough',
    ADMIN_PASSWORD: 'canary-2 of a password',
    METRICS_TOKEN: 'canary-3 of a token',
    EXCHANGE_PROXY_URL: 'http://user:canary-4@127.0.0.1:9',
    ANOTHER_PROGRAMS_TOKEN: 'canary-5',
    PGDATA: '/nowhere',
    LANG: 'xx_XX',
  });
  const pid = (await findPostmaster(join(dataDir, 'postgres')))?.pid ?? 0;
  const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter(Boolean);
  const names = environment.map((entry) => entry.split('=', 1)[0]);
  expect(names.toSorted()).toEqual(['LC_ALL', 'PATH', 'TMPDIR']);
  expect(environment.join('\n')).not.toContain('canary');
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends the program and its database with exit code 0',
  async (signal) => {
    const server = await start();
    const ended = once(server.child, 'exit');
    const startedAt = Date.now();
    server.child.kill(signal);
    // A terminal and the starting program both send it.
    server.child.kill(signal);
    expect(await ended).toEqual([0, null]);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(await databaseRuns()).toBe(false);
  },
);

test('a stop keeps the database open until the jobs under way have ended', async () => {
  const server = await start({ LOG_LEVEL: 'info' });
  const { host, port } = (await findPostmaster(join(dataDir, 'postgres'))) ?? { host: '', port: 0 };
  const database = new pg.Client({ host, port, user: 'postgres', database: 'signal_board' });
  await database.connect();
  try {
    const post = (path: string, body: object, cookie = '') =>
      fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: server.url, cookie },
        body: JSON.stringify(body),
      });
    const { adminUsername: username, adminPassword: password } = server;
    const cookie = (await post('/api/auth/login', { username, password })).headers.get('set-cookie') ?? '';
    const { hookKey } = await (await post('/api/hooks', {}, cookie.split(';')[0])).json();
    await database.query('begin');
    await database.query('lock table workflow_steps in access exclusive mode');
    await post(`/hooks/trading_view_signal?hkid=${hookKey}`, SIGNAL);
    const isWaiting = async () =>
      (
        await database.query(
          "select from pg_locks where not granted and relation = 'workflow_steps'::regclass",
        )
      ).rowCount;
    await expect.poll(isWaiting, { timeout: 10_000 }).toBeGreaterThan(0);
    const ended = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    await sleep(4_500);
    await database.query('commit');
    await database.end();
    expect(await ended).toEqual([0, null]);
    expect(server.output()).not.toMatch(/took too long to stop|job failed|handed over/);
  } finally {
    await database.end().catch(() => {});
  }
});

test('a stop during the start leaves no database running', async () => {
  const child = spawn(process.execPath, [PROGRAM], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, PORT: '0', DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  expect(await databaseRuns()).toBe(false);
});

test('after kill -9 the next start takes over the database with all that is in it', async () => {
  const first = await start();
  await first.kill9();
  expect(await databaseRuns()).toBe(true);
  const second = await start();
  expect(second.output()).toContain('Password    as set before');
  expect(await login(second, second.adminPassword)).toBe(200);
});

test('after kill -9 of the program and its database the next start works', async () => {
  const first = await start();
  const database = await findPostmaster(join(dataDir, 'postgres'));
  if (database) process.kill(database.pid, 'SIGKILL');
  await first.kill9();
  const second = await start();
  expect(await login(second, second.adminPassword)).toBe(200);
});

test('a second program on the same data folder is refused with one line and the first goes on', async () => {
  const first = await start();
  const { code, stdout, stderr } = await runToEnd({});
  expect(stderr).toBe(
    `Signal Board is already running on ${dataDir}; stop it first, or choose another DATA_DIR\n`,
  );
  expect(stdout).toBe('');
  expect(code).toBe(1);
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
});

test('a port in use is one line, and nothing is started for it', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { code, stdout, stderr } = await runToEnd({ PORT: String(port) });
  other.close();
  expect(stderr).toBe(`127.0.0.1:${port} is already in use; set PORT to another port\n`);
  expect(stdout).toBe('');
  expect(code).toBe(1);
  expect(await databaseRuns()).toBe(false);
});

// Requirements: settings-of-the-program-1
test('a bad setting is one line', async () => {
  expect(await runToEnd({ AUTO_TRADE: 'maybe' })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'AUTO_TRADE is "maybe"; it takes enabled or disabled\n',
  });
});

test.each([
  [
    'the live mode on an open address without an outside address',
    { EXCHANGE_MODE: 'live', HOST: '0.0.0.0' },
    'PUBLIC_URL is unset; with EXCHANGE_MODE=live and HOST=0.0.0.0, which other machines can reach, it takes the https:// address of the proxy in front, such as https://board.example.com',
  ],
  [
    'the demo mode on an open address with an outside address of plain HTTP',
    { EXCHANGE_MODE: 'demo', HOST: '0.0.0.0', PUBLIC_URL: 'http://board.example.com' },
    'PUBLIC_URL is "http://board.example.com"; with EXCHANGE_MODE=demo and HOST=0.0.0.0, which other machines can reach, it takes the https:// address of the proxy in front, such as https://board.example.com',
  ],
  [
    'a secret key of one letter',
    { SECRET_KEY: 'k'.repeat(32) },
    'SECRET_KEY has 1 distinct character; it takes at least 8 of them. Where a database was sealed with it, start once with another one and --new-secret-key',
  ],
])('%s is refused with one line before anything is started', async (_what, env, line) => {
  expect(await runToEnd(env)).toEqual({ code: 2, stdout: '', stderr: `${line}\n` });
  expect(await databaseRuns()).toBe(false);
});

test('a key file with too few characters of its own is refused as well', async () => {
  const path = join(dataDir, 'secret.key');
  await writeFile(path, `${'ab'.repeat(20)}\n`);
  const { code, stderr } = await runToEnd({});
  expect(stderr).toBe(
    `${path} has 2 distinct characters; it takes at least 8 of them. Where a database was sealed with it, start once with another one and --new-secret-key\n`,
  );
  expect(code).toBe(2);
});

test('the live mode starts on an open address with an https one outside, and health answers under any name', async () => {
  const server = await start({
    EXCHANGE_MODE: 'live',
    HOST: '0.0.0.0',
    PUBLIC_URL: 'https://board.example.com',
    BITGET_BASE_URL: 'http://127.0.0.1:9',
    BYBIT_BASE_URL: 'http://127.0.0.1:9',
  });
  expect(server.output()).toContain('Public URL  https://board.example.com');
  for (const path of ['/healthz', '/readyz', '/metrics'])
    expect((await fetch(`${server.url}${path}`)).status, path).toBe(200);
  expect((await fetch(`${server.url}/api/auth/user`)).status).toBe(421);
});

test('--help lists the settings and starts nothing', async () => {
  const { code, stdout } = await runToEnd({}, ['--help']);
  expect(code).toBe(0);
  expect(stdout).toContain('\n  DATA_DIR\n');
  expect(await databaseRuns()).toBe(false);
});

test('a database that cannot be kept running ends the program', async () => {
  const server = await start();
  const ended = once(server.child, 'exit');
  const cluster = join(dataDir, 'postgres');
  const database = await findPostmaster(cluster);
  await rm(join(cluster, 'global', 'pg_control'));
  if (database) process.kill(database.pid, 'SIGKILL');
  expect(await ended).toEqual([1, null]);
  expect(server.output()).toContain('the program cannot go on');
  const left = await findPostmaster(cluster);
  if (left) await stopPostmaster({ pid: left.pid, waitMs: 5_000 });
});
