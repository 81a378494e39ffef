import pg from 'pg';
import type { DatabaseConnection } from '#server/platform/db/pool.ts';

/**
 * Runs the work while this instance holds the advisory lock; null when another one holds it. Uses its own connection
 * because the work may exceed the pool's statement limit. Aborting ends the connection, which rolls the work back.
 */
export async function withRetentionClient<Result>(
  { connection, lock, signal }: { connection: DatabaseConnection; lock: number; signal?: AbortSignal },
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result | null> {
  const client = new pg.Client({ ...connection, application_name: 'signal-board retention' });
  client.on('error', () => {});
  const giveUp = () => void client.end().catch(() => {});
  signal?.addEventListener('abort', giveUp);
  try {
    await client.connect();
    const { rows } = await client.query('select pg_try_advisory_lock($1) as mine', [lock]);
    return rows[0].mine ? await work(client) : null;
  } finally {
    signal?.removeEventListener('abort', giveUp);
    await client.end().catch(() => {});
  }
}
