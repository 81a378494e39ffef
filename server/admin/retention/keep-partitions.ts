import type { Deps } from '#server/deps.ts';
import { SCHEMA_LOCK } from '#server/platform/db/migrate.ts';
import { ensurePartitions } from '#server/platform/db/partitions.ts';
import type { DatabaseConnection } from '#server/platform/db/pool.ts';
import { createDeleteOldRows, type OldRowsDeps } from './delete-old-rows.ts';
import {
  type BeforeDrop,
  type DroppedPartition,
  dropOldPartitions,
  forgetHashes,
  forgetTotals,
} from './drop-old-partitions.ts';
import { withRetentionClient } from './retention-client.ts';

const EVERY_MS = 10 * 60_000;

type RetentionDeps = Pick<Deps, 'clock' | 'log'> & {
  config: Pick<Deps['config'], 'priceLogRetentionDays' | 'deliveryRetentionDays'>;
};

interface Retention {
  deps: RetentionDeps;
  connection: DatabaseConnection;
  beforeDrop?: BeforeDrop;
}

/** Creates the partitions of the coming months and drops those that are too old, in one instance at a time. */
export async function keepPartitions(
  options: Retention & { signal?: AbortSignal },
): Promise<DroppedPartition[]> {
  const { deps, beforeDrop = forgetTotals, ...connected } = options;
  const { clock, config, log } = deps;
  const dropped = await withRetentionClient({ ...connected, lock: SCHEMA_LOCK }, async (client) => {
    const now = clock.now();
    if (!(await ensurePartitions({ client, log, now }))) return [];
    const keepDays = { price_logs: config.priceLogRetentionDays, deliveries: config.deliveryRetentionDays };
    const gone = await dropOldPartitions({ client, now, keepDays, beforeDrop, log });
    const hashes = await forgetHashes(client);
    if (hashes > 0) log.info({ hashes }, 'deleted hashes of dropped price logs');
    return gone;
  });
  return dropped ?? [];
}

/** Maintains partitions and deletes old rows every ten minutes. Returns a function that stops it. */
export function startRetention(
  retention: Retention & { deps: RetentionDeps & OldRowsDeps },
  { everyMs = EVERY_MS }: { everyMs?: number } = {},
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const deleteOldRows = createDeleteOldRows(retention.deps);
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    await attempt(() => keepPartitions({ ...retention, signal }), 'the partitions');
    await attempt(() => deleteOldRows({ connection: retention.connection, signal }), 'old rows');
    running = null;
  }

  /** The next run repeats work that failed or did not get its locks. */
  async function attempt(work: () => Promise<unknown>, what: string): Promise<void> {
    if (signal.aborted) return;
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) retention.deps.log.warn({ err: error }, `${what} could not be looked after`);
    }
  }

  const stopLooking = retention.deps.clock.every(everyMs, () => {
    running ??= run();
  });
  return async () => {
    stopLooking();
    stopping.abort();
    await running;
  };
}
