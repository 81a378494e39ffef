import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PROGRAM, startServerProcess, type TestServerProcess } from '#test/test-server-process.ts';
import { findPostmaster, stopPostmaster } from './platform/database/embedded-postmaster.ts';

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

test('a bad setting is one line', async () => {
  expect(await runToEnd({ AUTO_TRADE: 'maybe' })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'AUTO_TRADE is "maybe"; it takes enabled or disabled\n',
  });
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
