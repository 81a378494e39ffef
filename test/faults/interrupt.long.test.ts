import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const ENDLESS = ['--scenario', 'sigterm-under-load', '--set', 'times=1000', '--set', 'perSecond=2'];
const LIMIT_MS = 60_000;

interface Process {
  pid: number;
  command: string;
}

/** All direct and indirect child processes, read from /proc. */
function descendants(pid: number): Process[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(read(`/proc/${name}/stat`).split(') ')[1]?.split(' ')[1]);
    parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
  }
  const found = (of: number): number[] =>
    (parents.get(of) ?? []).flatMap((child) => [child, ...found(child)]);
  return found(pid).map((one) => ({
    pid: one,
    command: read(`/proc/${one}/cmdline`).replaceAll('\0', ' '),
  }));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

const foldersOf = (pid: number | undefined) =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`signal-board-tests-${pid}-`));

test.concurrent.each([
  ['SIGTERM, in the middle of a scenario,', 'SIGTERM', 143, /\/dist\/server\/main\.js/],
  ['Ctrl-C, while its stage is being built,', 'SIGINT', 130, /postgres/],
] as const)(
  'the harness interrupted by %s leaves no process and no folder behind',
  async (_how, signal, code, awaited) => {
    // Its own process group: Ctrl-C signals every process in a terminal's foreground group.
    const harness = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...ENDLESS], {
      stdio: 'ignore',
      detached: true,
    });
    const pid = harness.pid ?? 0;
    const ended = new Promise<number | null>((resolve) => harness.once('exit', resolve));
    const seen = new Map<number, string>();
    const look = () => {
      for (const one of descendants(pid)) seen.set(one.pid, one.command);
    };
    try {
      await vi.waitFor(
        () => {
          look();
          expect([...seen.values()].some((command) => awaited.test(command))).toBe(true);
        },
        { timeout: LIMIT_MS, interval: 50 },
      );
      if (signal === 'SIGTERM') await sleep(1_500);
      look();
      expect(foldersOf(pid)).not.toEqual([]);
      process.kill(signal === 'SIGINT' ? -pid : pid, signal);
      expect(await ended).toBe(code);
      // A zombie has an empty command line: it has ended but was not waited for.
      const left = [...seen].filter(
        ([one, command]) => read(`/proc/${one}/cmdline`).replaceAll('\0', ' ') === command && command !== '',
      );
      expect(left).toEqual([]);
      expect(foldersOf(pid)).toEqual([]);
    } finally {
      for (const one of [pid, ...seen.keys()]) if (existsSync(`/proc/${one}`) && one !== 0) kill(one);
    }
  },
  2 * LIMIT_MS,
);

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}
