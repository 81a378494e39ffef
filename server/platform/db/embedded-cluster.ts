import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rename, rm } from 'node:fs/promises';
import type { Logger } from '../log.ts';
import { binaryPath } from './embedded-binaries.ts';
import { serverEnvironment } from './embedded-environment.ts';
import { createDraft } from './embedded-folders.ts';
import { commandOf, findInstallation, type PostgresInstallation } from './embedded-runner.ts';
import { hasCode, StartError } from './start-error.ts';

/** The superuser of the embedded server; only this user of the machine reaches its socket. */
export const USER = 'postgres';

/**
 * Every commit waits while a new segment of the write-ahead log is filled with zeros: 50 ms for PostgreSQL's default
 * of 16 MB (docs/decisions/0003).
 */
const WAL_SEGMENT_MB = 2;

/** Made aside and renamed when complete, so that an interruption leaves no half cluster. */
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
