import type { Pool } from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '#server/platform/http/errors.ts';

/** Entering a key and testing one: each makes the program ask an exchange. */
export const CALLS_PER_MINUTE = 10;
/** How many of these may enter a key. */
export const ENTRIES_PER_MINUTE = 5;

/** Each refuses with 429 when the keys of the user were entered or tested too often, whoever did that. */
export interface CredentialLimits {
  countEntry(userId: string): Promise<void>;
  countTest(userId: string): Promise<void>;
}

/** Counted in the database for all instances, by the user whom the keys are for: an administrator enters many users' keys. */
export function createCredentialLimits(pool: Pool): CredentialLimits {
  const entries = createLimit(pool, { keyPrefix: 'credentials-entry', points: ENTRIES_PER_MINUTE });
  const calls = createLimit(pool, { keyPrefix: 'exchange-call', points: CALLS_PER_MINUTE });
  return {
    async countEntry(userId) {
      await entries(userId);
      await calls(userId);
    },
    countTest: calls,
  };
}

function createLimit(pool: Pool, limit: { keyPrefix: string; points: number }) {
  const limiter = new RateLimiterPostgres({
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    ...limit,
    duration: 60,
    // The limiter of the password routes clears the table that they share.
    clearExpiredByTimeout: false,
  });
  return async (userId: string): Promise<void> => {
    try {
      await limiter.consume(userId);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      const retryAfterSeconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1_000));
      throw new AppError('tooManyRequests', { retryAfterSeconds });
    }
  };
}
