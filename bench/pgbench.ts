import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Postmaster } from '#server/platform/db/embedded-postmaster.ts';
import { runChild } from './child.ts';
import { withDatabase } from './program.ts';

const DATABASE = 'pgbench';
const CLIENTS = '10';
const THREADS = '2';

/** As wide as a price log, with a key and nothing else. */
const TABLE = `create table one_row (
  id uuid primary key, hook_id uuid not null, from_admin boolean not null, token text not null, timeframe text not null,
  price numeric not null, currency text not null, candle_time timestamptz not null, received_at timestamptz not null,
  source_ip text not null, hash_value text not null, parameters jsonb not null
)`;
const INSERT = `\\set price random(100000, 101000)
insert into one_row values (gen_random_uuid(), '01980000-0000-7000-8000-000000000000', true, 'BTC', '15',
  :price / 1000.0, 'USDT', now(), now(), '127.0.0.1',
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '{"Timeframe":"15","Symbol":"BTCUSDT","Currency":"USDT","DateTime":"202601010000","Open":"100","High":"101.5","Low":"99.2","Close":"100.5","Volume":"100000001","RSI":"55.31","MACD":"1.204","ATR":"0.83","mature_trend":"bullish","close":"100.5","atr":"0.83","datetime":"202601010000"}');
`;

/** The version of the pgbench on PATH; null when there is none. */
export async function findPgbench(): Promise<string | null> {
  return promisify(execFile)('pgbench', ['--version']).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
}

/** Makes pgbench's table in a database beside the program's. */
export async function preparePgbench(postmaster: Postmaster): Promise<void> {
  await withDatabase({ postmaster, database: 'postgres' }, (client) =>
    client.query(`create database ${DATABASE}`),
  );
  await withDatabase({ postmaster, database: DATABASE }, (client) => client.query(TABLE));
}

/** Commits a second: one row inserted in each, durably, by ten clients. */
export async function runPgbench(options: { postmaster: Postmaster; seconds: number }): Promise<number> {
  const { postmaster, seconds } = options;
  const folder = await mkdtemp(join(tmpdir(), 'signal-board-bench-'));
  try {
    const script = join(folder, 'one-row.sql');
    await writeFile(script, INSERT);
    const where = ['-h', postmaster.host, '-p', String(postmaster.port), '-U', 'postgres'];
    const load = ['-n', '-f', script, '-c', CLIENTS, '-j', THREADS, '-T', String(seconds)];
    const output = await runChild('pgbench', [...where, ...load, DATABASE], {
      limitMs: (seconds + 60) * 1000,
    });
    const [, tps] = /^tps = ([\d.]+)/m.exec(output) ?? [];
    if (tps === undefined) throw new Error(`pgbench said no tps:\n${output}`);
    return Number(tps);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
