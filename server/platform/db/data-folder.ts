import { closeSync, openSync } from 'node:fs';
import { chmod, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { makeFolder } from '../make-folder.mjs';
import { hasCode, StartError } from './start-error.ts';

const LOCK_FILE = 'instance.lock';
// A stopped program may still be ending when the next one starts.
const RELEASE_LIMIT_MS = 5_000;
const PRIVATE_FILES = [LOCK_FILE, 'secret.key', 'postgres.log'];
const RIGHTS_OF_OTHERS = 0o077;
/** Lets another user who runs the database reach its folder; it allows neither listing nor reading. */
const TRAVERSE_RIGHTS = 0o011;

/** Creates the data folder, private to its owner, and returns its real path. */
export async function openDataFolder(dataDir: string): Promise<string> {
  try {
    await makeFolder(dataDir);
    return await realpath(dataDir);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new StartError(`DATA_DIR ${dataDir} cannot be used (${reason})`);
  }
}

/** Removes other users' rights from a data folder that an earlier version or a umask left open. */
export async function closeDataFolder(options: { dataDir: string; log: Logger }): Promise<void> {
  if (process.platform === 'win32') return;
  const { dataDir, log } = options;
  const [folder, cluster] = await Promise.all([statOf(dataDir), statOf(join(dataDir, 'postgres'))]);
  const isForeignCluster = cluster !== null && folder !== null && cluster.uid !== folder.uid;
  const closed: string[] = [];
  const open: string[] = [];
  for (const name of ['.', ...PRIVATE_FILES]) {
    const allowed = name === '.' && isForeignCluster ? TRAVERSE_RIGHTS : 0;
    const outcome = await closeToOthers(join(dataDir, name), allowed);
    if (outcome === 'closed') closed.push(name);
    if (outcome === 'open') open.push(name);
  }
  if (closed.length > 0) {
    log.warn(
      { dataDir, closed },
      'DATA_DIR was open to other users of this machine; now only its owner can read it',
    );
  }
  if (open.length > 0) {
    log.warn(
      { dataDir, open },
      'DATA_DIR is open to other users of this machine and cannot be closed by this one; set the folder to 0700 and its files to 0600',
    );
  }
}

async function closeToOthers(path: string, allowed: number): Promise<'private' | 'closed' | 'open'> {
  const excess = RIGHTS_OF_OTHERS & ~allowed;
  const before = await statOf(path);
  if (before === null || (before.mode & excess) === 0) return 'private';
  await chmod(path, before.mode & ~excess & 0o7777).catch(() => {});
  // Some file systems accept the call and keep the rights.
  const after = await statOf(path);
  return after !== null && (after.mode & excess) !== 0 ? 'open' : 'closed';
}

const statOf = (path: string) => stat(path).catch(() => null);

/**
 * Locks the data folder for one program before anything in it is touched. Two containers on one volume see neither each
 * other's processes nor sockets, so PostgreSQL would start twice on the same data. A file lock belongs to the kernel,
 * which both share, and ends with the program. Node has no file locks, but its SQLite locks its files.
 */
export async function lockFolder(dataDir: string, clock: Clock = systemClock): Promise<{ release(): void }> {
  const deadline = clock.monotonicMs() + RELEASE_LIMIT_MS;
  for (;;) {
    const file = tryLock(join(dataDir, LOCK_FILE));
    if (file !== null) return { release: () => file.close() };
    if (clock.monotonicMs() > deadline) {
      throw new StartError(
        `Signal Board is already running on ${dataDir}; stop it first, or choose another DATA_DIR`,
      );
    }
    await clock.sleep(100);
  }
}

/** Nothing is ever written into the file; only its lock counts. */
function tryLock(path: string): DatabaseSync | null {
  const file = openLockFile(path);
  try {
    file.exec('pragma busy_timeout = 0');
    file.exec('pragma journal_mode = memory');
    file.exec('begin exclusive');
    return file;
  } catch (error) {
    file.close();
    if (isBusy(error)) return null;
    throw new StartError(`${path} cannot be locked: ${messageOf(error)}`);
  }
}

function openLockFile(path: string): DatabaseSync {
  try {
    createPrivate(path);
    return new DatabaseSync(path);
  } catch (error) {
    throw new StartError(`${path} cannot be used: ${messageOf(error)}`);
  }
}

/** SQLite would leave the mode to the umask. Creates only: closing an existing file would end a lock on it. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const SQLITE_BUSY = 5;

const isBusy = (error: unknown) =>
  hasCode(error, 'ERR_SQLITE_ERROR') &&
  error instanceof Error &&
  Reflect.get(error, 'errcode') === SQLITE_BUSY;
