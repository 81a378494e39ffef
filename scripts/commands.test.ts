import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { settings } from '#server/platform/config/config-settings.ts';
import { oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';

// The commands run in a small project whose tools in node_modules only record their calls.

const SCRIPTS = fileURLToPath(new URL('.', import.meta.url));

let project: string;
let running: ChildProcess[];

beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'signal-board-scripts-'));
  running = [];
  await cp(SCRIPTS, join(project, 'scripts'), { recursive: true });
  const shared = 'server/platform/make-folder.mjs';
  await cp(join(SCRIPTS, '..', shared), join(project, shared));
  await write('package.json', '{"type": "module"}');
  await write('package-lock.json', lockfile('1.0.0'));
  await write('node_modules/.package-lock.json', lockfile('1.0.0'));
  await write(
    'bin/npm',
    '#!/bin/sh\necho "$@" >> npm-calls\ncp package-lock.json node_modules/.package-lock.json\n',
  );
  await chmod(join(project, 'bin/npm'), 0o755);
  await write('node_modules/vite/bin/vite.js', VITE);
  await write('server/main.ts', 'console.log("args", process.argv.slice(2).join(" ")); process.disconnect()');
  await write('web/page.tsx', 'one');
});

afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await rm(project, { recursive: true, force: true });
});

const VITE = `import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
const after = (name) => process.argv[process.argv.indexOf(name) + 1]
const out = after('--outDir')
const server = after('--config') === 'vite.server.config.ts'
mkdirSync(out, { recursive: true })
if (server) copyFileSync('server/main.ts', out + '/main.js')
else writeFileSync(out + '/index.html', process.env.NODE_ENV)
appendFileSync('builds', (server ? 'server' : 'web') + '\\n')`;

function lockfile(version: string): string {
  const otherPlatform = { version: '1.0.0', optional: true, os: ['plan9'], cpu: ['mips'] };
  return JSON.stringify({
    packages: { '': {}, 'node_modules/a': { version }, 'node_modules/b': otherPlatform },
  });
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(project, path)), { recursive: true });
  await writeFile(join(project, path), text);
}

async function lines(path: string): Promise<string[]> {
  const text = await readFile(join(project, path), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** The builds so far, sorted by name. */
const builds = async () => (await lines('builds')).toSorted();

function start(
  args: string[],
  more: Record<string, string> = {},
): { child: ChildProcess; output: () => string; ended: Promise<number | null> } {
  const env = { PATH: [join(project, 'bin'), process.env.PATH].join(delimiter), HOME: project, ...more };
  const child = spawn(process.execPath, args, { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  return { child, output: () => output, ended: once(child, 'close').then(([code]) => code) };
}

async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const { ended, output } = start(args);
  return { code: await ended, output: output() };
}

describe('npm start', () => {
  test('builds web and server only on the first start', async () => {
    expect(await run('scripts/start.mjs', 'one', 'two')).toEqual({
      code: 0,
      output: 'Building the web …\nBuilding the server …\nargs one two\n',
    });
    expect(await run('scripts/start.mjs')).toEqual({ code: 0, output: 'args \n' });
    expect(await readFile(join(project, 'dist/web/index.html'), 'utf8')).toBe('production');
    expect(await builds()).toEqual(['server', 'web']);
  });

  testEveryCase('builds again when a source has changed but not when a test has', async () => {
    await run('scripts/start.mjs');
    await write('web/page.test.tsx', 'a test');
    await write('server/main.test.ts', 'a test');
    await run('scripts/start.mjs');
    expect(await builds()).toEqual(['server', 'web']);
    await write('web/page.tsx', 'two');
    await run('scripts/start.mjs');
    expect(await builds()).toEqual(['server', 'web', 'web']);
    await write('server/main.ts', 'console.log("changed"); process.disconnect()');
    expect((await run('scripts/start.mjs')).output).toBe('Building the server …\nchanged\n');
    await write('domain/both.ts', 'of both');
    await run('scripts/start.mjs');
    expect(await builds()).toEqual(['server', 'server', 'server', 'web', 'web', 'web']);
  });

  testEveryCase('prints help without building the web', async () => {
    expect((await run('scripts/start.mjs', '--help')).output).toBe('Building the server …\nargs --help\n');
  });

  testEveryCase('stops with one line and keeps the old web when a build fails', async () => {
    await run('scripts/start.mjs');
    await write('web/page.tsx', 'two');
    await write('node_modules/vite/bin/vite.js', 'process.exit(3)');
    expect(await run('scripts/start.mjs')).toEqual({
      code: 1,
      output: 'Building the web …\nThe web could not be built (3)\n',
    });
    expect(await readFile(join(project, 'dist/web/index.html'), 'utf8')).toBe('production');
  });

  testEveryCase('installs only when the lock file has changed', async () => {
    await run('scripts/start.mjs');
    expect(await lines('npm-calls')).toEqual([]);
    await write('package-lock.json', lockfile('2.0.0'));
    expect((await run('scripts/start.mjs')).code).toBe(0);
    await run('scripts/start.mjs');
    expect(await lines('npm-calls')).toEqual([
      'install --no-save --ignore-scripts --include=dev --include=optional --no-audit --no-fund --loglevel=error',
    ]);
  });

  test('keeps secrets from npm and the builds, and passes them to the program', async () => {
    const secrets = settings.filter(({ secret }) => secret).map(({ name }) => name);
    await write('package-lock.json', lockfile('2.0.0'));
    const npm = await readFile(join(project, 'bin/npm'), 'utf8');
    await write('bin/npm', `${npm}env >> of-tools\n`);
    await write(
      'node_modules/vite/bin/vite.js',
      `${VITE}\nappendFileSync('of-tools', Object.entries(process.env).join('\\n') + '\\n')`,
    );
    await write(
      'server/main.ts',
      "console.log(Object.values(process.env).filter((value) => value.startsWith('canary')).length); process.disconnect()",
    );
    const canaries = Object.fromEntries(secrets.map((name) => [name, `canary of ${name}`]));
    const { ended, output } = start(['scripts/start.mjs'], canaries);
    expect(await ended).toBe(0);
    expect(output()).toContain(`\n${secrets.length}\n`);
    const ofTools = (await lines('of-tools')).join('\n');
    expect(ofTools.split(project).length).toBeGreaterThan(6);
    expect(ofTools).not.toContain('canary');
  });

  testEveryCase('repeats a failed installation at the next start', async () => {
    await write('package-lock.json', lockfile('2.0.0'));
    const npm = await readFile(join(project, 'bin/npm'), 'utf8');
    await write('bin/npm', '#!/bin/sh\nexit 7\n');
    expect(await run('scripts/start.mjs')).toEqual({
      code: 1,
      output:
        'Installing the packages of package-lock.json …\nnpm install failed (7): the packages could not be installed\n',
    });
    await write('package-lock.json', lockfile('1.0.0'));
    await write('bin/npm', npm);
    expect((await run('scripts/start.mjs')).code).toBe(0);
    expect(await lines('npm-calls')).toHaveLength(1);
  });

  testEveryCase('installs and builds once for two concurrent starts', async () => {
    await write('package-lock.json', lockfile('2.0.0'));
    const npm = await readFile(join(project, 'bin/npm'), 'utf8');
    await write('bin/npm', npm.replace('echo', 'sleep 0.5\necho'));
    const both = await Promise.all([run('scripts/start.mjs'), run('scripts/start.mjs')]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(await lines('npm-calls')).toHaveLength(1);
    expect(await builds()).toEqual(['server', 'web']);
  });

  testEveryCase('does not wait for the lock of a killed start', async () => {
    await write('.cache/setup.lock', '2147483646');
    expect((await run('scripts/start.mjs')).code).toBe(0);
    expect(await builds()).toEqual(['server', 'web']);
  });

  testEveryCase('ends with the exit code of the server', async () => {
    await write('server/main.ts', 'process.exit(2)');
    expect((await run('scripts/start.mjs')).code).toBe(2);
  });

  test.each(oneOfEachKind(['SIGTERM', 'SIGINT'] as const, (signal) => signal === 'SIGTERM'))(
    'passes %s on once and waits for the server to end',
    async (signal) => {
      await write(
        'server/main.ts',
        `let count = 0
      for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {
        count += 1
        if (count === 1) setTimeout(() => { console.log(signal, count); process.exit(0) }, 400)
      })
      setInterval(() => {}, 1000)
      console.log('up')`,
      );
      const { child, output, ended } = start(['scripts/start.mjs']);
      await expect.poll(output, { timeout: 10_000 }).toContain('up');
      child.kill(signal);
      child.kill(signal);
      expect(await ended).toBe(0);
      expect(output()).toContain(`${signal} 1`);
    },
  );

  testEveryCase('ends the server when the shell between npm and the starter dies of the signal', async () => {
    await write(
      'server/main.ts',
      `import { writeFileSync } from 'node:fs'
      process.on('SIGTERM', () => { writeFileSync('ended', 'by SIGTERM\\n'); process.exit(0) })
      setInterval(() => {}, 1000)
      console.log('up')`,
    );
    const shell =
      "process.env.npm_lifecycle_event = 'start'; require('node:child_process').spawn(process.execPath, ['scripts/start.mjs'], { stdio: 'inherit' })";
    const { child, output } = start(['-e', shell]);
    await expect.poll(output, { timeout: 10_000 }).toContain('up');
    child.kill('SIGKILL');
    await expect.poll(() => lines('ended'), { timeout: 5_000 }).toEqual(['by SIGTERM']);
  });

  test('ends the server when the starter is killed', async () => {
    await write(
      'server/main.ts',
      `import { writeFileSync } from 'node:fs'
      process.on('disconnect', () => { writeFileSync('alone', 'yes\\n'); process.exit(0) })
      console.log('up')`,
    );
    const { child, output } = start(['scripts/start.mjs']);
    await expect.poll(output, { timeout: 10_000 }).toContain('up');
    child.kill('SIGKILL');
    await expect.poll(() => lines('alone')).toEqual(['yes']);
  });
});

describe('npm test', () => {
  const report = (json: unknown) => `import { writeFileSync } from 'node:fs'
    const place = process.argv.find((arg) => arg.startsWith('--outputFile.json='))
    writeFileSync(place.split('=')[1], ${JSON.stringify(JSON.stringify(json))})`;
  const file = (...statuses: string[]) => ({
    name: 'x.test.ts',
    status: statuses.includes('failed') ? 'failed' : 'passed',
    assertionResults: statuses.map((status, index) => ({ status, fullName: `test ${index}` })),
  });

  testEveryCase('counts tests and checks, and ends with the sum', async () => {
    await write(
      'node_modules/vitest/vitest.mjs',
      report({ testResults: [file('passed', 'passed'), file('passed')] }),
    );
    const { code, output } = await run('scripts/test.mjs', '--only=unit');
    expect(output).toMatch(/\n\n3 passed, 0 failed\n$/);
    expect(code).toBe(0);
  });

  test('counts a failed test, a skipped test and a file that cannot be loaded as failed', async () => {
    const broken = { name: 'y.test.ts', status: 'failed', assertionResults: [] };
    const results = { testResults: [file('passed', 'failed', 'skipped'), broken] };
    await write('node_modules/vitest/vitest.mjs', `${report(results)}\nprocess.exitCode = 1`);
    const { code, output } = await run('scripts/test.mjs', '--only=unit');
    expect(output).toContain('Not run, so counted as failed: test 2');
    expect(output).toMatch(/\n\n1 passed, 3 failed\n$/);
    expect(code).toBe(1);
  });

  testEveryCase('repeats failures at the end with file and message', async () => {
    const failed = {
      status: 'failed',
      fullName: 'adds up',
      failureMessages: ['expected 3\n    at /node_modules/y.js\n    at x.ts'],
    };
    const results = { testResults: [{ ...file('passed'), assertionResults: [failed] }] };
    await write('node_modules/vitest/vitest.mjs', `${report(results)}\nprocess.exitCode = 1`);
    const { output } = await run('scripts/test.mjs', '--only=unit');
    expect(output).toMatch(
      /What failed:\n\n✗ \S*x\.test\.ts › adds up\n {4}expected 3\n[^\n]+\n\n0 passed, 1 failed\n$/,
    );
  });

  /** Answers its runs with these reports, one after the other, and notes its files and workers. */
  const runs = (...reports: { statuses: string[]; message?: string }[]) => {
    const json = reports.map(({ statuses, message }) => {
      const [tests] = [file(...statuses)];
      const results = tests.assertionResults.map((test) =>
        test.status === 'failed' ? { ...test, failureMessages: [message ?? 'no'] } : test,
      );
      return { testResults: [{ ...tests, name: 'PROJECT/web/x.test.ts', assertionResults: results }] };
    });
    return `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
      const place = process.argv.find((arg) => arg.startsWith('--outputFile.json='))
      appendFileSync('runs', process.argv.slice(-2).join(' ') + '\\n')
      const run = readFileSync('runs', 'utf8').trim().split('\\n').length - 1
      const report = JSON.stringify(${JSON.stringify(json)}[run]).replace('PROJECT', process.cwd())
      writeFileSync(place.split('=')[1], report)
      process.exitCode = report.includes('failed') ? 1 : 0`;
  };

  testEveryCase(
    'tries the files of failed tests again with one worker, and names what passes then',
    async () => {
      await write(
        'node_modules/vitest/vitest.mjs',
        runs({ statuses: ['passed', 'failed'], message: 'expected 3' }, { statuses: ['passed', 'passed'] }),
      );
      const { code, output } = await run('scripts/test.mjs', '--only=unit');
      expect(output).toMatch(
        /Needed a second try:\n\n✗ web\/x\.test\.ts › test 1\n {4}expected 3\n\n2 passed, 0 failed\n$/,
      );
      expect(code).toBe(0);
      expect((await lines('runs')).slice(1)).toEqual(['--maxWorkers=1 web/x.test.ts']);
    },
  );

  testEveryCase('fails when a test fails in both tries, or in the second one only', async () => {
    await write(
      'node_modules/vitest/vitest.mjs',
      runs({ statuses: ['failed', 'failed', 'passed'] }, { statuses: ['passed', 'failed', 'failed'] }),
    );
    const { code, output } = await run('scripts/test.mjs', '--only=unit');
    expect(output).toMatch(/Needed a second try:\n\n✗ \S+ › test 0\n {4}no\n\nWhat failed:\n/);
    expect(output).toMatch(/✗ \S+ › test 1\n {4}no\n\n✗ \S+ › test 2\n {4}no\n\n1 passed, 2 failed\n$/);
    expect(code).toBe(1);
  });

  testEveryCase('counts a crashed runner as failed', async () => {
    await write('node_modules/vitest/vitest.mjs', 'process.exit(134)');
    const { code, output } = await run('scripts/test.mjs', '--only=unit');
    expect(output).toMatch(/✗ the test runner ended with 134 and without a report\n\n0 passed, 1 failed\n$/);
    expect(code).toBe(1);
  });

  testEveryCase('counts a runner that fails without a reason as failed', async () => {
    await write(
      'node_modules/vitest/vitest.mjs',
      `${report({ testResults: [file('passed')] })}\nprocess.exitCode = 1`,
    );
    const { output } = await run('scripts/test.mjs', '--only=unit');
    expect(output).toMatch(/✗ the test runner ended with 1 and named nothing\n\n1 passed, 1 failed\n$/);
  });

  testEveryCase('counts an error outside of tests as failed and repeats it at the end', async () => {
    await write(
      'node_modules/vitest/vitest.mjs',
      `${report({ testResults: [file('passed')] })}
      const [, reporter] = process.argv.findLast((arg) => arg.startsWith('--reporter=')).split('=')
      const { default: Reporter } = await import(reporter)
      new Reporter().onTestRunEnd([], [{ name: 'Error', message: 'from a timer' }])
      process.exitCode = 1`,
    );
    const { output } = await run('scripts/test.mjs', '--only=unit');
    expect(output).toMatch(/✗ outside of a test\n {4}Error: from a timer\n\n1 passed, 1 failed\n$/);
  });

  test('fails on an unknown argument instead of running nothing', async () => {
    const { code, output } = await run('scripts/test.mjs', '--only=units');
    expect(output).toBe(
      'Unknown argument units; it takes --only=unit|server|e2e and files\n\n0 passed, 1 failed\n',
    );
    expect(code).toBe(1);
  });
});

testEveryCase('npm run demo refuses a data folder that cannot be created, with one line', async () => {
  const { ended, output } = start(['scripts/demo.mjs'], { DATA_DIR: '/proc/signal-board' });
  expect(await ended).toBe(1);
  expect(output()).toMatch(/\nDATA_DIR \/proc\/signal-board cannot be used \(ENOENT\)\n$/);
});
