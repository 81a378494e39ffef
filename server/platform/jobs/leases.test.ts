import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import type { Db } from '../db/database.ts';
import {
  acquireLease,
  acquireLeases,
  assertHeld,
  deleteOldLeases,
  findHeld,
  handOverLeases,
  keepLeases,
  LEASE_SECONDS,
  type Lease,
  LeaseLostError,
  releaseAllLeases,
  releaseLeases,
  withLease,
} from './leases.ts';

let own: TestDatabase;
let db: Db;
let key: string;
let keys = 0;

beforeAll(async () => {
  own = await createTestDatabase();
  db = own.database.db;
});
beforeEach(() => {
  keys += 1;
  key = `key ${keys}`;
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => own.close());

const acquire = (holder: string) => acquireLease({ db, key, holder });

async function acquired(holder: string): Promise<Lease> {
  const lease = await acquire(holder);
  if (lease === null) throw new Error(`${holder} did not get the lease`);
  return lease;
}

/** Moves the database's time, the only one that counts. */
const expire = () => own.passTime(LEASE_SECONDS * 1_000 + 1);

/** Leaves about a second of a lease that was taken or renewed a moment ago. */
const almostExpire = () => own.passTime((LEASE_SECONDS - 1) * 1_000);

async function secondsLeft(): Promise<number> {
  const { rows } = await db.execute<{ left: number }>(
    sql`select extract(epoch from lease_until - database_time())::float8 as left from leases where key = ${key}`,
  );
  return rows[0]?.left ?? Number.NaN;
}

const untilBlocked = () =>
  vi.waitFor(async () => {
    const { rows } = await db.execute(
      sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    expect(rows).toHaveLength(1);
  });

describe('acquiring', () => {
  test('gives a key to one holder, and not twice to the same holder', async () => {
    expect(await acquire('first')).toEqual({ key, holder: 'first', version: expect.any(Number) });
    expect(await acquire('second')).toBeNull();
    expect(await acquire('first')).toBeNull();
  });

  test.each(['a free key', 'an expired lease'])('gives %s to one of fifty parallel callers', async (what) => {
    if (what === 'an expired lease') {
      await acquired('first');
      await expire();
    }
    const leases = await Promise.all(Array.from({ length: 50 }, (_, index) => acquire(`holder ${index}`)));
    expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
  });

  test('does not block different keys', async () => {
    await acquired('first');
    expect(await acquireLease({ db, key: `${key} other`, holder: 'second' })).not.toBeNull();
  });

  test('takes over a lease when its twenty seconds have passed, with a higher version', async () => {
    const first = await acquired('first');
    expect(await secondsLeft()).toBeGreaterThan(15);
    expect(await secondsLeft()).toBeLessThanOrEqual(20);
    await expire();
    expect((await acquired('second')).version).toBeGreaterThan(first.version);
    expect(await acquire('first')).toBeNull();
  });
});

describe('fencing', () => {
  test('lets only the successor write after a takeover', async () => {
    const first = await acquired('first');
    await expire();
    const second = await acquired('second');
    await expect(db.transaction((tx) => assertHeld(tx, first))).rejects.toThrow(new LeaseLostError(key));
    await db.transaction((tx) => assertHeld(tx, second));
  });

  test('refuses an earlier lease of the same holder', async () => {
    const earlier = await acquired('same');
    await expire();
    await acquired('same');
    await expect(db.transaction((tx) => assertHeld(tx, earlier))).rejects.toThrow(LeaseLostError);
  });

  test('blocks a takeover while a transaction of the holder is in progress', async () => {
    const first = await acquired('first');
    const finish = Promise.withResolvers<void>();
    const order: string[] = [];
    const checked = Promise.withResolvers<void>();
    const writing = db.transaction(async (tx) => {
      await assertHeld(tx, first);
      checked.resolve();
      await finish.promise;
      order.push('written');
    });
    await checked.promise;
    // The row is locked: a takeover has to wait, though the lease has ended.
    const takeover = (async () => {
      await expire();
      const lease = await acquire('second');
      order.push('taken over');
      return lease;
    })();
    await untilBlocked();
    finish.resolve();
    await writing;
    expect(await takeover).toMatchObject({ holder: 'second' });
    expect(order).toEqual(['written', 'taken over']);
  });
});

describe('work under a lease', () => {
  test('returns its result, and gives the key back for the next holder', async () => {
    for (const result of ['one', 'two', 'three']) {
      expect(await withLease({ db, key, holder: 'worker' }, async () => result)).toEqual({
        held: true,
        result,
      });
    }
  });

  test('does not run while another holder has the key', async () => {
    await acquired('other');
    const work = vi.fn(async () => {});
    expect(await withLease({ db, key, holder: 'worker' }, work)).toEqual({ held: false });
    expect(work).not.toHaveBeenCalled();
    // It did not give back a lease that was not its own.
    expect(await acquire('third')).toBeNull();
  });

  test('gives the key back when it fails', async () => {
    const failing = withLease({ db, key, holder: 'worker' }, async () => {
      throw new RangeError('failed');
    });
    await expect(failing).rejects.toThrow(new RangeError('failed'));
    expect(await acquire('next')).not.toBeNull();
  });

  test('does not release the lease of a successor when it ends late', async () => {
    await withLease({ db, key, holder: 'slow' }, async () => {
      await expire();
      await acquired('successor');
    });
    expect(await acquire('third')).toBeNull();
  });

  test('renews its lease three times in its span while it runs, and not afterwards', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await withLease({ db, key, holder: 'worker' }, async () => {
      await almostExpire();
      vi.advanceTimersByTime(6_665);
      expect(await secondsLeft()).toBeLessThanOrEqual(1);
      vi.advanceTimersByTime(1);
      await vi.waitFor(async () => expect(await secondsLeft()).toBeGreaterThan(15));
    });
    expect(vi.getTimerCount()).toBe(0);
    expect(await acquire('next')).not.toBeNull();
  });

  test('logs a renewal that fails, and continues', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const log = { warn: vi.fn() };
    const failing = Object.create(db) as Db;
    let isAway = false;
    failing.execute = (...statement) =>
      isAway ? (Promise.reject(new Error('away')) as never) : db.execute(...statement);
    await withLease({ db: failing, key, holder: 'worker', log }, async () => {
      isAway = true;
      vi.advanceTimersByTime(6_666);
      await vi.waitFor(() => expect(log.warn).toHaveBeenCalledOnce());
      isAway = false;
    });
    expect(log.warn).toHaveBeenCalledWith(
      { err: new Error('away'), keys: [key] },
      'leases could not be renewed',
    );
    expect(await acquire('next')).not.toBeNull();
  });

  test('does not renew a lease that was taken over', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await withLease({ db, key, holder: 'slow' }, async (lease) => {
      await expire();
      await acquired('successor');
      await almostExpire();
      vi.advanceTimersByTime(10_000);
      // Queues behind the renewal on the row, if the renewal (one statement over the same pool) locks it.
      await db.execute(sql`select 1 from leases where key = ${key} for update`);
      expect(await secondsLeft()).toBeLessThanOrEqual(1);
      await expect(assertHeld(db, lease)).rejects.toThrow(LeaseLostError);
    });
  });
});

describe('several leases at once', () => {
  const keysOfWave = () => ['a', 'b', 'c'].map((letter) => `${key} ${letter}`);

  test('takes those that nobody holds, in one statement', async () => {
    const [, second = ''] = keysOfWave();
    await acquireLease({ db, key: second, holder: 'other' });
    const taken = await acquireLeases({ db, keys: keysOfWave(), holder: 'wave' });
    expect(taken.map((lease) => lease.key)).toEqual(keysOfWave().filter((one) => one !== second));
    expect(new Set(taken.map(({ version }) => version)).size).toBe(2);
    expect(await acquireLeases({ db, keys: [], holder: 'wave' })).toEqual([]);
  });

  test('knows which of them are still held', async () => {
    const taken = await acquireLeases({ db, keys: keysOfWave(), holder: 'wave' });
    const [lost] = taken;
    if (lost === undefined) throw new Error('not taken');
    await releaseLeases(db, [lost]);
    await acquireLease({ db, key: lost.key, holder: 'successor' });
    const held = await db.transaction((tx) => findHeld(tx, taken));
    expect([...held].toSorted()).toEqual(keysOfWave().slice(1));
  });

  test('renews those in the list at the time, and no released ones', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const taken = await acquireLeases({ db, keys: keysOfWave(), holder: 'wave' });
    const [first, second, third] = taken;
    if (first === undefined || second === undefined || third === undefined) throw new Error('not taken');
    const kept = new Set(taken);
    const stop = keepLeases({ db, leases: kept });
    kept.delete(first);
    await releaseLeases(db, [second]);
    await almostExpire();
    vi.advanceTimersByTime(10_000);
    const renewed = async () => {
      const { rows } = await db.execute<{ key: string }>(
        sql`select key from leases where starts_with(key, ${`${key} `}) and lease_until > database_time() + interval '10 s'`,
      );
      return rows.map((row) => row.key);
    };
    for (let tries = 0; tries < 200 && (await renewed()).length === 0; tries += 1);
    expect(await renewed()).toEqual([third.key]);
    stop();
  });
});

test.each<[string, (lease: Lease) => Promise<unknown>]>([
  ['was released by the work', (lease) => releaseLeases(db, [lease])],
  ['was handed over with the instance', () => handOverLeases(db, 'worker')],
])('does not renew a lease that %s', async (_, end) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  await withLease({ db, key, holder: 'worker' }, async (lease) => {
    await end(lease);
    vi.advanceTimersByTime(10_000);
    // Queues behind the renewal on the row, if the renewal locks it.
    await db.execute(sql`select 1 from leases where key = ${key} for update`);
    expect(await acquire('next')).not.toBeNull();
  });
});

test('frees the leases of a dead predecessor, and outranks it', async () => {
  const dead = await acquired('dead');
  await releaseAllLeases(db);
  expect((await acquired('living')).version).toBeGreaterThan(dead.version);
  await expect(db.transaction((tx) => assertHeld(tx, dead))).rejects.toThrow(LeaseLostError);
});

test('frees all leases of an instance that hands over, and no others', async () => {
  const own = await acquired('one');
  const ownWork = await acquireLease({ db, key: `${key} work`, holder: 'one a-workflow' });
  const others = await acquireLease({ db, key: `${key} other`, holder: 'one-and-a-half' });
  if (ownWork === null || others === null) throw new Error('the keys are new');
  await handOverLeases(db, 'one');
  for (const lease of [own, ownWork]) {
    await expect(db.transaction((tx) => assertHeld(tx, lease))).rejects.toThrow(LeaseLostError);
    expect(await acquireLease({ db, key: lease.key, holder: 'next' })).not.toBeNull();
  }
  await db.transaction((tx) => assertHeld(tx, others));
});

const HOUR_MS = 3_600_000;

describe('deleting old leases', () => {
  const isThere = async () =>
    (await db.execute(sql`select 1 from leases where key = ${key}`)).rows.length === 1;
  const deleteOld = () => deleteOldLeases(db);

  test('deletes leases that were given back or ran out a day ago, and no others', async () => {
    await acquired('holding');
    await deleteOld();
    expect(await isThere()).toBe(true);
    await own.passTime(23 * HOUR_MS);
    await deleteOld();
    expect(await isThere()).toBe(true);
    await own.passTime(2 * HOUR_MS);
    await deleteOld();
    expect(await isThere()).toBe(false);
    await withLease({ db, key, holder: 'worker' }, async () => {});
    await deleteOld();
    expect(await isThere()).toBe(false);
  });

  test('keeps a holder that was frozen for days from writing under its old lease', async () => {
    const frozen = await acquired('same');
    await own.passTime(48 * HOUR_MS);
    await deleteOld();
    await expect(db.transaction((tx) => assertHeld(tx, frozen))).rejects.toThrow(LeaseLostError);
    expect((await acquired('same')).version).toBeGreaterThan(frozen.version);
    await expect(db.transaction((tx) => assertHeld(tx, frozen))).rejects.toThrow(LeaseLostError);
  });

  test('keeps a row that a transaction has locked', async () => {
    const lease = await acquired('slow');
    await own.passTime(48 * HOUR_MS);
    await db.transaction(async (tx) => {
      await assertHeld(tx, lease);
      await deleteOld();
    });
    expect(await isThere()).toBe(true);
  });

  test('deletes more than one batch', async () => {
    await db.execute(sql`
      insert into leases (key, holder, lease_until)
      select 'old ' || number, 'gone', '-infinity' from generate_series(1, 2500) as number`);
    expect(await deleteOld()).toBeGreaterThanOrEqual(2500);
    expect(await deleteOld()).toBe(0);
  });
});
