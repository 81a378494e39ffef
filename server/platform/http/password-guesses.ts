import { createHash, createHmac } from 'node:crypto';
import { and, desc, eq, gt, inArray, lt, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { Queryable } from '../db/database.ts';
import { knownAddresses, passwordGuesses, users } from '../db/schema.ts';
import { addressGroup } from './source-address.ts';

const MINUTE_MS = 60_000;

interface GuessRule {
  windowMs: number;
  withoutWait: number;
  /** The wait after each further guess; after the last one, the oldest guess must leave the window. */
  waitsMs: readonly number[];
}

const PASSWORD_RULE: GuessRule = {
  windowMs: 15 * MINUTE_MS,
  // More guesses than one address may fail, so that a single attacker does not make others wait.
  withoutWait: 11,
  waitsMs: [15_000, 30_000, 60_000, 120_000],
};

/** A code has a million values, and its guesser knows the password already. */
const FACTOR_RULE: GuessRule = {
  windowMs: 12 * 60 * MINUTE_MS,
  withoutWait: 5,
  waitsMs: [1, 2, 4, 8, 16, 32, 64].map((minutes) => minutes * MINUTE_MS),
};

interface Guess {
  /** SHA-256 of what the guesses are counted for. */
  account: Buffer;
  atMs: number;
}

type TakenGuess = { waitMs: number } | { waitMs: 0; guess: Guess | null };

/** How long the account's next guess has to wait after the recent ones. */
function waitForGuess(rule: GuessRule, guessedAt: readonly number[], nowMs: number): number {
  const { windowMs, withoutWait, waitsMs } = rule;
  const recent = guessedAt.filter((at) => at > nowMs - windowMs);
  if (recent.length < withoutWait) return 0;
  const oldest = recent.at(-(withoutWait + waitsMs.length));
  const [last = nowMs, waitMs = 0] = [recent.at(-1), waitsMs[recent.length - withoutWait]];
  return Math.max(0, oldest === undefined ? last + waitMs - nowMs : oldest + windowMs - nowMs);
}

/**
 * Counts a guess across all instances before it is evaluated; a guess that has to wait is not counted. `guess` is null
 * at an address where the account is known.
 */
export async function takeGuess(
  db: Queryable,
  options: { account: string; address: string; now: Date },
): Promise<TakenGuess> {
  const account = createHash('sha256').update(options.account).digest();
  for (;;) {
    const { isKnown, guessedAt } = await readGuesses(db, { ...options, key: account });
    if (isKnown) return { waitMs: 0, guess: null };
    const taken = await takeNext(db, { rule: PASSWORD_RULE, account, before: guessedAt, now: options.now });
    if (taken !== null) return taken;
  }
}

/**
 * The same for codes of a second factor. They are counted apart from passwords; each known address has a count of its
 * own, so that somebody who knows the password cannot keep the owner out there.
 */
export async function takeFactorGuess(
  db: Queryable,
  options: { account: string; address: string; now: Date },
): Promise<{ waitMs: number } | { waitMs: 0; guess: Guess }> {
  const at = addressGroup(options.address);
  const [one] = await db
    .select({ isKnown: isKnownAddress(db, { ...options, address: at }) })
    .from(sql`(values (1)) as one`);
  // Keyed, so that no typed username gives the same.
  const account = createHmac('sha256', 'second factor')
    .update(`${one?.isKnown ? at : 'elsewhere'}\n${options.account}`)
    .digest();
  for (;;) {
    const [row] = await db
      .select({ guessedAt: passwordGuesses.guessedAt })
      .from(passwordGuesses)
      .where(eq(passwordGuesses.account, account));
    const before = row?.guessedAt ?? null;
    const taken = await takeNext(db, { rule: FACTOR_RULE, account, before, now: options.now });
    if (taken !== null) return taken;
  }
}

/** Null when another guess was counted in between: the caller looks again, so that no burst gets past the limit. */
async function takeNext(
  db: Queryable,
  options: { rule: GuessRule; account: Buffer; before: number[] | null; now: Date },
): Promise<{ waitMs: number } | { waitMs: 0; guess: Guess } | null> {
  const { rule, account, before } = options;
  const nowMs = options.now.getTime();
  const waitMs = waitForGuess(rule, before ?? [], nowMs);
  if (waitMs > 0) return { waitMs };
  const isAdded = await addGuess(db, { account, before, nowMs, windowMs: rule.windowMs });
  return isAdded ? { waitMs: 0, guess: { account, atMs: nowMs } } : null;
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

/** Forgets the guesses of a count, after a right one. */
export async function forgetGuesses(db: Queryable, { account }: Guess): Promise<void> {
  await db.delete(passwordGuesses).where(eq(passwordGuesses.account, account));
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
  options: { account: Buffer; before: number[] | null; nowMs: number; windowMs: number },
): Promise<boolean> {
  const { account, before, nowMs, windowMs } = options;
  const recent = (before ?? []).filter((at) => at > nowMs - windowMs);
  const guessedAt = [...recent, nowMs].sort((a, b) => a - b);
  const expiresAt = new Date(Math.max(...guessedAt) + windowMs);
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

/**
 * Whether the user recently gave the right password at an address. Ask before `rememberAddress`: a sign-in from an
 * address that is not known is worth a notice.
 */
export async function wasAddressKnown(
  db: Queryable,
  options: { userId: string; address: string; now: Date },
): Promise<boolean> {
  const known = await db
    .select({ address: knownAddresses.address })
    .from(knownAddresses)
    .where(
      and(
        eq(knownAddresses.userId, options.userId),
        eq(knownAddresses.address, addressGroup(options.address)),
        gt(knownAddresses.lastUsedAt, since(options.now)),
      ),
    );
  return known.length > 0;
}

/** Whether a sign-in at an address is worth a notice: not the first one, and not where the user is known. */
export async function isNewAddress(
  db: Queryable,
  options: { userId: string; address: string; now: Date },
): Promise<boolean> {
  const { userId, now } = options;
  const address = addressGroup(options.address);
  const used = await db.select().from(knownAddresses).where(eq(knownAddresses.userId, userId));
  return used.length > 0 && !used.some((one) => one.address === address && one.lastUsedAt > since(now));
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
