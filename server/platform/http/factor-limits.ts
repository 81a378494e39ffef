import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { tooManyAttempts } from './errors.ts';
import { forgetGuesses, giveBackGuess, takeFactorGuess } from './password-guesses.ts';

/**
 * Returns what `check` found; null is a wrong code. Throws 429 without checking after five wrong codes, with waits that
 * grow from one minute to an hour; counted in the database for all instances, before the check.
 */
export async function limitFactorAttempts<Found>(
  deps: { db: Db; clock: Clock },
  attempt: { account: string; address: string },
  check: () => Promise<Found | null>,
): Promise<Found | null> {
  const taken = await takeFactorGuess(deps.db, { ...attempt, now: deps.clock.now() });
  if (!('guess' in taken)) throw tooManyAttempts(taken.waitMs);
  let found: Found | null;
  try {
    found = await check();
  } catch (error) {
    await giveBackGuess(deps.db, taken.guess);
    throw error;
  }
  if (found !== null) await forgetGuesses(deps.db, taken.guess);
  return found;
}
