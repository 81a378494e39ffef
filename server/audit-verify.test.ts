import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import { startWorld, type World } from '#test/world.ts';
import { keyText } from './platform/audit/audit-key.ts';

// The command as an operator runs it.

const COMPILE_CACHE = join(import.meta.dirname, '..', '.cache', 'node');
const SECRET_KEY = 'the secret key of this audit test, long enough';
const HASH = /[0-9a-f]{64}/;

let folder: string;
let board: World;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signal-board-verify-'));
  board = await startWorld({ config: { secretKey: SECRET_KEY } });
  await board.createUser({ username: 'ann@example.com' });
  await board.createUser({ username: 'bob@example.com' });
  while ((await board.deps.audit.seal())?.sealed !== 0);
});
afterAll(async () => {
  await board.close();
  await rm(folder, { recursive: true });
});

async function run(args: string[], env: Record<string, string> = {}) {
  const { host, port, user } = inject('testServer');
  const [{ name }] = await board.query('select current_database() as name');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'audit-verify.ts'), ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DATA_DIR: folder,
      DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
      SECRET_KEY,
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

async function exportTo(name: string, query = ''): Promise<string> {
  const { body } = await board.admin.get(`/api/audit/export${query}`);
  await writeFile(join(folder, name), body);
  return body;
}

test('says that the trail is unbroken, and up to which entry', async () => {
  const { code, output } = await run([]);
  expect(output).toMatch(/^The audit trail is unbroken: \d+ entries, up to \d+:[0-9a-f]{64}\n$/);
  expect(code).toBe(0);
});

testEveryCase('names the entry of a checkpoint that was removed', async () => {
  const { output } = await run([]);
  const checkpoint = output.slice(output.indexOf('up to ') + 6).trim();
  expect(await run(['--checkpoint', checkpoint])).toEqual({ code: 0, output });
  const later = checkpoint.replace(/^\d+/, '99');
  expect(await run(['--checkpoint', later])).toEqual({
    code: 1,
    output: expect.stringContaining('The audit trail is broken: Entry 99 of the checkpoint was removed'),
  });
});

testEveryCase('names an entry that was changed, and exits with 1', async () => {
  await board.query("update audit_log set actor_name = 'x' || actor_name where sequence = 2");
  expect(await run([])).toEqual({
    code: 1,
    output: expect.stringMatching(/^The audit trail is broken: Entry 2 \(.*\) was changed\n$/),
  });
  await board.query('update audit_log set actor_name = substr(actor_name, 2) where sequence = 2');
});

/** No database, and no key of the program. */
const AWAY = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing', SECRET_KEY: '' };

// Requirements: additions-audit-3
testEveryCase(
  'an export is verified without the database, with the key of a file only its owner can read',
  async () => {
    const taken = await run(['--export-key', 'audit.key']);
    expect(taken).toEqual({
      code: 0,
      output: expect.stringContaining('audit.key has the key of the audit trail'),
    });
    expect((await stat(join(folder, 'audit.key'))).mode & 0o777).toBe(0o600);
    const [last] = await board.query('select action, actor_name from audit_log order by id desc limit 1');
    expect(last).toEqual({ action: 'audit key exported', actor_name: 'audit:verify' });

    const whole = await exportTo('all.ndjson');
    const verify = (name: string) => run(['--export', name, '--key-file', 'audit.key'], AWAY);
    expect(await verify('all.ndjson')).toEqual({
      code: 0,
      output: expect.stringMatching(/^The audit trail is unbroken: \d+ entries, up to /),
    });
    await writeFile(join(folder, 'changed.ndjson'), whole.replace('ann@example.com', 'eve@example.com'));
    expect(await verify('changed.ndjson')).toEqual({
      code: 1,
      output: expect.stringMatching(
        /^The audit trail is broken: Entry \d+ \(.*user created\) was changed\n$/,
      ),
    });
  },
);

testEveryCase('an export that is filtered says so, as removed entries do not show', async () => {
  await run(['--export-key', 'filtered.key']);
  await exportTo('some.ndjson', '?action=user+created');
  expect(await run(['--export', 'some.ndjson', '--key-file', 'filtered.key'], AWAY)).toEqual({
    code: 0,
    output: expect.stringContaining('filtered by action user created, so removed ones do not show'),
  });
});

testEveryCase('a key is never written over a file', async () => {
  await writeFile(join(folder, 'there.key'), 'something');
  const before = await board.query('select count(*) from audit_log');
  expect(await run(['--export-key', 'there.key'])).toEqual({
    code: 1,
    output: expect.stringContaining('there.key exists already'),
  });
  expect(await readFile(join(folder, 'there.key'), 'utf8')).toBe('something');
  expect(await board.query('select count(*) from audit_log')).toEqual(before);
});

testEveryCase('a former key that does not fit changes nothing for a trail with one key', async () => {
  await writeFile(join(folder, 'former.key'), keyText(Buffer.alloc(32, 1)));
  expect(await run(['--former-key', 'former.key'])).toMatchObject({ code: 0 });
});

const REFUSED: [what: string, args: string[], message: string][] = [
  ['an unknown option', ['--nothing'], 'npm run audit:verify'],
  ['an export without a key', ['--export', 'all.ndjson'], '--export and --key-file go together'],
  ['a checkpoint that is none', ['--checkpoint', '12'], '12 is not a checkpoint'],
  ['a missing key', ['--export', 'all.ndjson', '--key-file', 'no.key'], 'no.key cannot be read'],
  ['a file that is no key', ['--former-key', 'some.txt'], 'some.txt is not a key'],
];
testEveryCase.each(REFUSED)('refuses %s', async (_what, args, message) => {
  await writeFile(join(folder, 'some.txt'), 'text');
  const { code, output } = await run(args);
  expect(code).toBe(1);
  expect(output).toContain(message);
  expect(output).not.toMatch(HASH);
});

testEveryCase('says that another SECRET_KEY sealed the key of the trail', async () => {
  expect(await run([], { SECRET_KEY: 'quite another secret key, long enough' })).toEqual({
    code: 1,
    output: 'The key of the audit trail was sealed by another SECRET_KEY\n',
  });
});
