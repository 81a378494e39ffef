import { setTimeout as sleep } from 'node:timers/promises';
import { type Placeholder, type SQL, sql } from 'drizzle-orm';
import { writtenOnce } from '../db/built-once.ts';
import type { Db, Queryable, Tx } from '../db/database.ts';
import { onOneConnection, withCommit } from '../db/drizzle-over.ts';
import type { Logger } from '../log.ts';

/**
 * Leases in the database: one holder of a key at a time across all instances, taken over when the holder stops
 * renewing. All times are the database's. A holder that was frozen past its lease finds out at `assertHeld`, which runs
 * in every transaction that two workers must not both write (fencing).
 *
 * The lease is short enough that others continue within 30 s (server/takeover.test.ts adds it up with the polls), and
 * long enough for two failed renewals.
 */
export const LEASE_SECONDS = 20;

/** A lease as the values of a statement that is built once. */
export type LeaseValues = { key: string; holder: string; version: number };

export type Lease = LeaseValues & {
  /** The last transaction under the lease has given it back. */
  isGivenBack?: boolean;
};

/** Another worker has the lease: stop without writing anything. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  constructor(key: string) {
    super(`The lease on ${key} was taken over`);
  }
}

const acquire = writtenOnce<{ key: string; holder: string }>()<{ version: string }>(
  (value) => sql`
    insert into leases (key, holder, lease_until)
    values (${value('key')}, ${value('holder')}, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (key) do update
      set holder = excluded.holder, version = default, lease_until = excluded.lease_until
      where leases.lease_until < now()
    returning version`,
);

/** Returns null when another holder has the key. */
export async function acquireLease(options: {
  db: Queryable;
  key: string;
  holder: string;
}): Promise<Lease | null> {
  const { db, key, holder } = options;
  const [row] = (await acquire(db, { key, holder })).rows;
  return row === undefined ? null : { key, holder, version: Number(row.version) };
}

/**
 * `held`, for a statement that starts with it: one row while the lease is held, none after a takeover. The row stays
 * locked until the end of the transaction, so that the lease cannot be taken over before it commits.
 */
export const heldLease = (
  lease: { [Field in keyof LeaseValues]: LeaseValues[Field] | Placeholder },
): SQL => sql`held as materialized (
  select 1 from leases
  where key = ${lease.key} and holder = ${lease.holder} and version = ${lease.version}
  for share
)`;

export const leaseOf = (value: (name: keyof LeaseValues) => Placeholder) => ({
  key: value('key'),
  holder: value('holder'),
  version: value('version'),
});

const readHeld = writtenOnce<LeaseValues>()(
  (value) => sql`with ${heldLease(leaseOf(value))} select from held`,
);

/** Checks the lease before several statements of a transaction; throws LeaseLostError when it was taken over. */
export async function assertHeld(tx: Queryable, lease: Lease): Promise<void> {
  const { rows } = await readHeld(tx, { ...lease });
  if (rows.length === 0) throw new LeaseLostError(lease.key);
}

/** Does not renew a lease that was given back in between. */
async function renewLease(db: Db, lease: Lease): Promise<void> {
  await db.execute(sql`
    update leases set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where key = ${lease.key} and holder = ${lease.holder} and version = ${lease.version}
      and lease_until > '-infinity'`);
}

/** Frees the lease immediately, by the clock of every transaction that has begun. */
const release = writtenOnce<LeaseValues>()(
  (value) => sql`
    update leases set lease_until = '-infinity'
    where key = ${value('key')} and holder = ${value('holder')} and version = ${value('version')}`,
);

/** Runs `work` under the lease and renews it; returns `{held: false}` without running it when another holder has it. */
export const withLease = <Result>(
  options: LeaseOptions,
  work: (lease: Lease) => Promise<Result>,
): Promise<{ held: true; result: Result } | { held: false }> =>
  withLeaseAndRead({ ...options, read: async () => undefined }, work);

const LEASE_POLL_MS = 100;

/** Like `withLease`, but waits up to `patienceMs` for another holder. */
export async function withLeaseWithin<Result>(
  { patienceMs, ...options }: LeaseOptions & { patienceMs: number },
  work: (lease: Lease) => Promise<Result>,
): Promise<{ held: true; result: Result } | { held: false }> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const leased = await withLease(options, work);
    if (leased.held || performance.now() >= deadline) return leased;
    await sleep(LEASE_POLL_MS);
  }
}

export interface LeaseOptions {
  db: Db;
  key: string;
  holder: string;
  /** Logs failed renewals. */
  log?: Pick<Logger, 'warn'>;
}

/**
 * Runs `work` under the lease, with the data that `read` reads right after the lease is taken, in the same round trip:
 * the former holder can write nothing after that. Returns the data even when another holder has the lease.
 */
export async function withLeaseAndRead<Read, Result>(
  options: LeaseOptions & { read: (connection: Queryable) => Promise<Read> },
  work: (lease: Lease, read: Read) => Promise<Result>,
): Promise<{ held: true; result: Result } | { held: false; read: Read }> {
  const { db, read, log } = options;
  const [lease, found] = await onOneConnection(db, async (connection) => {
    const [own, behind] = await Promise.allSettled([
      acquireLease({ ...options, db: connection }),
      read(connection),
    ]);
    if (own.status === 'rejected') throw own.reason;
    if (behind.status === 'fulfilled') return [own.value, behind.value] as const;
    if (own.value !== null) await giveBack(connection, own.value);
    throw behind.reason;
  });
  if (lease === null) return { held: false, read: found };
  const renewal = setInterval(
    () =>
      void renewLease(db, lease).catch((error: unknown) =>
        log?.warn({ err: error, key: lease.key }, 'a lease could not be renewed'),
      ),
    (LEASE_SECONDS * 1000) / 3,
  );
  try {
    return { held: true, result: await work(lease, found) };
  } finally {
    clearInterval(renewal);
    if (lease.isGivenBack !== true) await giveBack(db, lease);
  }
}

/** Gives the lease back with a transaction's COMMIT, saving a round trip, when `work` says that it is the last. */
export async function withLastTransaction<Result>(
  db: Db,
  lease: Lease,
  work: (tx: Tx) => Promise<{ isLast: boolean; result: Result }>,
): Promise<Result> {
  const { isLast, result } = await db.transaction(async (tx) => {
    const done = await work(tx);
    if (done.isLast) withCommit(tx, release(tx, { ...lease }));
    return done;
  });
  if (isLast) lease.isGivenBack = true;
  return result;
}

/** A lease that cannot be given back expires. */
const giveBack = (db: Queryable, lease: Lease): Promise<unknown> =>
  release(db, { ...lease }).catch(() => undefined);

/**
 * Gives back every lease of an instance. The new version keeps a hanging worker from writing (`assertHeld`), and others
 * may take up its work immediately. A holder is the instance's name, optionally followed by a blank and more.
 */
export async function handOverLeases(db: Db, holder: string): Promise<void> {
  await db.execute(sql`
    update leases set lease_until = '-infinity', version = default
    where lease_until > now() and (holder = ${holder} or starts_with(holder, ${`${holder} `}))`);
}

/** For the start of a program that has its database to itself: frees the leases of a dead predecessor. */
export async function releaseAllLeases(db: Db): Promise<void> {
  await db.execute(sql`update leases set lease_until = '-infinity' where lease_until > now()`);
}

const BATCH = 1_000;

/** Deletes leases that ended a day ago and returns their number. Versions come from a sequence and never repeat. */
export async function deleteOldLeases(db: Pick<Queryable, 'execute'>): Promise<number> {
  for (let deleted = 0; ; ) {
    const { rowCount } = await db.execute(sql`
      delete from leases where key in (
        select key from leases where lease_until < now() - interval '1 day'
        limit ${BATCH} for update skip locked)`);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return deleted;
  }
}
