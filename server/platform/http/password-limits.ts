import { createHash } from 'node:crypto';
import type pg from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { tooManyAttempts } from './errors.ts';
import { giveBackGuess, takeGuess } from './password-guesses.ts';
import { addressGroup } from './source-address.ts';

const WINDOW_SECONDS = 15 * 60;
/** Wrong passwords for one account from one address; the next attempt is refused unchecked. */
export const MAX_FAILURES_PER_ACCOUNT = 10;
/** Wrong passwords from one address across all accounts. */
export const MAX_FAILURES_PER_ADDRESS = 100;

interface PasswordAttempt {
  /** The username in its compared form; it need not exist. */
  account: string;
  address: string;
}

/** Returns what `check` returns. Throws 429 without checking when a limit is reached. */
export type LimitPasswordAttempts = (
  attempt: PasswordAttempt,
  check: () => Promise<boolean>,
) => Promise<boolean>;

/**
 * The limits that all password routes share, counted in the database for all instances: per address, per account at
 * an address, and per account at all addresses where it is not known. A success clears the account's failures from
 * this address.
 */
export function createPasswordLimits(deps: { pool: pg.Pool; db: Db; clock: Clock }): LimitPasswordAttempts {
  const { pool, db, clock } = deps;
  const shared = {
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    duration: WINDOW_SECONDS,
  };
  const ofAccount = new RateLimiterPostgres({
    ...shared,
    keyPrefix: 'password',
    points: MAX_FAILURES_PER_ACCOUNT,
  });
  const ofAddress = new RateLimiterPostgres({
    ...shared,
    keyPrefix: 'password-address',
    points: MAX_FAILURES_PER_ADDRESS,
    clearExpiredByTimeout: false,
  });
  const turns = new Map<string, Promise<unknown>>();

  return (attempt, check) => {
    const address = addressGroup(attempt.address);
    const account = `${createHash('sha256').update(attempt.account).digest('base64url')}@${address}`;

    // One at a time, so that a burst of guesses cannot outrun the count.
    return inTurn(turns, account, async () => {
      const taken = await takeGuess(db, { account: attempt.account, address, now: clock.now() });
      if (!('guess' in taken)) throw tooManyAttempts(taken.waitMs);
      // Guesses at many accounts arrive concurrently: each is counted before its check, and given back unless it failed.
      let isFailure = false;
      try {
        await consume(ofAddress, address);
        try {
          const isRight = await checkAccount(ofAccount, { account, check });
          isFailure = !isRight;
          return isRight;
        } finally {
          if (!isFailure) await ofAddress.reward(address);
        }
      } finally {
        if (!isFailure && taken.guess !== null) await giveBackGuess(db, taken.guess);
      }
    });
  };
}

async function checkAccount(
  limiter: RateLimiterPostgres,
  { account, check }: { account: string; check: () => Promise<boolean> },
): Promise<boolean> {
  await consume(limiter, account);
  let isRight: boolean;
  try {
    isRight = await check();
  } catch (error) {
    await limiter.reward(account);
    throw error;
  }
  if (isRight) await limiter.delete(account);
  return isRight;
}

/** A refused attempt is neither checked nor counted as a failure. */
async function consume(limiter: RateLimiterPostgres, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    await limiter.reward(key);
    throw tooManyAttempts(refused.msBeforeNext);
  }
}

async function inTurn<Result>(
  turns: Map<string, Promise<unknown>>,
  key: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = turns.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  const settled = mine.catch(() => undefined);
  turns.set(key, settled);
  try {
    return await mine;
  } finally {
    if (turns.get(key) === settled) turns.delete(key);
  }
}
