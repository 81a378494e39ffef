import { sql } from 'drizzle-orm';
import { expect } from 'vitest';
import type { Db } from '#server/platform/db/database.ts';

/** Waits until the queue has nothing left to do, and so nothing can follow by itself. */
export async function untilQueueIsEmpty(db: Db): Promise<void> {
  const unfinished = async () => {
    const { rows } = await db.execute<{ name: string }>(
      sql`select name from jobs.job where state in ('created', 'retry', 'active')`,
    );
    return rows.map(({ name }) => name);
  };
  await expect.poll(unfinished, { timeout: 60_000 }).toEqual([]);
}
