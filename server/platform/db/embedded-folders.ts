import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chown, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './embedded-postmaster.ts';
import type { UserId } from './embedded-runner.ts';
import { hasCode, StartError } from './start-error.ts';

const DRAFT = /^postgres\.new-(\d+)-/;
// A socket path ends at 107 bytes, "/.s.PGSQL.5432.lock" included.
const MAX_SOCKET_FOLDER_BYTES = 85;
const FOLDER_ATTEMPTS = 20;

/** Creates the data folder for its owner alone and returns its real path. */
export async function openDataFolder(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    return await realpath(dataDir);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new StartError(`DATA_DIR ${dataDir} cannot be used (${reason})`);
  }
}

/** Whether the cluster is there. Throws a StartError when the folder holds something else. */
export async function hasCluster(options: { cluster: string; major: string }): Promise<boolean> {
  const { cluster, major } = options;
  try {
    if ((await readdir(cluster)).length === 0) {
      await rm(cluster, { recursive: true });
      return false;
    }
    const version = (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim();
    if (version === major) return true;
    throw new StartError(`${cluster} was made by PostgreSQL ${version}, and this program brings ${major}`);
  } catch (error) {
    if (error instanceof StartError) throw error;
    if (hasCode(error, 'EACCES', 'EPERM')) throw new StartError(`${cluster} belongs to another user`);
    const folderIsThere = await lstat(cluster).catch(() => null);
    if (folderIsThere)
      throw new StartError(`${cluster} holds no PostgreSQL data; move it away to begin anew`);
    return false;
  }
}

/** An empty folder to make a new cluster in; what an interrupted start left is removed. */
export async function createDraft(dataDir: string): Promise<string> {
  for (const name of await readdir(dataDir)) {
    const pid = Number(DRAFT.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || (pid !== process.pid && isAlive(pid))) continue;
    await rm(join(dataDir, name), { recursive: true, force: true });
  }
  return mkdtemp(join(dataDir, `postgres.new-${process.pid}-`));
}

/** The short folder of the socket, found again from the data folder's path. */
export async function openSocketFolder(options: { dataDir: string; owner: UserId | null }): Promise<string> {
  const { dataDir, owner } = options;
  const name = `signal-board-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
  const wanted = join(tmpdir(), name);
  const folder = Buffer.byteLength(wanted) <= MAX_SOCKET_FOLDER_BYTES ? wanted : join('/tmp', name);
  if (!owner) {
    await makeFolder(folder);
    return folder;
  }
  const found = await makeFolderOf(folder, owner);
  if (!found.isDirectory() || found.uid !== owner.uid || (found.mode & 0o077) !== 0) {
    throw new StartError(`${folder} is not a private folder of this user; remove it, or set TMPDIR`);
  }
  return folder;
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
}

/** A program that is ending may remove the folder between two of these calls; then it is made again. */
async function makeFolderOf(folder: string, owner: UserId): Promise<Stats> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await makeFolder(folder);
      const found = await lstat(folder);
      const isOwn = found.isDirectory() && found.uid === process.getuid?.() && found.uid !== owner.uid;
      if (!isOwn) return found;
      await chown(folder, owner.uid, owner.gid);
      return await lstat(folder);
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || attempt === FOLDER_ATTEMPTS) throw error;
    }
  }
}
