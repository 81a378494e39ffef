import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { hasCode } from './start-error.ts';

/** The contents of `postmaster.pid` of a running PostgreSQL. */
export interface Postmaster {
  pid: number;
  /** The socket folder, or the loopback address where there are no Unix sockets. */
  host: string;
  port: number;
}

// Beyond every kernel's highest process id, so it never names a process.
const NO_PROCESS = 2_147_483_646;

/** The live server of this cluster, or null. */
export async function findPostmaster(cluster: string): Promise<Postmaster | null> {
  const path = join(cluster, 'postmaster.pid');
  const text = await readFile(path, 'utf8').catch(() => '');
  const [pidText, , , port, socketDir, address] = text.split('\n');
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return null;
  if (await belongsElsewhere(pid, cluster)) {
    // After a container restart, the dead server's pid can name another process, which would keep PostgreSQL from
    // starting. PostgreSQL needs the other lines to check that no orphan uses the data.
    await writeFile(path, text.replace(/^\d+/, String(NO_PROCESS)));
    return null;
  }
  return { pid, host: socketDir || address || '', port: Number(port) };
}

/** PostgreSQL's working directory is its data folder. */
async function belongsElsewhere(pid: number, cluster: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  try {
    const [its, ours] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(cluster)]);
    return its.dev !== ours.dev || its.ino !== ours.ino;
  } catch {
    return false;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/**
 * Shuts the server down fast and cleanly; returns false when that takes longer than `waitMs`. `discards`: unwritten
 * data may be lost as in a crash.
 */
export async function stopPostmaster(options: {
  pid: number;
  waitMs: number;
  discards?: boolean;
}): Promise<boolean> {
  try {
    process.kill(options.pid, options.discards === true ? 'SIGQUIT' : 'SIGINT');
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return true;
    throw error;
  }
  const deadline = systemClock.monotonicMs() + options.waitMs;
  while (isAlive(options.pid)) {
    if (systemClock.monotonicMs() > deadline) return false;
    await systemClock.sleep(20);
  }
  return true;
}
