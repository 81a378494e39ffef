import { hostname } from 'node:os';
import { and, asc, desc, eq, gt, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import type { Deps } from '#server/deps.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { auditLog, exchangeCredentials, hooks, instances, users } from '#server/platform/db/schema.ts';
import { eachAlone } from '#server/platform/each-alone.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import { type NoticeEvent, noteEvents } from '#server/platform/notices/note-event.ts';
import { beginState, endState, endStates, findState, listStates, markTold } from './notice-states.store.ts';
import { instantInZone, spanText, topReasons } from './notice-text.ts';

type WatchDeps = Pick<Deps, 'clock' | 'config' | 'db' | 'log'>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** An instance reports itself every second. */
const GONE_SECONDS = 60;
const LEAST_FREE = 0.1;
const KEY_WARNING_DAYS = [1, 3, 14];
/** A refused delivery is looked for until this long after it came. */
const REFUSALS_MS = HOUR_MS;

/** Conditions of the whole installation; one instance at a time looks for them, every half a minute. */
export async function watchInstallation(deps: WatchDeps): Promise<void> {
  await eachAlone(
    [watchBackups, watchInstances, watchRefusals, watchKeys],
    (watch) => watch(deps),
    (err, { name }) => deps.log.warn({ err, watch: name }, 'a condition could not be looked for'),
  );
}

/** Whether a condition that lasts is told now: at its begin, and again each day. */
async function isDue(db: Queryable, key: string, now: Date): Promise<boolean> {
  const state = await findState(db, key);
  return state === null || now.getTime() - state.toldAt.getTime() >= DAY_MS;
}

export async function watchBackups({ db, clock }: WatchDeps): Promise<void> {
  const now = clock.now();
  const [last] = await db
    .select({ at: auditLog.at })
    .from(auditLog)
    .where(eq(auditLog.action, 'backup written'))
    .orderBy(desc(auditLog.at))
    .limit(1);
  const [first] = await db.select({ at: users.createdAt }).from(users).orderBy(asc(users.createdAt)).limit(1);
  const since = last?.at ?? first?.at ?? now;
  const withoutMs = now.getTime() - since.getTime();
  if (withoutMs < DAY_MS) {
    await endState(db, 'backup');
    return;
  }
  if (!(await isDue(db, 'backup', now))) return;
  await tellState(db, {
    key: 'backup',
    now,
    events: [{ code: 'backup_missing', data: { duration: spanText(withoutMs) }, at: now }],
  });
}

/** Events and the memory of them in one transaction: a kill in between tells nothing twice. */
const tellState = (
  db: Queryable,
  { key, now, events }: { key: string; now: Date; events: readonly NoticeEvent[] },
): Promise<void> =>
  db.transaction(async (tx) => {
    await markTold(tx, { key, now });
    await noteEvents(tx, events);
  });

/** Instances that stopped reporting themselves without stopping. */
export async function watchInstances({ db, clock, config, log }: WatchDeps): Promise<void> {
  const now = clock.now();
  const gone = await db
    .select({ id: instances.instanceId, seen: instances.heartbeatAt })
    .from(instances)
    .where(lt(instances.heartbeatAt, sql`database_time() - make_interval(secs => ${GONE_SECONDS})`));
  await eachAlone(
    gone,
    (instance) =>
      db.transaction(async (tx) => {
        if (!(await beginState(tx, { key: `instance:${instance.id}`, now }))) return;
        await noteEvents(tx, [takenOver(instance, { now, config })]);
      }),
    (err, { id }) => log.warn({ err, instance: id }, 'an instance that is gone could not be noted'),
  );
  const told = await listStates(db, 'instance:');
  await endStates(
    db,
    told.map(({ key }) => key).filter((key) => !gone.some(({ id }) => key === `instance:${id}`)),
  );
}

/** For the start of a program that has its database to itself: an instance that is still in the list did not stop. */
export async function tellPredecessors({ db, clock, config }: Omit<WatchDeps, 'log'>): Promise<void> {
  const now = clock.now();
  const left = await db.select({ id: instances.instanceId, seen: instances.heartbeatAt }).from(instances);
  await noteEvents(
    db,
    left.map((instance) => takenOver(instance, { now, config })),
  );
}

const takenOver = (
  { id, seen }: { id: string; seen: Date },
  { now, config }: { now: Date; config: Pick<Deps['config'], 'displayTimezone'> },
): NoticeEvent => ({
  code: 'instance_taken_over',
  data: { instance: id, date: instantInZone(seen, config.displayTimezone) },
  at: now,
});

/** Refused deliveries of each webhook. Those with unknown keys belong to none and are not in the log. */
export async function watchRefusals({ db, clock, config, log }: WatchDeps): Promise<void> {
  const now = clock.now();
  const from = new Date(now.getTime() - REFUSALS_MS);
  const { rows } = await db.execute<{
    hookId: string;
    reason: string | null;
    /** Counts deliveries without lines, so it has no reason. */
    isCount: boolean;
    refused: number;
    last: Date;
  }>(sql`
    select hook_id as "hookId", reason, more_refused is not null as "isCount",
      sum(coalesce(more_refused + more_limited, 1))::int as refused, max(received_at) as last from deliveries
    where id >= ${firstIdOf(from)} and result in ('refused', 'limited') and received_at >= ${from}
    group by hook_id, reason, more_refused is not null order by refused desc`);
  const byHook = Map.groupBy(rows, (row) => row.hookId);
  const tell = async ([hookId, of]: [string, typeof rows]) => {
    const key = `refused:${hookId}`;
    const state = await findState(db, key);
    const last = Math.max(...of.map(({ last: at }) => new Date(at).getTime()));
    // Told at once, then once an hour, and only if more came since.
    if (
      state !== null &&
      (now.getTime() - state.toldAt.getTime() < HOUR_MS || last <= state.toldAt.getTime())
    )
      return;
    const [owner] = await db.select({ userId: hooks.userId }).from(hooks).where(eq(hooks.id, hookId));
    const data = {
      count: of.reduce((sum, { refused }) => sum + refused, 0),
      since: instantInZone(from, config.displayTimezone),
      reasons: topReasons(
        of.flatMap(({ reason, refused, isCount }) =>
          isCount ? [] : Array(Math.min(refused, 1_000)).fill(reason ?? 'over its limit'),
        ),
      ),
    };
    const event = { code: 'webhook_refused', userId: owner?.userId ?? null, data, at: now } as const;
    await tellState(db, { key, now, events: owner === undefined ? [] : [event] });
  };
  await eachAlone(byHook, tell, (err, [hookId]) =>
    log.warn({ err, hookId }, 'the refused deliveries of a webhook could not be noted'),
  );
  const quiet = (await listStates(db, 'refused:')).filter(
    ({ key, toldAt }) =>
      !rows.some(({ hookId }) => key === `refused:${hookId}`) && now.getTime() - toldAt.getTime() >= HOUR_MS,
  );
  await endStates(
    db,
    quiet.map(({ key }) => key),
  );
}

/** Keys that end within 14, 3 and 1 days, each told once. */
export async function watchKeys({ db, clock, config, log }: WatchDeps): Promise<void> {
  const now = clock.now();
  const rows = await db
    .select({
      userId: exchangeCredentials.userId,
      exchange: exchangeCredentials.exchangePlatform,
      expiresAt: exchangeCredentials.keyExpiresAt,
    })
    .from(exchangeCredentials)
    .where(
      and(
        isNotNull(exchangeCredentials.keyExpiresAt),
        gt(exchangeCredentials.keyExpiresAt, now),
        isNull(exchangeCredentials.rejectedAt),
      ),
    );
  const tell = async ({ userId, exchange, expiresAt }: (typeof rows)[number]) => {
    if (expiresAt === null) return;
    const daysLeft = (expiresAt.getTime() - now.getTime()) / DAY_MS;
    const mark = KEY_WARNING_DAYS.find((days) => daysLeft <= days);
    if (mark === undefined) return;
    const key = `key:${userId}:${exchange}:${expiresAt.toISOString()}:${mark}`;
    await db.transaction(async (tx) => {
      if (!(await beginState(tx, { key, now }))) return;
      const days = Math.max(1, Math.ceil(daysLeft));
      const data = {
        exchange,
        days: days === 1 ? '1 day' : `${days} days`,
        date: instantInZone(expiresAt, config.displayTimezone),
      };
      await noteEvents(tx, [{ code: 'key_expires', userId, data, at: now }]);
    });
  };
  await eachAlone(rows, tell, (err, { userId, exchange }) =>
    log.warn({ err, userId, exchange }, 'the end of a key could not be noted'),
  );
}

/** Free space of the disk of the data folder. Every machine looks at its own. */
export async function watchDisk({
  db,
  clock,
  config,
  freeSpace,
  log,
}: WatchDeps & Pick<Deps, 'freeSpace'>): Promise<void> {
  const now = clock.now();
  const free = await freeSpace();
  if (free === null) {
    log.warn('the free space of the disk could not be read');
    return;
  }
  const key = `disk:${hostname()}`;
  if (free >= LEAST_FREE) {
    await endState(db, key);
    return;
  }
  if (!(await isDue(db, key, now))) return;
  const data = { percent: (free * 100).toFixed(1), folder: config.dataDir };
  await tellState(db, { key, now, events: [{ code: 'disk_low', data, at: now }] });
}
