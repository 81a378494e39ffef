import { spawn } from 'node:child_process';
import { chmod, readFile, stat } from 'node:fs/promises';
import { binaryPath, copyPostgres, linkLibraries } from './embedded-binaries.ts';
import { StartError } from './start-error.ts';

/**
 * The user that runs PostgreSQL, which refuses to run as root:
 * - `direct`: the user of this program;
 * - `namespace`: root, renamed inside a user namespace, so that files keep their owner and folders that only
 *   root can enter stay reachable. Also for a user without a passwd entry, which initdb needs;
 * - `user`: another user of the machine, where namespaces are forbidden.
 */
export type Runner =
  | { kind: 'direct' }
  | { kind: 'namespace'; mapped: UserId }
  | { kind: 'user'; runAs: UserId };

export interface UserId {
  uid: number;
  gid: number;
}

interface RunCommand {
  file: string;
  args: string[];
  identity: Partial<UserId>;
}

export interface PostgresInstallation {
  runner: Runner;
  native: string;
}

export function commandOf(runner: Runner, program: string, args: string[]): RunCommand {
  if (runner.kind === 'namespace') {
    const { uid, gid } = runner.mapped;
    const map = ['--user', `--map-user=${uid}`, `--map-group=${gid}`, '--', program];
    return { file: 'unshare', args: [...map, ...args], identity: {} };
  }
  return { file: program, args, identity: runner.kind === 'user' ? runner.runAs : {} };
}

/** The owner of the server's files, as seen from outside a namespace. */
export function ownerOf(runner: Runner): UserId | null {
  if (runner.kind === 'user') return runner.runAs;
  return process.getuid && process.getgid ? { uid: process.getuid(), gid: process.getgid() } : null;
}

/**
 * Tries users and copies of the binaries until PostgreSQL runs and can write `folder`.
 * Throws a StartError that names DATABASE_URL when none works.
 */
export async function findInstallation(options: {
  native: string;
  dataDir: string;
  folder: string;
}): Promise<PostgresInstallation> {
  const { native, dataDir, folder } = options;
  const linked = await linkLibraries(native);
  for (const runner of await candidates(folder, dataDir)) {
    if (!(await handOver(runner, { dataDir, folder }))) continue;
    const [writes, runs] = await Promise.all([
      process.platform === 'win32' || succeeds(runner, '/bin/sh', canWrite(folder)),
      linked && succeeds(runner, binaryPath(native, 'postgres'), ['--version']),
    ]);
    if (!writes) continue;
    if (runs) return { runner, native };
    const copy = await copyPostgres({ native, dataDir });
    if (await succeeds(runner, binaryPath(copy, 'postgres'), ['--version'])) return { runner, native: copy };
  }
  throw new StartError(
    `The embedded PostgreSQL cannot run on ${dataDir} as this user; choose another DATA_DIR or set DATABASE_URL`,
  );
}

function canWrite(folder: string): string[] {
  return ['-c', 'cd "$1" && test -w .', 'sh', folder];
}

async function candidates(folder: string, dataDir: string): Promise<Runner[]> {
  if (!process.getuid) return [{ kind: 'direct' }];
  const users = await readUsers();
  const nobody = users.find((user) => user.name === 'nobody') ?? users.find((user) => user.uid !== 0);
  const namespace: Runner[] = nobody ? [{ kind: 'namespace', mapped: nobody }] : [];
  const own = process.getuid();
  if (own !== 0) {
    return users.length === 0 || users.some((user) => user.uid === own)
      ? [{ kind: 'direct' }, ...namespace]
      : [...namespace, { kind: 'direct' }];
  }
  const owner = await stat(folder);
  if (owner.uid !== 0) return [{ kind: 'user', runAs: { uid: owner.uid, gid: owner.gid } }];
  const host = await stat(`${dataDir}/..`);
  const others = [...(host.uid === 0 ? [] : [{ uid: host.uid, gid: host.gid }]), ...(nobody ? [nobody] : [])];
  return [...namespace, ...others.map(({ uid, gid }) => ({ kind: 'user' as const, runAs: { uid, gid } }))];
}

async function readUsers(): Promise<(UserId & { name: string })[]> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}

/** Gives the folder to the user that runs the server; false when that user cannot reach it. */
async function handOver(runner: Runner, options: { dataDir: string; folder: string }): Promise<boolean> {
  if (runner.kind !== 'user') return true;
  const { uid, gid } = runner.runAs;
  const { mode, uid: dataOwner } = await stat(options.dataDir);
  if (dataOwner !== uid) await chmod(options.dataDir, mode | 0o011);
  if (!(await succeeds(runner, '/bin/sh', ['-c', 'cd "$1"', 'sh', options.dataDir]))) {
    await chmod(options.dataDir, mode);
    return false;
  }
  if ((await stat(options.folder)).uid === uid) return true;
  return succeeds({ kind: 'direct' }, 'chown', ['-R', `${uid}:${gid}`, options.folder]);
}

function succeeds(runner: Runner, program: string, args: string[]): Promise<boolean> {
  const { file, args: all, identity } = commandOf(runner, program, args);
  return new Promise((resolve) => {
    const child = spawn(file, all, { stdio: 'ignore', cwd: '/', env: serverEnvironment(), ...identity });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

/** PATHEXT and the names after it are for Windows. */
const KEPT = ['PATH', 'TMPDIR', 'LD_LIBRARY_PATH', 'PATHEXT', 'SYSTEMROOT', 'TEMP', 'TMP'];

/**
 * The environment of programs that this one starts: without its secrets, which could be read from outside, and without
 * PGDATA, PGPORT and a locale, which would change the server.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = KEPT.filter((name) => process.env[name] !== undefined);
  return { ...Object.fromEntries(kept.map((name) => [name, process.env[name]])), LC_ALL: 'C' };
}
