import { type Placeholder, type SQL, sql } from 'drizzle-orm';
import { writtenOnce } from '../db/built-once.ts';
import type { Db, Queryable, Tx } from '../db/database.ts';
import { onOneConnection, withCommit } from '../db/drizzle-over.ts';

/**
 * Leases in the database: one holder of a key at a time across all instances, taken over when the holder stops
 * renewing. All times are the database's, so that clocks of machines do not matter. A holder that was frozen past
 * its lease finds out at `assertHeld`, which every transaction runs that must not be written by two (fencing).
 *
 * With the polls behind it this is less than the 30 s within which others go on with what a frozen instance was doing
 * (server/takeover.test.ts adds them up), and long enough for a holder whose renewals fail twice.
 */
export const LEASE_SECONDS = 20;

export interface Lease {
  key: string;
  holder: string;
  version: number;
}

/** The lease went to somebody else: stop without writing anything. */
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

/** Null when somebody else holds the key. */
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
 * `held`, for a statement that starts with it: one row while the lease is held, none when it went to somebody else. The
 * row is held until the end of the transaction, so that nobody can take the lease over before that commits.
 */
export const heldLease = (
  lease: { [Field in keyof Lease]: Lease[Field] | Placeholder },
): SQL => sql`held as materialized (
  select 1 from leases
  where key = ${lease.key} and holder = ${lease.holder} and version = ${lease.version}
  for share
)`;

/** A lease as the values of a statement that is built once. */
export type LeaseValues = { [Field in keyof Lease]: Lease[Field] };
export const leaseOf = (value: (name: keyof LeaseValues) => Placeholder) => ({
  key: value('key'),
  holder: value('holder'),
  version: value('version'),
});

const readHeld = writtenOnce<LeaseValues>()(
  (value) => sql`with ${heldLease(leaseOf(value))} select from held`,
);

/** The same before several statements of a transaction; LeaseLostError when it went to somebody else. */
export async function assertHeld(tx: Queryable, lease: Lease): Promise<void> {
  const { rows } = await readHeld(tx, { ...lease });
  if (rows.length === 0) throw new LeaseLostError(lease.key);
}

/** One that was given back meanwhile stays so. */
async function renewLease(db: Db, lease: Lease): Promise<void> {
  await db.execute(sql`
    update leases set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where key = ${lease.key} and holder = ${lease.holder} and version = ${lease.version}
      and lease_until > '-infinity'`);
}

/** Free at once, by the clock of every transaction that has begun. */
const release = writtenOnce<LeaseValues>()(
  (value) => sql`
    update leases set lease_until = '-infinity'
    where key = ${value('key')} and holder = ${value('holder')} and version = ${value('version')}`,
);

/** Runs `work` under the lease, renewing it; answers `{held: false}` without running it when somebody else has it. */
export const withLease = <Result>(
  options: { db: Db; key: string; holder: string },
  work: (lease: Lease) => Promise<Result>,
): Promise<{ held: true; result: Result } | { held: false }> =>
  withLeaseAndRead({ ...options, read: async () => undefined }, work);

/**
 * The same for work that starts from what the database says: that is read right behind the lease, on its connection and
 * together with it. Whoever held the lease before can write nothing after that. Where somebody else has it now, what was
 * read is answered all the same.
 */
export async function withLeaseAndRead<Read, Result>(
  options: { db: Db; key: string; holder: string; read: (connection: Queryable) => Promise<Read> },
  work: (lease: Lease, read: Read) => Promise<Result>,
): Promise<{ held: true; result: Result } | { held: false; read: Read }> {
  const { db, read } = options;
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
    () => void renewLease(db, lease).catch(() => undefined),
    (LEASE_SECONDS * 1000) / 3,
  );
  try {
    return { held: true, result: await work(lease, found) };
  } finally {
    clearInterval(renewal);
    if (!givenBack.has(lease)) await giveBack(db, lease);
  }
}

const givenBack = new WeakSet<Lease>();

/**
 * Runs the transaction that is the last thing done under a lease, which is given back with it: that costs neither a
 * commit of its own nor a way to the database. `work` says whether it was.
 */
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
  if (isLast) givenBack.add(lease);
  return result;
}

/** A lease that cannot be given back runs out by itself. */
const giveBack = (db: Queryable, lease: Lease): Promise<unknown> =>
  release(db, { ...lease }).catch(() => undefined);

/**
 * Gives back every lease of an instance, whatever still works under it: with the new version a worker that hangs can
 * write nothing more (`assertHeld`), and somebody else may take its work up at once. Keys of a holder's several works
 * follow its name after a blank.
 */
export async function handOverLeases(db: Db, holder: string): Promise<void> {
  await db.execute(sql`
    update leases set lease_until = '-infinity', version = default
    where lease_until > now() and (holder = ${holder} or starts_with(holder, ${`${holder} `}))`);
}

/** At the start of a program that has its database to itself: whatever a dead predecessor held is free. */
export async function releaseAllLeases(db: Db): Promise<void> {
  await db.execute(sql`update leases set lease_until = '-infinity' where lease_until > now()`);
}

const BATCH = 1_000;

/**
 * Deletes leases that were given back, or ran out a day ago; answers how many. Versions come from a sequence, so a key
 * that is taken again never gets one that it had.
 */
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
