/** Every case. */
import './embedded.test.ts';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isAnswering, setUpDataFolder } from '#test/app/embedded-folder.ts';
import { findPostmaster } from './embedded-postmaster.ts';

const folder = setUpDataFolder();
const { open, holdInChild, postmasterPid, cluster } = folder;

test('works after kill -9 of the program and its server', async () => {
  const { child } = await holdInChild();
  process.kill(await postmasterPid(), 'SIGKILL');
  child.kill('SIGKILL');
  expect(await isAnswering(await open())).toBe(true);
});

test.each([0, 50, 200, 400])(
  'leaves no server that is still starting when the program ends %d ms after a kill',
  async (ms) => {
    const { close } = await open();
    process.kill(await postmasterPid(), 'SIGKILL');
    await sleep(ms);
    await close();
    await sleep(1_500);
    expect(await findPostmaster(cluster())).toBeNull();
  },
);

test('waits for a program that is ending', async () => {
  const { child } = await holdInChild();
  child.kill('SIGTERM');
  expect(await isAnswering(await openWhenFree())).toBe(true);
});

async function openWhenFree() {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('already running'))) throw error;
    }
  }
  throw new Error('The folder never got free');
}

test('recreates a socket folder that an ending program removes during the start', async () => {
  const { close } = await open();
  const socketFolder = (await findPostmaster(cluster()))?.host ?? '';
  await close();
  // Like the other program, it removes only an empty folder, never that of a running server. It may come too late.
  let removals = 0;
  for (let tries = 1; removals === 0 && tries <= 10; tries += 1) {
    const remove = () =>
      rmdir(socketFolder).then(
        () => {
          removals += 1;
          clearInterval(remover);
        },
        () => {},
      );
    const remover = setInterval(remove, 1);
    try {
      const again = await open();
      expect(await isAnswering(again)).toBe(true);
      await again.close();
    } finally {
      clearInterval(remover);
    }
  }
  // Two attempts to remove it may run concurrently.
  expect(removals).toBeGreaterThan(0);
});

test('runs one program and refuses the other when both create the same folder concurrently', async () => {
  const lines = (await Promise.all([holdInChild(), holdInChild()])).map(({ line }) => line.split(' ')[0]);
  expect(lines.sort()).toEqual(['ready', 'refused:']);
  expect((await readdir(folder.dataDir)).filter((name) => name.includes('.new-'))).toEqual([]);
});

test('removes a half-made cluster of an interrupted start', async () => {
  const draft = join(folder.dataDir, 'postgres.new-2147483646-abc');
  await mkdir(draft);
  await writeFile(join(draft, 'PG_VERSION'), '18\n');
  await open();
  expect((await readdir(folder.dataDir)).sort()).toEqual(['instance.lock', 'postgres', 'postgres.log']);
});

test('reports damaged data in one line that says what is wrong', async () => {
  await (await open()).close();
  await rm(join(cluster(), 'global', 'pg_control'));
  await expect(open()).rejects.toThrow(/^The embedded PostgreSQL did not start: .*pg_control.*$/);
});

test('starts despite a stale postmaster.pid that names another living process', async () => {
  const database = await open();
  const pidFile = join(cluster(), 'postmaster.pid');
  const text = await readFile(pidFile, 'utf8');
  await database.close();
  await writeFile(pidFile, text.replace(/^\d+/, String(process.ppid)));
  expect(await isAnswering(await open())).toBe(true);
});

test('finds a database running behind a symbolic link', async () => {
  const elsewhere = join(folder.dataDir, 'elsewhere');
  await mkdir(elsewhere);
  await (await open()).close();
  await rename(cluster(), join(elsewhere, 'postgres'));
  await symlink(join(elsewhere, 'postgres'), cluster());
  const { child } = await holdInChild();
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await isAnswering(await open())).toBe(true);
});

test('works in a data folder with a long path', async () => {
  folder.dataDir = join(folder.dataDir, 'a'.repeat(100), 'b'.repeat(100));
  expect(await isAnswering(await open())).toBe(true);
});
