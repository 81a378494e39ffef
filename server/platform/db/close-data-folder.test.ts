import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { closeDataFolder } from './close-data-folder.ts';

let dataDir: string;
let lines: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'signal-board-close-'));
  lines = [];
});
afterEach(() => rm(dataDir, { recursive: true }));

const close = (folder: string) =>
  closeDataFolder({
    dataDir: folder,
    log: createLog({ level: 'info', destination: { write: (line) => lines.push(line) } }),
  });

test('a folder of its owner alone is left as it is, and nothing is said', async () => {
  await close(dataDir);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  expect(lines).toEqual([]);
});

test('a folder that its group may write to is closed, and keeps the bit that hands on the group', async () => {
  await chmod(dataDir, 0o2770);
  await close(dataDir);
  expect((await stat(dataDir)).mode & 0o7777).toBe(0o2700);
  expect(lines).toHaveLength(1);
});

test('a folder whose rights cannot be changed is named, and the start goes on', async () => {
  await close('/proc/self');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 'warn',
      dataDir: '/proc/self',
      open: ['.'],
      msg: expect.stringContaining('set the folder to 0700 and its files to 0600'),
    }),
  ]);
});
