import { once } from 'node:events';
import { readdir, readFile, rename } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { startMessageStory } from '#test/app/message-story.ts';
import { programFolder } from '#test/app/program-folder.ts';
import { findPostmaster } from './platform/db/embedded-postmaster.ts';

// The built program as an operator starts it; main.long.test.ts covers the slower starts and ends.

const folder = programFolder();

// Requirements: additions-alerts-8
test('prints a working password, takes over the database with all its data after kill -9, ends with it at SIGTERM, and needs its key', async () => {
  const env = { ADMIN_PASSWORD: '', NOTIFY_PRIVATE_ADDRESSES: 'allowed' };
  const first = await folder.start(env);
  const password = /^ {2}Password +(\S+) +\(shown only this once\)$/m.exec(first.output())?.[1] ?? '';
  expect(await folder.login(first, password)).toBe(200);
  const story = await startMessageStory(folder.cluster());
  onTestFinished(story.close);
  await story.addChannel({ ...first, adminPassword: password });
  const gone = story.killedAt(first, { message: 2, when: 'before the answer' });
  await story.note();
  await gone;
  expect(await folder.databaseRuns()).toBe(true);
  const second = await folder.start(env);
  await story.expectAllInOrder();
  expect(second.output()).toContain('Password    as set before');
  expect(second.output()).not.toContain(password);
  expect(await folder.login(second, password)).toBe(200);
  const ended = once(second.child, 'exit');
  second.child.kill('SIGTERM');
  // A terminal and the starting program both send it.
  second.child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(await folder.databaseRuns()).toBe(false);
  // No new key is left beside data that a lost one has sealed.
  const path = join(folder.dataDir(), 'secret.key');
  await rename(path, `${path}.away`);
  const { code, stderr } = await folder.runToEnd({});
  expect(stderr).toContain(
    `There is no ${path}, and this database was sealed with a key: put that file back`,
  );
  expect([code, (await readdir(folder.dataDir())).includes('secret.key')]).toEqual([1, false]);
});

testEveryCase('ends the first start with one line about a weak ADMIN_PASSWORD', async () => {
  const refused = await folder.runToEnd({ ADMIN_PASSWORD: '123456' });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toBe(
    'ADMIN_PASSWORD is not accepted: This is one of the most used passwords. Choose another one.\n',
  );
  expect(await folder.databaseRuns()).toBe(false);
});

testEveryCase(
  'keeps secrets from the database server and a second program from the data folder, and names a mistyped setting',
  async () => {
    const server = await folder.start({
      SECRET_KEY: 'canary-1 of a secret key, long enough',
      ADMIN_PASSWORD: 'canary-2 of a password',
      METRICS_TOKEN: 'canary-3 of a token',
      EXCHANGE_PROXY_URL: 'http://user:canary-4@127.0.0.1:9',
      ANOTHER_PROGRAMS_TOKEN: 'canary-5',
      PGDATA: '/nowhere',
      LANG: 'xx_XX',
      AUTO_TRADING: 'disabled',
      HOSTNAME: 'here',
    });
    const pid = (await findPostmaster(folder.cluster()))?.pid ?? 0;
    const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter(Boolean);
    const names = environment.map((entry) => entry.split('=', 1)[0]);
    expect(names.toSorted()).toEqual(['LC_ALL', 'PATH', 'TMPDIR']);
    expect(environment.join('\n')).not.toContain('canary');
    const warnings = server
      .output()
      .split('\n')
      .filter((line) => line.includes('is no setting'));
    expect(warnings).toEqual([expect.stringContaining('did you mean AUTO_TRADE?')]);
    // A second program on the folder is refused with one line, while the first continues.
    const { code, stdout, stderr } = await folder.runToEnd({});
    expect(stderr).toBe(
      `Signal Board is already running on ${folder.dataDir()}; stop it first, or choose another DATA_DIR\n`,
    );
    expect(stdout).toBe('');
    expect(code).toBe(1);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  },
);

testEveryCase('reports a port in use in one line, and starts nothing', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { code, stdout, stderr } = await folder.runToEnd({ PORT: String(port) });
  other.close();
  expect(stderr).toBe(`127.0.0.1:${port} is already in use; set PORT to another port\n`);
  expect(stdout).toBe('');
  expect(code).toBe(1);
  expect(await folder.databaseRuns()).toBe(false);
});

// Requirements: settings-of-the-program-1
const REFUSED: [what: string, env: Record<string, string>, line: string][] = [
  ['an unknown value', { AUTO_TRADE: 'maybe' }, 'AUTO_TRADE is "maybe"; it takes enabled or disabled'],
  [
    'the live mode on an open address without an outside address',
    { EXCHANGE_MODE: 'live', HOST: '0.0.0.0' },
    'PUBLIC_URL is unset; with EXCHANGE_MODE=live and HOST=0.0.0.0, which other machines can reach, it takes the https:// address of the proxy in front, such as https://board.example.com',
  ],
  [
    'the demo mode on an open address with an outside address of plain HTTP',
    { EXCHANGE_MODE: 'demo', HOST: '0.0.0.0', PUBLIC_URL: 'http://board.example.com' },
    'PUBLIC_URL is "http://board.example.com"; with EXCHANGE_MODE=demo and HOST=0.0.0.0, which other machines can reach, it takes the https:// address of the proxy in front, such as https://board.example.com',
  ],
  [
    'a secret key of one letter',
    { SECRET_KEY: 'k'.repeat(32) },
    'SECRET_KEY has 1 distinct character; it takes at least 8 of them. Where a database was sealed with it, start once with another one and --new-secret-key',
  ],
];
test.each(oneOfEachKind(REFUSED, ([what]) => what === 'an unknown value'))(
  'refuses %s with one line before anything is started',
  async (_what, env, line) => {
    expect(await folder.runToEnd(env)).toEqual({ code: 2, stdout: '', stderr: `${line}\n` });
    expect(await folder.databaseRuns()).toBe(false);
  },
);

testEveryCase.each(['/proc/signal-board', '/proc/1/signal/board'])(
  'refuses %s, where no folder can be created, with one line',
  async (dataDir) => {
    const { code, stderr } = await folder.runToEnd({ DATA_DIR: dataDir });
    expect(stderr).toMatch(/^DATA_DIR \S+ cannot be used \(E[A-Z]+\)\n$/);
    expect(code).toBe(1);
  },
);
