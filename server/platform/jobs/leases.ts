import { type SQL, sql } from 'drizzle-orm';
import { type Clock, systemClock } from '../clock.ts';
import type { Db, Queryable } from '../db/database.ts';
import type { Logger } from '../log.ts';

/**
 * Leases in the database: one holder of a key at a time across all instances, taken over when the holder stops
 * renewing. All times are the database's. A holder that was frozen past its lease finds out at `findHeld`, which runs
 * in every transaction that two workers must not both write (fencing). Versions come from a sequence: none comes back,
 * also after old rows are deleted.
 *
 * The lease is short enough that others continue within 30 s (server/takeover.test.ts adds it up with the polls), and
 * long enough for two failed renewals.
 */
export const LEASE_SECONDS = 20;

export interface Lease {
  key: string;
  holder: string;
  version: number;
}

/** Another worker has the lease: stop without writing anything. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  constructor(key: string) {
    super(`The lease on ${key} was taken over`);
  }
}

const untilNext = sql`database_time() + make_interval(secs => ${LEASE_SECONDS})`;

/** Takes the leases of all keys that nobody holds, in one statement. */
export async function acquireLeases(options: {
  db: Pick<Queryable, 'execute'>;
  keys: readonly string[];
  holder: string;
}): Promise<Lease[]> {
  const { db, keys, holder } = options;
  if (keys.length === 0) return [];
  // In the order of the keys, as everywhere: two statements never wait for each other in a circle.
  const { rows } = await db.execute<{ key: string; version: string }>(sql`
    insert into leases (key, holder, lease_until)
    select key, ${holder}, ${untilNext} from json_array_elements_text(${JSON.stringify(keys)}::json) as wanted (key)
    order by key
    on conflict (key) do update
      set holder = excluded.holder, version = default, lease_until = excluded.lease_until
      where leases.lease_until < database_time()
    returning key, version`);
  return rows.map(({ key, version }) => ({ key, holder, version: Number(version) }));
}

/** The keys that somebody holds at the moment. */
export async function findTaken(
  db: Pick<Queryable, 'execute'>,
  keys: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.execute<{ key: string }>(sql`
    select key from leases join json_array_elements_text(${JSON.stringify(keys)}::json) as asked (key) using (key)
    where lease_until >= database_time()`);
  return new Set(rows.map(({ key }) => key));
}

/** Returns null when another holder has the key. */
export async function acquireLease(options: {
  db: Pick<Queryable, 'execute'>;
  key: string;
  holder: string;
}): Promise<Lease | null> {
  const { key, ...rest } = options;
  return (await acquireLeases({ ...rest, keys: [key] }))[0] ?? null;
}

/** The rows of these leases that are still the holder's. */
const rowsOf = (leases: readonly Lease[]): SQL => sql`
  select leases.key from leases
  join json_to_recordset(${JSON.stringify(leases)}::json) as held (key text, holder text, version bigint)
    using (key, holder, version)
  order by leases.key`;

/**
 * The keys of the leases that are still held. Their rows stay locked until the end of the transaction, so that none of
 * them can be taken over before it commits.
 */
export async function findHeld(
  tx: Pick<Queryable, 'execute'>,
  leases: readonly Lease[],
): Promise<Set<string>> {
  const { rows } = await tx.execute<{ key: string }>(sql`${rowsOf(leases)} for share of leases`);
  return new Set(rows.map(({ key }) => key));
}

/** Checks the lease before other statements of a transaction; throws LeaseLostError when it was taken over. */
export async function assertHeld(tx: Pick<Queryable, 'execute'>, lease: Lease): Promise<void> {
  if (!(await findHeld(tx, [lease])).has(lease.key)) throw new LeaseLostError(lease.key);
}

/** Changes the leases that are still held; a released lease is not held. */
const changeHeld = (leases: readonly Lease[], until: SQL): SQL => sql`
  with held as (${rowsOf(leases)} for no key update of leases)
  update leases set lease_until = ${until} from held where leases.key = held.key and lease_until > '-infinity'`;

/** Frees the leases immediately, by the clock of every transaction that has begun. */
export async function releaseLeases(db: Pick<Queryable, 'execute'>, leases: readonly Lease[]): Promise<void> {
  if (leases.length > 0) await db.execute(changeHeld(leases, sql`'-infinity'`));
}

/** Renews the leases in the list, whichever it holds at the time, until the returned function is called. */
export function keepLeases(options: {
  db: Db;
  clock?: Clock | undefined;
  leases: Iterable<Lease>;
  /** Logs failed renewals. */
  log?: Pick<Logger, 'warn'> | undefined;
}): () => void {
  const { db, clock = systemClock, leases, log } = options;
  return clock.every((LEASE_SECONDS * 1000) / 3, () => {
    const held = [...leases];
    if (held.length === 0) return;
    db.execute(changeHeld(held, untilNext)).catch((error: unknown) =>
      log?.warn({ err: error, keys: held.map(({ key }) => key) }, 'leases could not be renewed'),
    );
  });
}

export interface LeaseOptions {
  db: Db;
  clock?: Clock;
  key: string;
  holder: string;
  /** Logs failed renewals. */
  log?: Pick<Logger, 'warn'>;
}

/**
 * Runs `work` under the lease, renews and releases it; returns `{held: false}` without running it when another holder
 * has it.
 */
export async function withLease<Result>(
  options: LeaseOptions,
  work: (lease: Lease) => Promise<Result>,
): Promise<{ held: true; result: Result } | { held: false }> {
  const { db, clock, log } = options;
  const lease = await acquireLease(options);
  if (lease === null) return { held: false };
  const stop = keepLeases({ db, clock, leases: [lease], log });
  try {
    return { held: true, result: await work(lease) };
  } finally {
    stop();
    // A lease that cannot be released expires.
    await releaseLeases(db, [lease]).catch(() => undefined);
  }
}

const LEASE_POLL_MS = 100;

/** Like `withLease`, but waits up to `patienceMs` for another holder. */
export async function withLeaseWithin<Result>(
  { patienceMs, ...options }: LeaseOptions & { patienceMs: number },
  work: (lease: Lease) => Promise<Result>,
): Promise<{ held: true; result: Result } | { held: false }> {
  const { clock = systemClock } = options;
  const deadline = clock.monotonicMs() + patienceMs;
  for (;;) {
    const leased = await withLease(options, work);
    if (leased.held || clock.monotonicMs() >= deadline) return leased;
    await clock.sleep(LEASE_POLL_MS);
  }
}

/**
 * Releases every lease of an instance. The new version keeps a hanging worker from writing (`assertHeld`), and others
 * may take up its work immediately. A holder is the instance's name, optionally followed by a blank and more.
 */
export async function handOverLeases(db: Db, holder: string): Promise<void> {
  await db.execute(sql`
    update leases set lease_until = '-infinity', version = default
    where lease_until > database_time() and (holder = ${holder} or starts_with(holder, ${`${holder} `}))`);
}

/** For the start of a program that has its database to itself: frees the leases of a dead predecessor. */
export async function releaseAllLeases(db: Db): Promise<void> {
  await db.execute(sql`update leases set lease_until = '-infinity' where lease_until > database_time()`);
}

const BATCH = 1_000;

/** Deletes leases that ended a day ago and returns their number. Versions come from a sequence and never repeat. */
export async function deleteOldLeases(db: Pick<Queryable, 'execute'>): Promise<number> {
  for (let deleted = 0; ; ) {
    const { rowCount } = await db.execute(sql`
      delete from leases where key in (
        select key from leases where lease_until < database_time() - interval '1 day'
        limit ${BATCH} for update skip locked)`);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return deleted;
  }
}
