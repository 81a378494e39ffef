import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { atInterruption, requireRunning } from './cleanup.ts';

const END_LIMIT_MS = 15_000;

export interface ChildOptions {
  env?: Record<string, string> | undefined;
  cwd?: string;
  /** A process that hangs must not hold up the whole run. */
  limitMs: number;
}

/** Runs a program to its end and answers what it printed. Throws when it fails, or takes longer than its limit. */
export async function runChild(
  file: string,
  args: readonly string[],
  options: ChildOptions,
): Promise<string> {
  const child = start(file, args, options);
  const output = collect(child);
  const forget = atInterruption(() => end(child));
  const limit = setTimeout(() => child.kill('SIGKILL'), options.limitMs);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (code === 0) return output.out();
    throw new Error(`${file} ended with ${code ?? signal}:\n${output.err()}\n${output.out()}`);
  } finally {
    clearTimeout(limit);
    forget();
  }
}

/** It may have children of its own to end. */
async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await Promise.race([once(child, 'close'), sleep(END_LIMIT_MS, undefined, { ref: false })]);
  child.kill('SIGKILL');
}

export interface BaselineServer {
  url: string;
  pid: number;
}

/** Runs `work` beside a script of `baselines/`, whose first line of output is the address that it listens at. */
export async function withBaselineServer<Result>(
  { name, env }: { name: string; env?: Record<string, string> },
  work: (server: BaselineServer) => Promise<Result>,
): Promise<Result> {
  const child = start(process.execPath, scriptArguments(name), { env });
  const output = collect(child);
  const forget = atInterruption(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  try {
    const url = await Promise.race([
      firstLine(child),
      ended.then(() => {
        throw new Error(`${name} did not start:\n${output.err()}`);
      }),
    ]);
    return await work({ url, pid: child.pid ?? 0 });
  } finally {
    child.kill('SIGKILL');
    await ended;
    forget();
  }
}

/** Runs a script of `baselines/` to its end; what it prints is JSON. */
export async function runBaseline<Answer>(
  name: string,
  options: { args: readonly string[]; env: Record<string, string>; limitMs: number },
): Promise<Answer> {
  const { args, ...rest } = options;
  return JSON.parse(await runChild(process.execPath, [...scriptArguments(name), ...args], rest)) as Answer;
}

const scriptArguments = (name: string) => [
  '--disable-warning=ExperimentalWarning',
  fileURLToPath(new URL(`baselines/${name}.ts`, import.meta.url)),
];

function start(
  file: string,
  args: readonly string[],
  { env, cwd }: Omit<ChildOptions, 'limitMs'>,
): ChildProcess {
  requireRunning();
  return spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
}

function collect(child: ChildProcess) {
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  return { out: () => out, err: () => err };
}

function firstLine(child: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    child.stdout?.on('data', (part: string) => {
      text += part;
      const [line, rest] = text.split('\n');
      if (rest !== undefined && line !== undefined) resolve(line.trim());
    });
  });
}
