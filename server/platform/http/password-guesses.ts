import { createHash } from 'node:crypto';
import { and, eq, lt, sql } from 'drizzle-orm';
import type { Queryable } from '../db/database.ts';
import { passwordGuesses } from '../db/schema.ts';
import { isKnownAddress } from './known-addresses.ts';

const WINDOW_MS = 15 * 60_000;
/** More than one address may fail at by itself, so that a single attacker does not make others wait. */
const WITHOUT_WAIT = 11;
/** After each further guess the next one waits this long. */
const WAITS_MS = [15_000, 30_000, 60_000, 120_000];
const MAX_GUESSES = WITHOUT_WAIT + WAITS_MS.length;

export interface Guess {
  account: Buffer;
  atMs: number;
}

export type TakenGuess = { waitMs: number } | { waitMs: 0; guess: Guess | null };

/** How long an account's next guess has to wait, by when the last ones were. */
export function waitForGuess(guessedAt: readonly number[], nowMs: number): number {
  const recent = guessedAt.filter((at) => at > nowMs - WINDOW_MS);
  if (recent.length < WITHOUT_WAIT) return 0;
  const oldest = recent.at(-MAX_GUESSES);
  const [last = nowMs, waitMs = 0] = [recent.at(-1), WAITS_MS[recent.length - WITHOUT_WAIT]];
  return Math.max(0, oldest === undefined ? last + waitMs - nowMs : oldest + WINDOW_MS - nowMs);
}

/**
 * Counts a guess before it is evaluated, over all instances; `guess` is null at an address where the account is known.
 * What has to wait costs one look and is not counted.
 */
export async function takeGuess(
  db: Queryable,
  options: { account: string; address: string; now: Date },
): Promise<TakenGuess> {
  const nowMs = options.now.getTime();
  const account = createHash('sha256').update(options.account).digest();
  for (;;) {
    const { isKnown, guessedAt } = await readGuesses(db, { ...options, key: account });
    if (isKnown) return { waitMs: 0, guess: null };
    const waitMs = waitForGuess(guessedAt ?? [], nowMs);
    if (waitMs > 0) return { waitMs };
    // Whoever counted meanwhile makes this look again, so that no burst gets past the limit.
    if (await addGuess(db, { account, before: guessedAt, nowMs })) {
      return { waitMs: 0, guess: { account, atMs: nowMs } };
    }
  }
}

/** For one that was right, or not evaluated after all. */
export async function giveBackGuess(db: Queryable, { account, atMs }: Guess): Promise<void> {
  const place = sql`array_position(${passwordGuesses.guessedAt}, ${atMs}::bigint)`;
  await db
    .update(passwordGuesses)
    .set({
      guessedAt: sql`${passwordGuesses.guessedAt}[:${place} - 1] || ${passwordGuesses.guessedAt}[${place} + 1:]`,
    })
    .where(and(eq(passwordGuesses.account, account), sql`${place} is not null`));
}

async function readGuesses(
  db: Queryable,
  options: { account: string; address: string; now: Date; key: Buffer },
): Promise<{ isKnown: boolean; guessedAt: number[] | null }> {
  const [row] = await db
    .select({ isKnown: isKnownAddress(db, options), guessedAt: passwordGuesses.guessedAt })
    .from(sql`(values (1)) as one`)
    .leftJoin(passwordGuesses, eq(passwordGuesses.account, options.key));
  return { isKnown: row?.isKnown ?? false, guessedAt: row?.guessedAt ?? null };
}

/** False when the account's guesses are not those of before any more. */
async function addGuess(
  db: Queryable,
  { account, before, nowMs }: { account: Buffer; before: number[] | null; nowMs: number },
): Promise<boolean> {
  const recent = (before ?? []).filter((at) => at > nowMs - WINDOW_MS);
  const guessedAt = [...recent, nowMs].sort((a, b) => a - b);
  const expiresAt = new Date(Math.max(...guessedAt) + WINDOW_MS);
  if (before === null) {
    await db.delete(passwordGuesses).where(lt(passwordGuesses.expiresAt, new Date(nowMs)));
    const added = await db
      .insert(passwordGuesses)
      .values({ account, guessedAt, expiresAt })
      .onConflictDoNothing()
      .returning({ account: passwordGuesses.account });
    return added.length > 0;
  }
  const changed = await db
    .update(passwordGuesses)
    .set({ guessedAt, expiresAt })
    .where(and(eq(passwordGuesses.account, account), eq(passwordGuesses.guessedAt, before)))
    .returning({ account: passwordGuesses.account });
  return changed.length > 0;
}
