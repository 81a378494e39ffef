import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { findPostmaster, isAlive, stopPostmaster } from './embedded-postmaster.ts';
import { type OpenDatabase, openDatabase } from './pool.ts';

const HOLDER = fileURLToPath(new URL('../../../test/app/hold-database.ts', import.meta.url));
const log = createLog({ level: 'silent' });

let root: string;
let dataDir: string;
let cluster: string;
let children: ChildProcess[];
let opened: OpenDatabase[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'signal-board-embedded-'));
  dataDir = root;
  cluster = join(dataDir, 'postgres');
  children = [];
  opened = [];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const database of opened) await database.close();
  const left = await findPostmaster(cluster);
  if (left) {
    await stopPostmaster({ pid: left.pid, waitMs: 10_000 });
    await rm(left.host, { recursive: true });
  }
  await rm(root, { recursive: true, force: true });
});

async function open(onLost: (error: Error) => void = () => {}): Promise<OpenDatabase> {
  const database = await openDatabase({ config: { databaseUrl: null, dataDir }, log, onLost });
  opened.push(database);
  return database;
}

/** Another program on the same folder; the promise is its first line. */
async function holdInChild(): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [HOLDER, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = await once(createInterface(child.stdout), 'line');
  return { child, line: String(line) };
}

async function postmasterPid(): Promise<number> {
  const server = await findPostmaster(cluster);
  if (!server) throw new Error('No server runs');
  return server.pid;
}

test('the database starts from nothing, keeps what was written and stops when it is closed', async () => {
  const first = await open();
  await first.pool.query('create table kept (amount numeric, big bigint, at timestamptz)');
  await first.pool.query("insert into kept values (1.50, 9007199254740993, '2026-01-02T03:04:05Z')");
  const pid = await postmasterPid();
  await first.close();
  opened = [];
  expect(isAlive(pid)).toBe(false);
  const second = await open();
  expect((await second.pool.query('select * from kept')).rows).toEqual([
    { amount: '1.50', big: '9007199254740993', at: new Date('2026-01-02T03:04:05Z') },
  ]);
});

test('the database listens on a socket in a private folder and on no port', async () => {
  const { pool, connection } = await open();
  const { rows } = await pool.query("select current_setting('listen_addresses') as addresses");
  expect(rows).toEqual([{ addresses: '' }]);
  if (!('host' in connection)) throw new Error('The embedded database has a host');
  expect((await stat(connection.host)).mode & 0o777).toBe(0o700);
  expect((await stat(cluster)).mode & 0o777).toBe(0o700);
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('a data folder that others could read is closed to them at the start, which says so in one line', async () => {
  await (await open()).close();
  opened = [];
  await writeFile(join(dataDir, 'secret.key'), 'a key');
  await writeFile(join(dataDir, 'notes.txt'), 'of somebody');
  await chmod(dataDir, 0o755);
  for (const name of ['instance.lock', 'secret.key', 'postgres.log', 'notes.txt'])
    await chmod(join(dataDir, name), 0o644);
  const lines: string[] = [];
  const chatty = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  opened.push(await openDatabase({ config: { databaseUrl: null, dataDir }, log: chatty }));
  expect(await modeOf(dataDir)).toBe(0o700);
  for (const name of ['instance.lock', 'secret.key', 'postgres.log'])
    expect(await modeOf(join(dataDir, name)), name).toBe(0o600);
  expect(await modeOf(join(dataDir, 'notes.txt'))).toBe(0o644);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 'warn',
      closed: ['.', 'instance.lock', 'secret.key', 'postgres.log'],
      msg: 'DATA_DIR was open to other users of this machine; it is for its owner alone now',
    }),
  ]);
});

test('every commit reaches the disk', async () => {
  const { pool } = await open();
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    expect((await pool.query(`show ${setting}`)).rows[0]).toEqual({ [setting]: 'on' });
  }
});

test('commits wait for a new segment of the log no longer than it takes to fill two megabytes', async () => {
  const { pool } = await open();
  const { rows } = await pool.query(
    `select name, current_setting(name) as value from pg_settings
     where name in ('wal_segment_size', 'wal_buffers', 'min_wal_size', 'max_wal_size') order by name`,
  );
  expect(rows).toEqual([
    { name: 'max_wal_size', value: '1GB' },
    { name: 'min_wal_size', value: '256MB' },
    { name: 'wal_buffers', value: '4MB' },
    { name: 'wal_segment_size', value: '2MB' },
  ]);
});

test('after kill -9 of the program the next start takes over the running server', async () => {
  const { child, line } = await holdInChild();
  const pid = await postmasterPid();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const { pool } = await open();
  const { rows } = await pool.query('select pg_postmaster_start_time()::text as started');
  expect(line).toBe(`ready ${rows[0].started}`);
  expect(await postmasterPid()).toBe(pid);
});

test('after kill -9 of the program and its server the next start works', async () => {
  const { child } = await holdInChild();
  process.kill(await postmasterPid(), 'SIGKILL');
  child.kill('SIGKILL');
  const { pool } = await open();
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('a server killed under a running program is started again', async () => {
  const lost: Error[] = [];
  const { pool } = await open((error) => lost.push(error));
  const pid = await postmasterPid();
  process.kill(pid, 'SIGKILL');
  await expect
    .poll(
      () =>
        pool.query('select 1').then(
          () => 'works',
          () => 'fails',
        ),
      { timeout: 15_000 },
    )
    .toBe('works');
  expect(await postmasterPid()).not.toBe(pid);
  expect(lost).toEqual([]);
});

test.each([0, 50, 200, 400])(
  'a program that ends %d ms after its server was killed leaves none behind that is just being started',
  async (ms) => {
    const { close } = await openDatabase({ config: { databaseUrl: null, dataDir }, log });
    process.kill(await postmasterPid(), 'SIGKILL');
    await sleep(ms);
    await close();
    await sleep(1_500);
    expect(await findPostmaster(cluster)).toBeNull();
  },
);

test('a second program on the same folder is refused with one line and the first goes on', async () => {
  const { pool } = await open();
  const { child, line } = await holdInChild();
  expect(line).toBe(
    `refused: Signal Board is already running on ${dataDir}; stop it first, or choose another DATA_DIR`,
  );
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(1);
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('a program that starts while another one is ending gets the folder', async () => {
  const { child } = await holdInChild();
  child.kill('SIGTERM');
  const line = await openWhenFree();
  expect(line).toEqual([{ one: 1 }]);
});

test('a socket folder that an ending program removes meanwhile is made again', async () => {
  const { close } = await open();
  const socketFolder = (await findPostmaster(cluster))?.host ?? '';
  await close();
  opened = [];
  // As the other program does it: only when it is empty, so never under a server that is up. It may come too late.
  let removals = 0;
  for (let tries = 1; removals === 0 && tries <= 10; tries += 1) {
    const remover = setInterval(() => {
      rmdir(socketFolder).then(
        () => {
          removals += 1;
          clearInterval(remover);
        },
        () => {},
      );
    }, 1);
    try {
      const { pool, close: closeAgain } = await open();
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
      clearInterval(remover);
      if (removals > 0) break;
      await closeAgain();
      opened = [];
    } finally {
      clearInterval(remover);
    }
  }
  // Two attempts to remove it may be under way at once.
  expect(removals).toBeGreaterThan(0);
});

async function openWhenFree(): Promise<unknown> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      const { pool } = await open();
      return (await pool.query('select 1 as one')).rows;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('already running'))) throw error;
    }
  }
  throw new Error('The folder never got free');
}

test('two programs that create the same folder at once end with one that runs and one that is refused', async () => {
  const lines = (await Promise.all([holdInChild(), holdInChild()])).map(({ line }) => line.split(' ')[0]);
  expect(lines.sort()).toEqual(['ready', 'refused:']);
  expect((await readdir(dataDir)).filter((name) => name.includes('.new-'))).toEqual([]);
});

test('a half-made cluster of an interrupted start is removed', async () => {
  const draft = join(dataDir, 'postgres.new-2147483646-abc');
  await mkdir(draft);
  await writeFile(join(draft, 'PG_VERSION'), '18\n');
  await open();
  expect((await readdir(dataDir)).sort()).toEqual(['instance.lock', 'postgres', 'postgres.log']);
});

test('a folder that holds something else is refused and left alone', async () => {
  await mkdir(cluster);
  await writeFile(join(cluster, 'letter.txt'), 'dear all');
  await expect(open()).rejects.toThrow(`${cluster} holds no PostgreSQL data; move it away to begin anew`);
  expect(await readFile(join(cluster, 'letter.txt'), 'utf8')).toBe('dear all');
});

test('damaged data is reported in one line that says what is wrong', async () => {
  const database = await open();
  await database.close();
  opened = [];
  await rm(join(cluster, 'global', 'pg_control'));
  await expect(open()).rejects.toThrow(/^The embedded PostgreSQL did not start: .*pg_control.*$/);
});

test('data of another PostgreSQL version is refused', async () => {
  await mkdir(cluster);
  await writeFile(join(cluster, 'PG_VERSION'), '17\n');
  await expect(open()).rejects.toThrow(`${cluster} was made by PostgreSQL 17, and this program brings 18`);
});

test('a stale postmaster.pid that names another living process does not keep the database from starting', async () => {
  const database = await open();
  const pidFile = join(cluster, 'postmaster.pid');
  const text = await readFile(pidFile, 'utf8');
  await database.close();
  opened = [];
  await writeFile(pidFile, text.replace(/^\d+/, String(process.ppid)));
  const { pool } = await open();
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('a data folder whose database lies behind a symbolic link is found running', async () => {
  await mkdir(join(root, 'elsewhere'));
  await (await open()).close();
  opened = [];
  await rename(cluster, join(root, 'elsewhere', 'postgres'));
  await symlink(join(root, 'elsewhere', 'postgres'), cluster);
  const { child } = await holdInChild();
  child.kill('SIGKILL');
  await once(child, 'exit');
  const { pool } = await open();
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('a data folder with a long path works', async () => {
  dataDir = join(dataDir, 'a'.repeat(100), 'b'.repeat(100));
  cluster = join(dataDir, 'postgres');
  const { pool } = await open();
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});
