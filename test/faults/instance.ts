import type { ChildProcess } from 'node:child_process';
import { spawnProgram } from '../app/test-server-process.ts';

const KEPT_OUTPUT = 400_000;

/** One instance of the built program, which keeps its URL across restarts. */
export interface Instance {
  url: string;
  /** Resolves when the program listens. Rejects when it ends before, unless the scenario killed it. */
  start(): Promise<void>;
  kill9(): Promise<void>;
  /** Kills it and refuses later starts, which an interrupted scenario may still try. */
  close(): Promise<void>;
  /** Sends SIGTERM; returns the exit code and the time that it took. */
  terminate(): Promise<{ code: number | null; ms: number }>;
  freeze(): void;
  thaw(): void;
  isRunning(): boolean;
  /** The end of its output across all restarts. */
  output(): string;
  /** Descriptions of exits that the scenario did not cause. */
  unexpectedEnds: string[];
}

export function createInstance(options: {
  port: number;
  env: Record<string, string>;
  dataDir: string;
}): Instance {
  const { port, dataDir } = options;
  const env = { PORT: String(port), LOG_LEVEL: 'warn', ...options.env };
  const unexpectedEnds: string[] = [];
  let earlierOutput = '';
  let output = () => '';
  let child: ChildProcess | null = null;
  let ended: Promise<number | null> = Promise.resolve(null);
  let isExpected = false;
  let isClosed = false;

  async function kill9(): Promise<void> {
    isExpected = true;
    child?.kill('SIGKILL');
    await ended;
  }

  function noteEnd(started: ChildProcess, printed: string): void {
    if (child === started) child = null;
    if (isExpected) return;
    const { exitCode, signalCode } = started;
    // First the fatal error, then the last output.
    const fatal = printed.match(/^.*"level":"fatal".*$/gm)?.join('\n') ?? '';
    const text = `code ${exitCode}, signal ${signalCode}: ${fatal.slice(0, 3_000)}\n${printed.slice(-1_500)}`;
    unexpectedEnds.push(text);
    // Print immediately: the next request to the program fails with a less helpful error.
    process.stderr.write(`the program ended unexpectedly: ${text}\n`);
  }

  return {
    url: `http://127.0.0.1:${port}`,
    unexpectedEnds,
    output: () => (earlierOutput + output()).slice(-KEPT_OUTPUT),
    isRunning: () => child !== null,
    async start() {
      if (child) throw new Error('the instance is already running');
      if (isClosed) throw new Error('the instance is closed');
      earlierOutput = (earlierOutput + output()).slice(-KEPT_OUTPUT);
      isExpected = false;
      const program = spawnProgram({ dataDir, env });
      child = program.child;
      output = program.output;
      ended = program.ended.then((code) => {
        noteEnd(program.child, program.output());
        return code;
      });
      await program.listening().catch((error: unknown) => {
        if (!isExpected) throw error;
      });
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
