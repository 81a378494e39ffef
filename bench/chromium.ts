import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHROMIUM_FLAGS } from '../scripts/lib/chromium.mjs';
import { atInterruption, requireRunning } from './cleanup.ts';

const FLAGS = [...CHROMIUM_FLAGS, '--remote-debugging-port=0'];
const START_LIMIT_MS = 20_000;

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
