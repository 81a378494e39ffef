import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, say } from './project.mjs';

const folder = join(root, '.cache');
const path = join(folder, 'setup.lock');
const BEAT_MS = 2_000;
// A live process id is not enough: after a container restart it can belong to another process.
const SILENCE_MS = 20_000;

/**
 * Runs `work` while no other command in this folder installs or builds.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withSetupLock(work) {
  await mkdir(folder, { recursive: true });
  const own = `${path}.${process.pid}`;
  await writeFile(own, String(process.pid));
  try {
    await acquire(own);
  } finally {
    await rm(own, { force: true });
  }
  const beat = setInterval(() => utimes(path, new Date(), new Date()).catch(() => {}), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(path, { force: true });
  }
}

/** @param {string} own a complete file that becomes the lock in one step */
async function acquire(own) {
  for (let announced = false; ; await sleep(200)) {
    try {
      await link(own, path);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = await readHolder();
    if (holder === null) continue;
    if (!holder.alive) {
      await removeStale(holder.pid);
    } else if (!announced) {
      announced = true;
      say(`Another start (process ${holder.pid}) is setting up this folder; waiting for it …`);
    }
  }
}

async function readHolder() {
  try {
    const pid = Number(await readFile(path, 'utf8'));
    const { mtimeMs } = await stat(path);
    return { pid, alive: isAlive(pid) && Date.now() - mtimeMs < SILENCE_MS };
  } catch {
    return null;
  }
}

/**
 * Renames the lock first, so only one of two processes that find the same stale lock removes it.
 * @param {number} pid
 */
async function removeStale(pid) {
  const taken = `${path}.stale-${process.pid}`;
  try {
    await rename(path, taken);
  } catch {
    return;
  }
  const isTheStaleOne = Number(await readFile(taken, 'utf8')) === pid;
  if (!isTheStaleOne) await link(taken, path).catch(() => {});
  await rm(taken, { force: true });
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
