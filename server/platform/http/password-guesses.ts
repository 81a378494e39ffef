import { createHash } from 'node:crypto';
import { and, desc, eq, inArray, lt, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { Queryable } from '../db/database.ts';
import { knownAddresses, passwordGuesses, users } from '../db/schema.ts';
import { addressGroup } from './source-address.ts';

const WINDOW_MS = 15 * 60_000;
/** More guesses than one address may fail, so that a single attacker does not make others wait. */
const WITHOUT_WAIT = 11;
/** The wait after each further guess. */
const WAITS_MS = [15_000, 30_000, 60_000, 120_000];
const MAX_GUESSES = WITHOUT_WAIT + WAITS_MS.length;

interface Guess {
  account: Buffer;
  atMs: number;
}

type TakenGuess = { waitMs: number } | { waitMs: 0; guess: Guess | null };

/** How long the account's next guess has to wait after the recent ones. */
function waitForGuess(guessedAt: readonly number[], nowMs: number): number {
  const recent = guessedAt.filter((at) => at > nowMs - WINDOW_MS);
  if (recent.length < WITHOUT_WAIT) return 0;
  const oldest = recent.at(-MAX_GUESSES);
  const [last = nowMs, waitMs = 0] = [recent.at(-1), WAITS_MS[recent.length - WITHOUT_WAIT]];
  return Math.max(0, oldest === undefined ? last + waitMs - nowMs : oldest + WINDOW_MS - nowMs);
}

/**
 * Counts a guess across all instances before it is evaluated; a guess that has to wait is not counted. `guess` is null
 * at an address where the account is known.
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
    // Looks again when another guess was counted in between, so that no burst gets past the limit.
    if (await addGuess(db, { account, before: guessedAt, nowMs })) {
      return { waitMs: 0, guess: { account, atMs: nowMs } };
    }
  }
}

/** For a guess that was right, or was not evaluated. */
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

/** False when the account's guesses have changed since `before`. */
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

const KNOWN_FOR_MS = 30 * 24 * 60 * 60 * 1000;
const MAX_PER_USER = 20;

/** Remembers an address, where guesses then do not count for the account. Call only after a right password. */
export async function rememberAddress(
  db: Queryable,
  options: { userId: string; address: string; now: Date },
): Promise<void> {
  const { userId, now } = options;
  const address = addressGroup(options.address);
  await db
    .insert(knownAddresses)
    .values({ userId, address, lastUsedAt: now })
    .onConflictDoUpdate({
      target: [knownAddresses.userId, knownAddresses.address],
      set: { lastUsedAt: sql`greatest(${knownAddresses.lastUsedAt}, excluded.last_used_at)` },
    });
  const newest = db
    .select({ address: knownAddresses.address })
    .from(knownAddresses)
    .where(eq(knownAddresses.userId, userId))
    .orderBy(desc(knownAddresses.lastUsedAt), knownAddresses.address)
    .limit(MAX_PER_USER);
  await db
    .delete(knownAddresses)
    .where(
      and(
        eq(knownAddresses.userId, userId),
        or(lt(knownAddresses.lastUsedAt, since(now)), notInArray(knownAddresses.address, newest)),
      ),
    );
}

/** Whether the user of a name, in its compared form, is known at an address; used in another statement. */
function isKnownAddress(
  db: Queryable,
  { account, address, now }: { account: string; address: string; now: Date },
): SQL<boolean> {
  const user = db.select({ id: users.id }).from(users).where(eq(users.usernameKey, account));
  const known = db
    .select({ one: sql`1` })
    .from(knownAddresses)
    .where(
      and(
        inArray(knownAddresses.userId, user),
        eq(knownAddresses.address, address),
        sql`${knownAddresses.lastUsedAt} > ${since(now)}`,
      ),
    );
  return sql<boolean>`exists ${known}`;
}

const since = (now: Date) => new Date(now.getTime() - KNOWN_FOR_MS);
