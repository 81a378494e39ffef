import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadSecretKey, loadSecretKeys, requireStrongKeys } from './secret-key.ts';

let root: string;
let dataDir: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'signal-board-key-'));
  dataDir = join(root, 'deep', 'data');
});
afterEach(() => rm(root, { recursive: true }));

test('uses a configured key and writes nothing', async () => {
  const secretKey = 'k'.repeat(32);
  expect(await loadSecretKey({ secretKey, dataDir })).toBe(secretKey);
  expect(await readdir(root)).toEqual([]);
});

// Requirements: settings-of-the-program-7
test('generates a key once, readable only by its owner', async () => {
  const key = await loadSecretKey({ secretKey: null, dataDir });
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(await loadSecretKey({ secretKey: null, dataDir })).toBe(key);
  expect(await readdir(dataDir)).toEqual(['secret.key']);
  expect((await stat(join(dataDir, 'secret.key'))).mode & 0o777).toBe(0o600);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});

test('gives concurrent callers the same generated key', async () => {
  const keys = await Promise.all([1, 2, 3].map(() => loadSecretKey({ secretKey: null, dataDir })));
  expect(new Set(keys).size).toBe(1);
});

test('refuses a damaged key file instead of using or replacing it', async () => {
  await loadSecretKey({ secretKey: null, dataDir });
  await writeFile(join(dataDir, 'secret.key'), 'short');
  await expect(loadSecretKey({ secretKey: null, dataDir })).rejects.toThrow('it takes at least 32');
});

test('takes a next key that has become the key already for none', async () => {
  const [secretKey, secretKeyNext] = [
    'the key of this test, long enough to be one',
    'the next key of this test, long enough',
  ];
  expect(await loadSecretKeys({ secretKey, secretKeyNext, dataDir })).toEqual({
    secretKey,
    nextKey: secretKeyNext,
  });
  expect(await loadSecretKeys({ secretKey, secretKeyNext: secretKey, dataDir })).toEqual({
    secretKey,
    nextKey: null,
  });
});

test('refuses a weak next key', async () => {
  const secretKey = 'the key of this test, long enough to be one';
  await expect(requireStrongKeys({ secretKey, secretKeyNext: 'k'.repeat(32), dataDir })).rejects.toThrow(
    'SECRET_KEY_NEXT has 1 distinct character; it takes at least 8 of them',
  );
});
