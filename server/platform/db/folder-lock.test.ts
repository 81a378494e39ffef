import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockFolder } from './folder-lock.ts';

let folder: string;
let holder: ChildProcess | null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signal-board-lock-'));
  holder = null;
});
afterEach(async () => {
  holder?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Another program, which shares nothing with this one but the folder. */
async function holdElsewhere(): Promise<ChildProcess> {
  const module = JSON.stringify(join(import.meta.dirname, 'folder-lock.ts'));
  const script = `const { lockFolder } = await import(${module}); await lockFolder(process.argv[1]); console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  holder = child;
  await once(child.stdout, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('a folder that another program holds is refused, in one line', async () => {
  await holdElsewhere();
  await expect(lockFolder(folder)).rejects.toThrow(`Signal Board is already running on ${folder}`);
});

test('a program that is frozen still holds it', async () => {
  const child = await holdElsewhere();
  child.kill('SIGSTOP');
  await expect(lockFolder(folder)).rejects.toThrow('already running');
});

test('what was killed holds nothing any more, and nothing is waited for', async () => {
  await kill(await holdElsewhere());
  const startedMs = performance.now();
  const lock = await lockFolder(folder);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  lock.release();
});

test('a program that is ending is waited for', async () => {
  const child = await holdElsewhere();
  const waiting = lockFolder(folder);
  setTimeout(() => child.kill('SIGKILL'), 300);
  (await waiting).release();
});

test('the file holds nothing', async () => {
  const lock = await lockFolder(folder);
  expect(await readFile(join(folder, 'instance.lock'), 'utf8')).toBe('');
  lock.release();
});

test('the file is for its owner alone', async () => {
  const lock = await lockFolder(folder);
  expect((await stat(join(folder, 'instance.lock'))).mode & 0o777).toBe(0o600);
  lock.release();
});

test('a folder that is not there is one line', async () => {
  await expect(lockFolder(join(folder, 'none'))).rejects.toThrow('instance.lock cannot be used');
});
