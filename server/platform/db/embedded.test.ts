import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAnswering, setUpDataFolder } from '#test/app/embedded-folder.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createLog } from '../log.ts';
import { isAlive } from './embedded-postmaster.ts';

const folder = setUpDataFolder();
const { open, holdInChild, postmasterPid, cluster } = folder;

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('starts from nothing on a private socket, keeps what was written and stops when it is closed', async () => {
  const first = await open();
  const { connection, pool } = first;
  if (!('host' in connection)) throw new Error('The embedded database has a host');
  expect(await modeOf(connection.host)).toBe(0o700);
  expect(await modeOf(cluster())).toBe(0o700);
  const { rows } = await pool.query(
    `select name, current_setting(name) as value from pg_settings where name = any($1) order by name`,
    [Object.keys(SETTINGS)],
  );
  expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual(SETTINGS);

  await pool.query('create table kept (amount numeric, big bigint, at timestamptz)');
  await pool.query("insert into kept values (1.50, 9007199254740993, '2026-01-02T03:04:05Z')");
  const pid = await postmasterPid();
  await first.close();
  expect(isAlive(pid)).toBe(false);
  const second = await open();
  expect((await second.pool.query('select * from kept')).rows).toEqual([
    { amount: '1.50', big: '9007199254740993', at: new Date('2026-01-02T03:04:05Z') },
  ]);
});

/** No port, every commit on disk, and no commit waits for more than two megabytes of a new log segment. */
const SETTINGS = {
  listen_addresses: '',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_segment_size: '2MB',
  wal_buffers: '4MB',
  min_wal_size: '256MB',
  max_wal_size: '1GB',
};

testEveryCase('closes a data folder that others could read, and reports it in one line', async () => {
  const { dataDir } = folder;
  const own = ['instance.lock', 'secret.key', 'postgres.log'];
  const foreign = 'notes.txt';
  for (const name of [...own, foreign]) {
    await writeFile(join(dataDir, name), '');
    await chmod(join(dataDir, name), 0o644);
  }
  await chmod(dataDir, 0o755);
  const lines: string[] = [];
  await open({ log: createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } }) });
  expect(await modeOf(dataDir)).toBe(0o700);
  for (const name of own) expect(await modeOf(join(dataDir, name)), name).toBe(0o600);
  expect(await modeOf(join(dataDir, foreign))).toBe(0o644);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 'warn',
      closed: ['.', ...own],
      msg: 'DATA_DIR was open to other users of this machine; now only its owner can read it',
    }),
  ]);
});

testEveryCase(
  'refuses a second program on the same folder in one line; after kill -9 of the first, the next start takes over its server',
  async () => {
    const { child, line } = await holdInChild();
    const pid = await postmasterPid();
    await expect(open()).rejects.toThrow(
      `Signal Board is already running on ${folder.dataDir}; stop it first, or choose another DATA_DIR`,
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    const { pool } = await open();
    const { rows } = await pool.query('select pg_postmaster_start_time()::text as started');
    expect(line).toBe(`ready ${rows[0].started}`);
    expect(await postmasterPid()).toBe(pid);
  },
);

testEveryCase('restarts a server that was killed under a running program', async () => {
  const lost: Error[] = [];
  const database = await open({ onLost: (error) => lost.push(error) });
  const pid = await postmasterPid();
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => isAnswering(database), { timeout: 15_000 }).toBe(true);
  expect(await postmasterPid()).not.toBe(pid);
  expect(lost).toEqual([]);
});

test.each([
  ['letter.txt', 'dear all', 'holds no PostgreSQL data; move it away to begin anew'],
  ['PG_VERSION', '17\n', 'was made by PostgreSQL 17, and this program brings 18'],
])('refuses a folder with another %s and leaves it alone', async (name, text, reason) => {
  await mkdir(cluster());
  await writeFile(join(cluster(), name), text);
  await expect(open()).rejects.toThrow(`${cluster()} ${reason}`);
  expect(await readFile(join(cluster(), name), 'utf8')).toBe(text);
});
