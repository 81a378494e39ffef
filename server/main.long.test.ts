import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { programFolder } from '#test/app/program-folder.ts';
import { SIGNAL } from '#test/app/test-sender.ts';
import { findPostmaster, stopPostmaster } from './platform/db/embedded-postmaster.ts';
// Every refused setting.
import './main.test.ts';

const folder = programFolder();

test('ignores ADMIN_PASSWORD on a later start', async () => {
  const first = await folder.start();
  expect(await first.stop()).toBe(0);
  const later = await folder.start({ ADMIN_PASSWORD: '123456' });
  expect(await folder.login(later, first.adminPassword)).toBe(200);
});

test('ends the program and its database with exit code 0 on SIGINT', async () => {
  const server = await folder.start();
  const ended = once(server.child, 'exit');
  server.child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(await folder.databaseRuns()).toBe(false);
});

// Requirements: settings-of-the-program-8
test('refuses a start with another SECRET_KEY than the first, unless the former one is given up', async () => {
  const first = await folder.start();
  expect(await first.stop()).toBe(0);
  const other = { SECRET_KEY: 'another secret key, of the right length' };
  const refused = await folder.runToEnd(other);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /^The SECRET_KEY \(or DATA_DIR\/secret\.key\) is not the one .* --new-secret-key .*\n$/,
  );
  expect(await folder.databaseRuns()).toBe(false);
  const given = await folder.start(other, ['--new-secret-key']);
  expect(await folder.login(given, given.adminPassword)).toBe(200);
  expect(await given.stop()).toBe(0);
  expect((await folder.runToEnd({})).code).toBe(1);
});

test('keeps the database open on a stop until the jobs in progress have ended', async () => {
  const server = await folder.start({ LOG_LEVEL: 'info' });
  const { host, port } = (await findPostmaster(folder.cluster())) ?? { host: '', port: 0 };
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

test('starts again after kill -9 of the program and its database', async () => {
  const first = await folder.start();
  const database = await findPostmaster(folder.cluster());
  if (database) process.kill(database.pid, 'SIGKILL');
  await first.kill9();
  const second = await folder.start();
  expect(await folder.login(second, second.adminPassword)).toBe(200);
});

test('starts live mode on an open address with an https one outside, and answers health under any name', async () => {
  const server = await folder.start({
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

test('ends the program when its database cannot be kept running', async () => {
  const server = await folder.start();
  const ended = once(server.child, 'exit');
  const cluster = folder.cluster();
  const database = await findPostmaster(cluster);
  await rm(join(cluster, 'global', 'pg_control'));
  if (database) process.kill(database.pid, 'SIGKILL');
  expect(await ended).toEqual([1, null]);
  expect(server.output()).toContain('the program cannot go on');
  const left = await findPostmaster(cluster);
  if (left) await stopPostmaster({ pid: left.pid, waitMs: 5_000 });
});

test('leaves no database running after a stop during the start', async () => {
  const child = folder.spawnProgram();
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  expect(await folder.databaseRuns()).toBe(false);
});

test('refuses a key file with too few distinct characters', async () => {
  const path = join(folder.dataDir(), 'secret.key');
  await writeFile(path, `${'ab'.repeat(20)}\n`);
  const { code, stderr } = await folder.runToEnd({});
  expect(stderr).toBe(
    `${path} has 2 distinct characters; it takes at least 8 of them. Where a database was sealed with it, start once with another one and --new-secret-key\n`,
  );
  expect(code).toBe(2);
});

test('leaves no new key beside data that a lost one has sealed, unless it is told to', async () => {
  const first = await folder.start();
  await first.stop();
  const path = join(folder.dataDir(), 'secret.key');
  await rm(path);
  const { code, stderr } = await folder.runToEnd({});
  expect(stderr).toBe(
    `There is no ${path}, and this database was sealed with a key: put that file back, or start once with --new-secret-key to go without what is sealed with it (webhook keys, exchange credentials)\n`,
  );
  expect(code).toBe(1);
  expect((await readdir(folder.dataDir())).filter((name) => name.includes('secret.key'))).toEqual([]);
  await folder.start({}, ['--new-secret-key']);
  expect((await readFile(path, 'utf8')).length).toBeGreaterThan(32);
});

test('lists the settings with --help and starts nothing', async () => {
  const { code, stdout } = await folder.runToEnd({}, ['--help']);
  expect(code).toBe(0);
  expect(stdout).toContain('\n  DATA_DIR\n');
  expect(await folder.databaseRuns()).toBe(false);
});
