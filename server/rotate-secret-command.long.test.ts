import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startWorld, type World } from '#test/world.ts';

// The command as an operator runs it.

const COMPILE_CACHE = join(import.meta.dirname, '..', '.cache', 'node');
const FORMER = 'the former secret key of this test, long enough';
const NEXT = 'the next secret key of this test, long enough';

let folder: string;
let board: World;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signal-board-rotation-'));
  board = await startWorld({
    engine: true,
    config: { secretKey: FORMER, secretKeyNext: NEXT, instanceId: 'one' },
  });
  await writeFile(join(folder, 'next.key'), `${NEXT}\n`);
  await writeFile(join(folder, 'same.key'), `${FORMER}\n`);
  await writeFile(join(folder, 'short.key'), 'short');
  await writeFile(join(folder, 'weak.key'), 'k'.repeat(40));
});
afterAll(async () => {
  await board.close();
  await rm(folder, { recursive: true });
});

async function run(args: string[], env: Record<string, string> = {}) {
  const { host, port, user } = inject('testServer');
  const [{ name }] = await board.query('select current_database() as name');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'rotate-secret.ts'), ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DATA_DIR: folder,
      DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
      SECRET_KEY: FORMER,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  return { code, output };
}

const REFUSED: [how: string, args: string[], message: string][] = [
  ['without a file', [], 'Usage: npm run rotate-secret -- --new-file file'],
  ['with a missing file', ['--new-file', 'nothing.key'], 'nothing.key cannot be read'],
  ['with a short key', ['--new-file', 'short.key'], 'short.key holds 5 characters; it takes at least 32'],
  ['with a weak key', ['--new-file', 'weak.key'], 'weak.key has 1 distinct character; it takes at least 8'],
  ['with the same key', ['--new-file', 'same.key'], 'same.key holds the key that is in use already'],
];
test.each(REFUSED)('refuses to run %s', async (_how, args, message) => {
  expect(await run(args)).toEqual({ code: 1, output: expect.stringContaining(message) });
  expect(await board.query('select next_key_check as next from secret_key_checks')).toEqual([{ next: null }]);
});

test('says how many secrets are under the new key, and what to do next', async () => {
  await board.admin.post('/api/hooks', {});
  const { code, output } = await run(['--new-file', 'next.key']);
  expect(output).toContain('webhook keys: 1 under the new key, 1 of them re-sealed now\n');
  expect(output).toContain('Nothing is left under the former key.\n');
  expect(output).toContain('Put the key of next.key into SECRET_KEY, and take SECRET_KEY_NEXT away.\n');
  expect(output).not.toContain(NEXT);
  expect(code).toBe(0);
  const again = await run(['--new-file', 'next.key']);
  expect(again).toEqual({
    code: 0,
    output: expect.stringContaining('webhook keys: 1 under the new key, 0 of them re-sealed now\n'),
  });
});
