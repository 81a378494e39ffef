import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atInterruption, requireRunning } from './cleanup.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome-stable'];
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-port=0',
];
const START_LIMIT_MS = 20_000;

/** Null when there is none on this machine. */
export const findChromium = (): string | null =>
  process.env.CHROMIUM_PATH ?? PLACES.find((path) => existsSync(path)) ?? null;

/** Runs `work` with a browser that nothing has been opened in, reached at a port of the loopback address. */
export async function withChromium<Result>(
  path: string,
  work: (port: number) => Promise<Result>,
): Promise<Result> {
  requireRunning();
  const profile = await mkdtemp(join(tmpdir(), 'signal-board-bench-'));
  const child = spawn(path, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], { stdio: 'ignore' });
  const ended = once(child, 'close');
  async function close() {
    child.kill('SIGKILL');
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
  const forget = atInterruption(close);
  try {
    return await work(await findPort(profile));
  } finally {
    forget();
    await close();
  }
}

async function findPort(profile: string): Promise<number> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (Date.now() < deadline) {
    const text = await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '');
    const port = Number(text.split('\n')[0]);
    if (port > 0) return port;
    await sleep(50);
  }
  throw new Error('Chromium did not start');
}
