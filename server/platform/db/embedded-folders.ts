import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { chown, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../log.ts';
import { binaryPath } from './embedded-binaries.ts';
import { isAlive } from './embedded-postmaster.ts';
import {
  commandOf,
  findInstallation,
  type PostgresInstallation,
  serverEnvironment,
  type UserId,
} from './embedded-runner.ts';
import { hasCode, StartError } from './start-error.ts';

const DRAFT = /^postgres\.new-(\d+)-/;
// A socket path ends at 107 bytes, "/.s.PGSQL.5432.lock" included.
const MAX_SOCKET_FOLDER_BYTES = 85;
const FOLDER_ATTEMPTS = 20;

/** Whether the cluster exists. Throws a StartError when the folder holds something else. */
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

/** An empty folder for a new cluster; removes what an interrupted start left. */
async function createDraft(dataDir: string): Promise<string> {
  for (const name of await readdir(dataDir)) {
    const pid = Number(DRAFT.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || (pid !== process.pid && isAlive(pid))) continue;
    await rm(join(dataDir, name), { recursive: true, force: true });
  }
  return mkdtemp(join(dataDir, `postgres.new-${process.pid}-`));
}

/** A short folder for the socket, the same for each data folder. */
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

/** Retries, because an ending program may remove the folder between two of these calls. */
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

/** The superuser of the embedded server; only this user of the machine reaches the server's socket. */
export const USER = 'postgres';

/** Commits wait while a new WAL segment is zeroed: 50 ms for the default of 16 MB (docs/decisions/0003). */
const WAL_SEGMENT_MB = 2;

/** Creates the cluster aside and renames it, so that an interruption leaves no half-made cluster. */
export async function createCluster(options: {
  native: string;
  dataDir: string;
  cluster: string;
  log: Logger;
}): Promise<PostgresInstallation> {
  const { dataDir, cluster, log } = options;
  const draft = await createDraft(dataDir);
  try {
    const installation = await findInstallation({ native: options.native, dataDir, folder: draft });
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const args = ['-D', draft, '-U', USER, '-A', 'trust', `--wal-segsize=${WAL_SEGMENT_MB}`, ...locale];
    const command = commandOf(installation.runner, binaryPath(installation.native, 'initdb'), args);
    const child = spawn(command.file, command.args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: serverEnvironment(),
      cwd: dataDir,
      ...command.identity,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new StartError(`The embedded database could not be created: ${reasonIn(output)}`);
    await rename(draft, cluster).catch((error: unknown) => {
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    });
    log.info({ cluster }, 'created the embedded database');
    return installation;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The line of a server's output that says why it ended. */
export function reasonIn(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const fatal =
    lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1) ?? 'it said nothing';
  return fatal.replace(/^.*?(FATAL|PANIC):\s*/, '').trim();
}
