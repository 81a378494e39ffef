import pg from 'pg';
import type { Deps } from '#server/deps.ts';
import { SCHEMA_LOCK } from '#server/platform/db/migrate.ts';
import { ensurePartitions } from '#server/platform/db/partitions.ts';
import type { DatabaseConnection } from '#server/platform/db/pool.ts';
import { createDeleteOldRows, type OldRowsDeps } from './delete-old-rows.ts';
import { type BeforeDrop, type DroppedPartition, dropOldPartitions } from './drop-old-partitions.ts';
import { forgetHashes } from './forget-hashes.ts';

const EVERY_MS = 10 * 60_000;

export type RetentionDeps = Pick<Deps, 'clock' | 'log'> & {
  config: Pick<Deps['config'], 'priceLogRetentionDays' | 'deliveryRetentionDays'>;
};

/** What a run needs beside the program's own parts. */
export interface Retention {
  deps: RetentionDeps;
  connection: DatabaseConnection;
  beforeDrop: BeforeDrop;
  /** Gives up what is under way: its transaction is rolled back. */
  signal?: AbortSignal;
}

/**
 * Makes the partitions of the months to come and drops those that are too old; by one instance at a time. On a
 * connection of its own: what it does may take longer than a statement of the pool.
 */
export async function keepPartitions({
  deps,
  connection,
  beforeDrop,
  signal,
}: Retention): Promise<DroppedPartition[]> {
  const { clock, config, log } = deps;
  const client = new pg.Client({ ...connection, application_name: 'signal-board retention' });
  client.on('error', () => {});
  const giveUp = () => void client.end().catch(() => {});
  signal?.addEventListener('abort', giveUp);
  try {
    await client.connect();
    const { rows } = await client.query('select pg_try_advisory_lock($1) as mine', [SCHEMA_LOCK]);
    if (!rows[0].mine) return [];
    const now = clock.now();
    if (!(await ensurePartitions({ client, log, now }))) return [];
    const keepDays = { price_logs: config.priceLogRetentionDays, deliveries: config.deliveryRetentionDays };
    const dropped = await dropOldPartitions({ client, now, keepDays, beforeDrop, log });
    const hashes = await forgetHashes(client);
    if (hashes > 0) log.info({ hashes }, 'hashes of price logs that are no longer kept have been forgotten');
    return dropped;
  } finally {
    signal?.removeEventListener('abort', giveUp);
    await client.end().catch(() => {});
  }
}

/**
 * Keeps the partitions and deletes old rows from time to time; the start of the program has made what it needs. Answers
 * how to stop that.
 */
export function startRetention(
  retention: Omit<Retention, 'signal' | 'deps'> & { deps: RetentionDeps & OldRowsDeps },
  { everyMs = EVERY_MS }: { everyMs?: number } = {},
): () => Promise<void> {
  const stopping = new AbortController();
  const deleteOldRows = createDeleteOldRows(retention.deps);
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    await attempt(() => keepPartitions({ ...retention, signal: stopping.signal }), 'the partitions');
    await attempt(
      () => deleteOldRows({ connection: retention.connection, signal: stopping.signal }),
      'old rows',
    );
    running = null;
  }

  /** What fails, or could not get its locks, is tried again the next time. */
  async function attempt(work: () => Promise<unknown>, what: string): Promise<void> {
    if (stopping.signal.aborted) return;
    try {
      await work();
    } catch (error) {
      if (stopping.signal.aborted) return;
      retention.deps.log.warn({ err: error }, `${what} could not be looked after`);
    }
  }

  const timer = setInterval(() => {
    running ??= run();
  }, everyMs);
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await running;
  };
}
