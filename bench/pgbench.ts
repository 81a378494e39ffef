import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Postmaster } from '#server/platform/database/embedded-postmaster.ts';
import { withDatabase } from './program.ts';

const run = promisify(execFile);
const DATABASE = 'pgbench';
const SCALE = '10';
const CLIENTS = '10';
const THREADS = '2';

/** The version of the pgbench on PATH; null when there is none. */
export async function findPgbench(): Promise<string | null> {
  return run('pgbench', ['--version']).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
}

/** Makes pgbench's tables in a database beside the program's. */
export async function preparePgbench(postmaster: Postmaster): Promise<void> {
  await withDatabase({ postmaster, database: 'postgres' }, (client) =>
    client.query(`create database ${DATABASE}`),
  );
  await run('pgbench', [...connection(postmaster), '-i', '-q', '-s', SCALE, DATABASE]);
}

/** Transactions per second: an update, a select and an insert each, committed durably, by ten clients. */
export async function runPgbench(options: { postmaster: Postmaster; seconds: number }): Promise<number> {
  const load = ['-n', '-N', '-c', CLIENTS, '-j', THREADS, '-T', String(options.seconds)];
  const { stdout } = await run('pgbench', [...connection(options.postmaster), ...load, DATABASE]);
  const [, tps] = /^tps = ([\d.]+)/m.exec(stdout) ?? [];
  if (tps === undefined) throw new Error(`pgbench said no tps:\n${stdout}`);
  return Number(tps);
}

const connection = ({ host, port }: Postmaster) => ['-h', host, '-p', String(port), '-U', 'postgres'];
