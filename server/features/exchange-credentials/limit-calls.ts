import type { Pool } from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '#server/platform/errors.ts';

export const CALLS_PER_MINUTE = 10;

/** Refuses with 429 who makes us ask an exchange too often, counted in the database for all instances. */
export function createCallLimit(pool: Pool): (userId: string) => Promise<void> {
  const limiter = new RateLimiterPostgres({
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    keyPrefix: 'exchange-call',
    points: CALLS_PER_MINUTE,
    duration: 60,
    // The limiter of the password routes clears the table that they share.
    clearExpiredByTimeout: false,
  });
  return async (userId) => {
    try {
      await limiter.consume(userId);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      const retryAfterSeconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1_000));
      throw new AppError('tooManyRequests', { retryAfterSeconds });
    }
  };
}
