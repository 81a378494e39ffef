import type { Pool } from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';

/** A limit that counts in the database, for all instances. Each use returns how long to wait; null: within the limit. */
export function createSharedLimit(
  pool: Pool,
  limit: { keyPrefix: string; points: number; duration: number },
): (key: string) => Promise<number | null> {
  const limiter = new RateLimiterPostgres({
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    // The password limiter already clears the shared table.
    clearExpiredByTimeout: false,
    ...limit,
  });
  return async (key) => {
    try {
      await limiter.consume(key);
      return null;
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      return refused.msBeforeNext;
    }
  };
}
