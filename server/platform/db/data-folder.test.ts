import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { testClock } from '#test/app/fake-clock.ts';
import { createLog } from '../log.ts';
import { closeDataFolder, lockFolder } from './data-folder.ts';

let folder: string;
let holder: ChildProcess | null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signal-board-folder-'));
  holder = null;
});
afterEach(async () => {
  holder?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

describe('closing', () => {
  async function close(dataDir: string): Promise<object[]> {
    const lines: string[] = [];
    const log = createLog({ level: 'info', destination: { write: (line) => lines.push(line) } });
    await closeDataFolder({ dataDir, log });
    return lines.map((line) => JSON.parse(line));
  }

  test.each([
    ['leaves a private folder as it is', 0o700, 0o700, []],
    ['closes a folder that its group may write to, and keeps the setgid bit', 0o2770, 0o2700, [['.']]],
  ])('%s', async (_, before, after, closed) => {
    await chmod(folder, before);
    const lines = await close(folder);
    expect((await stat(folder)).mode & 0o7777).toBe(after);
    expect(lines).toEqual(closed.map((names) => expect.objectContaining({ closed: names })));
  });

  test('names a folder whose permissions cannot be changed, and continues', async () => {
    expect(await close('/proc/self')).toEqual([
      expect.objectContaining({
        level: 'warn',
        dataDir: '/proc/self',
        open: ['.'],
        msg: expect.stringContaining('set the folder to 0700 and its files to 0600'),
      }),
    ]);
  });
});

describe('the lock', () => {
  /** Another process, which shares only the folder with this one. */
  async function holdElsewhere(): Promise<ChildProcess> {
    const module = JSON.stringify(join(import.meta.dirname, 'data-folder.ts'));
    const script = `const { lockFolder } = await import(${module}); await lockFolder(process.argv[1]); console.log('held'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    holder = child;
    await once(child.stdout, 'data');
    return child;
  }

  test('refuses a folder that another program holds, even a frozen one, with one line', async () => {
    const child = await holdElsewhere();
    child.kill('SIGSTOP');
    const clock = testClock();
    const locking = clock.run(lockFolder(folder, clock));
    await expect(locking).rejects.toThrow(`Signal Board is already running on ${folder}`);
  });

  test('is free after its program was killed', async () => {
    const child = await holdElsewhere();
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = await lockFolder(folder);
    lock.release();
  });

  test('waits for a program that is ending', async () => {
    const child = await holdElsewhere();
    // It has found the folder locked once when it returns.
    const waiting = lockFolder(folder);
    child.kill('SIGKILL');
    (await waiting).release();
  });

  test('is an empty file that only its owner can read', async () => {
    const lock = await lockFolder(folder);
    expect(await readFile(join(folder, 'instance.lock'), 'utf8')).toBe('');
    expect((await stat(join(folder, 'instance.lock'))).mode & 0o777).toBe(0o600);
    lock.release();
  });

  test('reports a missing folder in one line', async () => {
    await expect(lockFolder(join(folder, 'none'))).rejects.toThrow('instance.lock cannot be used');
  });
});
