import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { binaryPath, packagedPostgres } from '#server/platform/db/embedded-binaries.ts';
import { openSocketFolder } from '#server/platform/db/embedded-folders.ts';
import { commandOf, findInstallation, ownerOf } from '#server/platform/db/embedded-runner.ts';
import type { TestServerProcess } from '#test/app/test-server-process.ts';
import { countStored, createTraders, loadedBy, post, sendLoad, TRADING } from './deliveries.ts';
import { type Bench, mean, slope, type Target } from './figures.ts';
import {
  BARE_SERVER,
  count,
  memoryMb,
  type Program,
  pidOf,
  processTree,
  repeat,
  requireRunning,
  runChild,
  waitUntil,
  withFolder,
  withProcessorTime,
  withProgram,
  withResource,
} from './harness.ts';

const LOAD_SECONDS = 1;
const LOOK_EVERY_MS = 500;
const WORK_LIMIT_MS = 900_000;

/** The program's memory when idle and after many alerts. */
export const memory: Bench = {
  about: 'memory at rest and after 100,000 alerts',
  takes: '4 minutes',
  async run({ add, say, short }) {
    const idleSeconds = short ? 3 : 60;
    const alerts = short ? { candle: 950, signal: 50 } : { candle: 95_000, signal: 5_000 };
    const all = (alerts.candle + alerts.signal).toLocaleString('en');

    async function addMemory({ server, postmaster }: Program, when: string, target?: Target): Promise<void> {
      add(`program: ${when}`, 'MB', await memoryMb([pidOf(server)]), target);
      add(`database: ${when}`, 'MB', await memoryMb(await processTree(postmaster.pid)));
    }

    async function measure(program: Program): Promise<void> {
      const { server, hookKey } = program;
      await addMemory(program, 'after the start');
      say(`waiting ${idleSeconds} s`);
      const { used } = await withProcessorTime(loadedBy(program), () => sleep(idleSeconds * 1000));
      for (const part of ['program', 'database'] as const) {
        add(`${part}: processor time in ${idleSeconds} s at rest`, 's', used[part]);
      }
      await addMemory(program, 'at rest', { most: 250 });
      say(`${all} alerts`);
      let greatest = 0;
      const looking = repeat(async () => {
        greatest = Math.max(greatest, (await memoryMb([pidOf(server)])) ?? 0);
        await sleep(LOOK_EVERY_MS);
      });
      for (const kind of ['candle', 'signal'] as const) {
        while ((await countStored(program, kind)) < alerts[kind]) {
          await sendLoad({ url: server.url, hookKey, kind, seconds: LOAD_SECONDS });
        }
      }
      say('waiting until all workflows have ended');
      const open = 'select count(*) as count from workflows where completed_at is null';
      const what = 'all workflows ended';
      await waitUntil(async () => (await count(program, open)) === 0, {
        what,
        limitMs: WORK_LIMIT_MS,
        everyMs: 500,
      });
      await looking.stop();
      await sleep(Math.min(idleSeconds, 10) * 1000);
      add('program: greatest meanwhile', 'MB', greatest);
      await addMemory(program, `after ${all} alerts`, { most: 350 });
    }

    const isLinux = process.platform === 'linux';
    if (isLinux) await withProgram({ WEBHOOK_RATE_LIMIT: '0' }, measure);
    return {
      about: `Memory and processor time without a request, and memory after ${all} alerts`,
      notes: [
        'Memory is the proportional set size: what processes share is counted once.',
        `The alerts: ${alerts.candle.toLocaleString('en')} candles and ${alerts.signal.toLocaleString('en')} signals as fast as they are taken, then a wait until every workflow has ended. Automatic trading is on, and there is nobody to trade for.`,
        ...(isLinux ? [] : ['Not measured: it needs /proc, which only Linux has.']),
      ],
    };
  },
};

const USERS = 10;
const TOKENS = 30;
const CANDLES_A_SECOND = 20;
/** After this many turns a position is closed by its target, before its token's turn comes again. */
const CLOSED_BEFORE = TOKENS / 2;
const TARGET_REACHED = '150';
const SAMPLE_EVERY_MS = 5_000;
const WAITS = { VERIFY_FIRST_MS: '500', VERIFY_SECOND_MS: '500', CANCEL_DELAY_MS: '200' };
/** Lets `usedHeapMb` open the inspector with a signal, on a free port. */
const WITH_INSPECTOR = { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' };
/** Well before the second half, so a forced collection does not look like growth after it. */
const EARLY = 1 / 3;
/** Garbage fluctuates by tens of megabytes; a leak keeps growing. */
const MOST_GROWTH_PERCENT = 5;

/** Repeats a small version of a day's work to find memory that is never released. */
export const soak: Bench = {
  about: 'whether memory grows',
  takes: 'half an hour',
  only: 'all',
  async run({ add, say, short, minutes }) {
    const wanted = short ? 0.7 : minutes;

    async function measure(program: Program): Promise<void> {
      await createTraders(program, USERS);
      let sent = 0;
      const send = (kind: 'candle' | 'signal', token: string, price?: string) => {
        sent += 1;
        return post(program, kind, { token, ...(price === undefined ? {} : { price }) });
      };
      const loads = [
        repeat(async (number) => {
          await send('candle', `IDLE${number % 60}`, String(100 + (number % 7) / 10));
          await sleep(1000 / CANDLES_A_SECOND);
        }),
        repeat(async (number) => {
          await send('candle', `SOAK${number % TOKENS}`);
          await send('signal', `SOAK${number % TOKENS}`);
          const earlier = `SOAK${(number - CLOSED_BEFORE) % TOKENS}`;
          if (number >= CLOSED_BEFORE) await send('candle', earlier, TARGET_REACHED);
          await sleep(short ? 1_000 : 4_000);
        }),
      ];
      const samples: { minutes: number; pssMb: number }[] = [];
      let heapEarly: number | null = null;
      try {
        const startedAt = performance.now();
        const elapsed = () => (performance.now() - startedAt) / 60_000;
        for (let said = 0; elapsed() < wanted; ) {
          await Promise.race([sleep(SAMPLE_EVERY_MS), ...loads.map(({ failed }) => failed)]);
          samples.push({ minutes: elapsed(), pssMb: (await memoryMb([pidOf(program.server)])) ?? 0 });
          if (heapEarly === null && elapsed() > wanted * EARLY) heapEarly = await usedHeapMb(program.server);
          if (elapsed() > said) {
            say(`${said} of ${wanted} minutes, ${samples.at(-1)?.pssMb.toFixed()} MB`);
            said += 5;
          }
        }
        if (heapEarly === null) throw new Error('The soak was too short');
        const heapAtEnd = await usedHeapMb(program.server);
        const half = samples.filter((sample) => sample.minutes > wanted / 2);
        const meanMb = mean(half.map(({ pssMb }) => pssMb));
        const perMinute = slope(half.map((sample) => ({ x: sample.minutes, y: sample.pssMb })));
        const growthPercent = (100 * perMinute * wanted) / 2 / meanMb;
        const target = { most: MOST_GROWTH_PERCENT };
        add('memory, mean of the second half', 'MB', meanMb);
        add('memory, greatest', 'MB', Math.max(...samples.map(({ pssMb }) => pssMb)));
        add('growth of memory over the second half', '%', growthPercent, target);
        add('growth of memory', 'MB an hour', perMinute * 60);
        add('heap in use after collecting garbage, after a third', 'MB', heapEarly);
        add('heap in use after collecting garbage, at the end', 'MB', heapAtEnd);
        add('growth of the heap in use', '%', 100 * (heapAtEnd / heapEarly - 1), target);
        const orders = await count(program, 'select count(*) as count from paper_orders');
        const ended = `select count(*) as count from paper_trigger_orders where state <> 'live'`;
        const closed = await count(program, ended);
        if (orders === 0 || closed === 0) throw new Error('No position was opened, or none was closed');
        add('deliveries', '/min', sent / wanted);
        add('orders', '/min', orders / wanted);
        add('stops and targets that ended', '/min', closed / wanted);
      } finally {
        await Promise.allSettled(loads.map((load) => load.stop()));
      }
    }

    await withProgram({ ...TRADING, ...WAITS, ...WITH_INSPECTOR }, measure);
    return {
      about: `${wanted} minutes of alerts and trading for ${USERS} users: candles, signals, positions that open and close at their targets`,
      notes: [
        'Memory is the proportional set size of the program, looked at every five seconds.',
        `No growth trend means here: at most ${MOST_GROWTH_PERCENT} % over the second half, by the line of least squares, and of the heap in use.`,
      ],
    };
  },
};

/** The heap in use after a garbage collection. */
async function usedHeapMb(server: TestServerProcess): Promise<number> {
  const find = () => /Debugger listening on (ws:\S+)/.exec(server.output())?.[1];
  if (find() === undefined) server.child.kill('SIGUSR1');
  const what = 'the program opened its inspector';
  await waitUntil(async () => find() !== undefined, { what, limitMs: 10_000, everyMs: 20 });
  const socket = new WebSocket(find() ?? '');
  await once(socket, 'open');
  try {
    await callInspector(socket, 1, 'HeapProfiler.collectGarbage');
    const { usedSize = 0 } = await callInspector(socket, 2, 'Runtime.getHeapUsage');
    return usedSize / 1024 ** 2;
  } finally {
    socket.close();
  }
}

function callInspector(socket: WebSocket, id: number, method: string): Promise<{ usedSize?: number }> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('message', function hear({ data }) {
      const { id: answered, result, error } = JSON.parse(String(data));
      if (answered !== id) return;
      socket.removeEventListener('message', hear);
      if (error) reject(new Error(error.message));
      else resolve(result);
    });
    socket.send(JSON.stringify({ id, method }));
  });
}

const START = fileURLToPath(new URL('../scripts/start.mjs', import.meta.url));
const START_LIMIT_MS = 60_000;

/** `npm start` until ready, beside the start of only Node and only PostgreSQL. */
export const starts: Bench = {
  about: 'the first start and the second',
  takes: '1 minute',
  async run({ add, say, short }) {
    const rounds = short ? 1 : 5;
    for (let round = 1; round <= rounds; round += 1) {
      say(`round ${round} of ${rounds}`);
      await withFolder(async (dataDir) => {
        const first = await startProgram(dataDir);
        const second = await startProgram(dataDir);
        const port = await freePort();
        const { readyMs: nodeMs } = await timeStart({
          start: () => spawn(process.execPath, [...BARE_SERVER, String(port)], { stdio: 'ignore' }),
          answers: async () => (await fetch(`http://127.0.0.1:${port}/`)).ok,
        });
        const databaseMs = await startDatabase(dataDir);
        add('first start, empty data folder', 'ms', first.readyMs);
        add('second start, same folder', 'ms', second.readyMs);
        add('a bare node:http server', 'ms', nodeMs);
        add('the database by itself', 'ms', databaseMs);
        add('second start to both together', '×', second.readyMs / (nodeMs + databaseMs), { most: 2 });
        for (const { stopMs } of [first, second]) add('stop, until the process has ended', 'ms', stopMs);
      });
    }
    return {
      about: 'From the command of npm start to the first 200 of /readyz, with packages and web in place',
      notes: [
        'The first start makes the database, its tables and the first administrator. Files are in the page cache and compiled code is in the compile cache, as after any earlier start on the machine.',
        'By themselves: node from its command to its first answer, and the same PostgreSQL on the same data folder from its command to its first answer to a query, one after the other.',
      ],
    };
  },
};

interface Start {
  readyMs: number;
  stopMs: number;
}

async function startProgram(dataDir: string): Promise<Start> {
  const port = await freePort();
  const env = {
    ...process.env,
    DATABASE_URL: '',
    EXCHANGE_MODE: 'paper',
    LOG_LEVEL: 'warn',
    DATA_DIR: dataDir,
    PORT: String(port),
    HOST: '127.0.0.1',
    ADMIN_PASSWORD: 'of the benchmark',
  };
  return timeStart({
    start: () => spawn(process.execPath, [START], { stdio: ['ignore', 'ignore', 'inherit'], env }),
    answers: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200,
  });
}

async function startDatabase(dataDir: string): Promise<number> {
  const cluster = join(dataDir, 'postgres');
  const { runner, native } = await findInstallation({ native: packagedPostgres(), dataDir, folder: cluster });
  const host = await openSocketFolder({ dataDir, owner: ownerOf(runner) });
  async function canQuery(): Promise<boolean> {
    const client = new pg.Client({ host, user: 'postgres', database: 'signal_board', ssl: false });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } finally {
      await client.end().catch(() => {});
    }
  }
  try {
    const settings = ['listen_addresses=', `unix_socket_directories=${host}`].flatMap((one) => ['-c', one]);
    const command = commandOf(runner, binaryPath(native, 'postgres'), ['-D', cluster, ...settings]);
    const { readyMs } = await timeStart({
      start: () =>
        spawn(command.file, command.args, { stdio: 'ignore', cwd: dataDir, env: {}, ...command.identity }),
      answers: canQuery,
      endsBy: 'SIGINT',
    });
    return readyMs;
  } finally {
    await rm(host, { recursive: true, force: true });
  }
}

async function timeStart(options: {
  start: () => ChildProcess;
  answers: () => Promise<boolean>;
  endsBy?: NodeJS.Signals;
}): Promise<Start> {
  const { start, answers, endsBy = 'SIGTERM' } = options;
  const startedAt = performance.now();
  async function open() {
    const child = start();
    return { child, exit: once(child, 'exit') };
  }
  async function close({ child, exit }: Awaited<ReturnType<typeof open>>): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) child.kill(endsBy);
    await exit;
  }
  return withResource({ open, close }, async (opened) => {
    async function isReady(): Promise<boolean> {
      requireRunning();
      const { exitCode, spawnfile } = opened.child;
      if (exitCode !== null) throw new Error(`${spawnfile} ended with ${exitCode}`);
      return await answers().catch(() => false);
    }
    await waitUntil(isReady, { what: 'it answered', limitMs: START_LIMIT_MS, everyMs: 5 });
    const readyMs = performance.now() - startedAt;
    const stopAt = performance.now();
    await close(opened);
    return { readyMs, stopMs: performance.now() - stopAt };
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No free port');
  return address.port;
}

const TEST = fileURLToPath(new URL('../scripts/test.mjs', import.meta.url));

/** The duration of `npm test`. Fails when a test fails. */
export const tests: Bench = {
  about: 'the whole of npm test',
  takes: 'a quarter of an hour',
  only: 'named',
  async run({ add, say, short }) {
    const args = short ? ['--only=unit'] : [];
    say(`npm test ${args.join(' ')}`);
    const startedAt = performance.now();
    // Unset as for a developer: the benchmarks' NODE_ENV would change what is tested.
    const env = { NODE_ENV: '' };
    const output = await runChild(process.execPath, [TEST, ...args], { env, limitMs: 60 * 60_000 });
    add('npm test', 'min', (performance.now() - startedAt) / 60_000, { most: 15 });
    const [, passed = '0'] = /^(\d+) passed, 0 failed$/m.exec(output) ?? [];
    add('tests', '', Number(passed));
    return {
      about: 'The whole test run: types, style, unit, server and browser tests',
      notes: ['Packages are in place; the web is built anew when it has changed.'],
    };
  },
};
