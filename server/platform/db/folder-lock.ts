import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, StartError } from './start-error.ts';

const FILE = 'instance.lock';
// A program that was told to end may still be ending when the next one is started.
const RELEASE_LIMIT_MS = 5_000;

export interface FolderLock {
  release(): void;
}

/**
 * Holds the data folder for one program, before anything in it is touched. Two containers on one volume see neither
 * each other's processes nor each other's sockets, and PostgreSQL would start twice on the same data; the lock of a
 * file is the kernel's, which both share, and it ends with the program however that ends. Node has no such lock of its
 * own, but the SQLite inside it takes one on its files, on every system.
 */
export async function lockFolder(dataDir: string): Promise<FolderLock> {
  const deadline = Date.now() + RELEASE_LIMIT_MS;
  for (;;) {
    const file = tryLock(join(dataDir, FILE));
    if (file !== null) return { release: () => file.close() };
    if (Date.now() > deadline) {
      throw new StartError(
        `Signal Board is already running on ${dataDir}; stop it first, or choose another DATA_DIR`,
      );
    }
    await sleep(100);
  }
}

/** Nothing is ever written into the file: only its lock counts. */
function tryLock(path: string): DatabaseSync | null {
  const file = open(path);
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

function open(path: string): DatabaseSync {
  try {
    create(path);
    return new DatabaseSync(path);
  } catch (error) {
    throw new StartError(`${path} cannot be used: ${messageOf(error)}`);
  }
}

/** For its owner alone, which SQLite would leave to the umask. Only a new file: closing one would end a lock on it. */
function create(path: string): void {
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
