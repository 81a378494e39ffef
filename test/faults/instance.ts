import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { programArguments } from '../../scripts/lib/builds.mjs';

const COMPILE_CACHE = fileURLToPath(new URL('../../.cache/node', import.meta.url));
const START_LIMIT_MS = 60_000;
const KEPT_OUTPUT = 400_000;

/** One instance of the program, as its users run it, at one address for all its lives. */
export interface Instance {
  url: string;
  /** Resolves when it listens. Rejects when it ends before that, unless it was killed meanwhile. */
  start(): Promise<void>;
  kill9(): Promise<void>;
  /** Killed for good: whoever starts it again is refused, as a scenario that goes on while it is being interrupted. */
  close(): Promise<void>;
  /** SIGTERM; how it ended and how long that took. */
  terminate(): Promise<{ code: number | null; ms: number }>;
  freeze(): void;
  thaw(): void;
  isRunning(): boolean;
  /** The end of what it has printed in all its lives. */
  output(): string;
  /** Ends that nobody asked for. */
  unexpectedEnds: string[];
}

export function createInstance(options: {
  port: number;
  env: Record<string, string>;
  dataDir: string;
}): Instance {
  const { port, env, dataDir } = options;
  const unexpectedEnds: string[] = [];
  let output = '';
  let child: ChildProcess | null = null;
  let ended: Promise<number | null> = Promise.resolve(null);
  let isExpected = false;
  let isClosed = false;

  async function kill9(): Promise<void> {
    isExpected = true;
    child?.kill('SIGKILL');
    await ended;
  }

  function launch(): { process: ChildProcess; printed: () => string } {
    let printed = '';
    isExpected = false;
    const started = spawn(process.execPath, programArguments, {
      cwd: dataDir,
      env: {
        PATH: process.env.PATH,
        TMPDIR: process.env.TMPDIR,
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        PORT: String(port),
        DATA_DIR: dataDir,
        LOG_LEVEL: 'warn',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [started.stdout, started.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        printed = (printed + text).slice(-KEPT_OUTPUT);
        output = (output + text).slice(-KEPT_OUTPUT);
      });
    }
    child = started;
    ended = new Promise((resolve) => {
      started.once('exit', (code, signal) => {
        if (child === started) child = null;
        if (!isExpected) {
          // What it ended of stands before what ended with it.
          const fatal = printed.match(/^.*"level":"fatal".*$/gm)?.join('\n') ?? '';
          const text = `code ${code}, signal ${signal}: ${fatal.slice(0, 3_000)}\n${output.slice(-1_500)}`;
          unexpectedEnds.push(text);
          // Told at once: what asks the program something next fails with less to say.
          process.stderr.write(`the program ended by itself: ${text}\n`);
        }
        resolve(code);
      });
    });
    return { process: started, printed: () => printed };
  }

  return {
    url: `http://127.0.0.1:${port}`,
    unexpectedEnds,
    output: () => output,
    isRunning: () => child !== null,
    async start() {
      if (child) throw new Error('it runs already');
      if (isClosed) throw new Error('it is closed');
      const { process: started, printed } = launch();
      const deadline = Date.now() + START_LIMIT_MS;
      while (started.exitCode === null && started.signalCode === null) {
        if (/^ {2}Address +http:\/\/\S+/m.test(printed())) return;
        if (Date.now() > deadline) throw new Error(`The program did not start:\n${printed()}`);
        await sleep(10);
      }
      if (!isExpected) throw new Error(`The program ended while it started:\n${printed()}`);
    },
    kill9,
    async close() {
      isClosed = true;
      await kill9();
    },
    async terminate() {
      isExpected = true;
      const since = performance.now();
      child?.kill('SIGTERM');
      const code = await ended;
      return { code, ms: performance.now() - since };
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  };
}
