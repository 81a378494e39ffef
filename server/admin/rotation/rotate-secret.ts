import { eq, sql } from 'drizzle-orm';
import { createAuditTrail, programActor } from '#server/platform/audit/audit-trail.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { secretKeyChecks } from '#server/platform/db/schema.ts';
import { StartError } from '#server/platform/db/start-error.ts';
import { createSecretBox } from '#server/platform/secret-box.ts';
import {
  isSameCheck,
  keyCheckOf,
  readKeyState,
  type SecretKeys,
} from '#server/platform/secret-keys/key-state.ts';
import { type RotationBoxes, SEALED_KINDS, type SealedKind } from './sealed-kinds.ts';

/** Arbitrary advisory lock key: one rotation at a time, until the command's connection ends. */
const ROTATION_LOCK = 7_305_003;
/** A program that was killed leaves its row; one that is only slow must not be taken for dead. */
const STALE_AFTER_SECONDS = 30;
const POLL_MS = 100;
const PATIENCE_MS = 60_000;
const LOCK_PATIENCE_MS = 5_000;
/** An update of a webhook under constant load gives way to deliveries, and is tried again in the next pass. */
const LOCK_TIMEOUT = '2s';

export interface RotatedKind {
  name: string;
  /** Under the new key at the end. */
  total: number;
  /** Brought there by this run. */
  resealed: number;
  unreadable: number;
}

/**
 * Brings everything that SECRET_KEY seals under the next key while the programs run, which know both. The database keeps
 * that a rotation has begun; from then on every instance seals under the next key, so each row changes at most once. A
 * run that was killed is continued by the next one: rows that are under the next key are left alone.
 */
export async function rotateSecret({
  db,
  clock,
  keys,
  onKind = () => {},
  patienceMs = PATIENCE_MS,
}: {
  /** One connection. */
  db: Queryable;
  clock: Clock;
  keys: Pick<SecretKeys, 'secretKey'> & { nextKey: string };
  /** After each kind. */
  onKind?: (kind: RotatedKind) => void;
  /** How long to wait for instances and their transactions. */
  patienceMs?: number;
}): Promise<RotatedKind[]> {
  const boxes = { former: createSecretBox(keys.secretKey), next: createSecretBox(keys.nextKey) };
  const nextCheck = keyCheckOf(keys.nextKey);
  await lockRotation(db, { clock, patienceMs });
  await refuseOtherKeys(db, keys);
  await requireNextKey(db, nextCheck);
  await begin(db, nextCheck);
  await waitForInstances(db, { clock, nextCheck, patienceMs });
  const kinds: RotatedKind[] = [];
  for (const kind of Object.values(SEALED_KINDS)) {
    const rotated = await rotateKind(db, kind, boxes);
    onKind(rotated);
    kinds.push(rotated);
  }
  await finish(db, { clock, nextKey: keys.nextKey, nextCheck, kinds });
  return kinds;
}

async function lockRotation(
  db: Queryable,
  { clock, patienceMs }: { clock: Clock; patienceMs: number },
): Promise<void> {
  // The connection of a run that was killed ends within a moment.
  const wait = { clock, patienceMs: Math.min(patienceMs, LOCK_PATIENCE_MS) };
  await until({ ...wait, refusal: 'Another npm run rotate-secret is running' }, async () => {
    const { rows } = await db.execute<{ locked: boolean }>(
      sql`select pg_try_advisory_lock(${ROTATION_LOCK}) as locked`,
    );
    return rows[0]?.locked === true;
  });
  await db.execute(sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, false)`);
}

async function refuseOtherKeys(
  db: Queryable,
  { secretKey, nextKey }: Pick<SecretKeys, 'secretKey'> & { nextKey: string },
): Promise<void> {
  const [own, next] = [keyCheckOf(secretKey), keyCheckOf(nextKey)];
  const state = await readKeyState(db);
  if (state === null || state.keyCheck === null) {
    throw new StartError('The program has not started on this database yet; start it once first');
  }
  const isRotated = state.nextKeyCheck === null && isSameCheck(state.keyCheck, next);
  if (!isSameCheck(state.keyCheck, own) && !isRotated) {
    throw new StartError(
      'The SECRET_KEY (or DATA_DIR/secret.key) is not the one that this database was sealed with',
    );
  }
  if (state.nextKeyCheck !== null && !isSameCheck(state.nextKeyCheck, next)) {
    throw new StartError('A rotation to another key has begun; finish it with the file of that key first');
  }
}

interface Instance extends Record<string, unknown> {
  id: string;
  isKnown: boolean;
  isSealing: boolean;
}

/** Running programs, also of versions before this one, which report their workers only. */
async function listInstances(db: Queryable, nextCheck: Buffer): Promise<Instance[]> {
  const { rows } = await db.execute<Instance>(sql`
    select instance_id as id, key_check = ${nextCheck} or coalesce(next_key_check = ${nextCheck}, false) as "isKnown",
      case when seals_under_next then next_key_check else key_check end = ${nextCheck} as "isSealing"
    from instances where heartbeat_at > database_time() - make_interval(secs => ${STALE_AFTER_SECONDS})
    union
    select instance_id, false, false from engine_workers
    where heartbeat_at > database_time() - make_interval(secs => ${STALE_AFTER_SECONDS})
      and not exists (select from instances where instances.instance_id = engine_workers.instance_id)
    order by 1`);
  return rows;
}

/** An instance without the key would answer 401 to every webhook whose key is under it. */
async function requireNextKey(db: Queryable, nextCheck: Buffer): Promise<Instance[]> {
  const instances = await listInstances(db, nextCheck);
  const lacking = instances.filter(({ isKnown }) => !isKnown).map(({ id }) => id);
  if (lacking.length === 0) return instances;
  throw new StartError(
    `${lacking.join(', ')} ${lacking.length === 1 ? 'does' : 'do'} not know the new key: start every instance with it in SECRET_KEY_NEXT first. An instance that was killed counts for ${STALE_AFTER_SECONDS} seconds.`,
  );
}

async function begin(db: Queryable, nextCheck: Buffer): Promise<void> {
  await db
    .update(secretKeyChecks)
    .set({ nextKeyCheck: nextCheck })
    .where(sql`${secretKeyChecks.keyCheck} <> ${nextCheck}`);
}

/** Until every instance seals under the next key, and nothing that one has sealed before can still be written. */
async function waitForInstances(
  db: Queryable,
  { clock, nextCheck, patienceMs }: { clock: Clock; nextCheck: Buffer; patienceMs: number },
): Promise<void> {
  const wait = {
    clock,
    patienceMs,
    refusal: 'Not all instances have taken the new key into use; run the command again',
  };
  await until(wait, async () => (await requireNextKey(db, nextCheck)).every(({ isSealing }) => isSealing));
  const { rows } = await db.execute<{ now: string }>(sql`select clock_timestamp()::text as now`);
  const since = rows[0]?.now;
  await until(
    { clock, patienceMs, refusal: 'A transaction of an instance does not end; run the command again' },
    async () => {
      const open = await db.execute(sql`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'signal-board' and pid <> pg_backend_pid()
          and xact_start <= ${since}::timestamptz limit 1`);
      return open.rows.length === 0;
    },
  );
}

async function until(
  { clock, patienceMs, refusal }: { clock: Clock; patienceMs: number; refusal: string },
  isSo: () => Promise<boolean>,
): Promise<void> {
  const deadline = clock.monotonicMs() + patienceMs;
  while (!(await isSo())) {
    if (clock.monotonicMs() > deadline) throw new StartError(refusal);
    await clock.sleep(POLL_MS);
  }
}

/** Passes over the rows until one finds nothing under the former key. */
async function rotateKind(db: Queryable, kind: SealedKind, boxes: RotationBoxes): Promise<RotatedKind> {
  for (let resealed = 0; ; ) {
    const pass = await kind.pass(db, boxes);
    resealed += pass.resealed;
    if (pass.resealed === 0 && pass.busy === 0) {
      return { name: kind.name, total: pass.done, resealed, unreadable: pass.unreadable };
    }
  }
}

async function finish(
  db: Queryable,
  {
    clock,
    nextKey,
    nextCheck,
    kinds,
  }: { clock: Clock; nextKey: string; nextCheck: Buffer; kinds: readonly RotatedKind[] },
): Promise<void> {
  const audit = createAuditTrail({ db, clock, secretBox: createSecretBox(nextKey) });
  await db.transaction(async (tx) => {
    const ended = await tx
      .update(secretKeyChecks)
      .set({ keyCheck: nextCheck, nextKeyCheck: null })
      .where(eq(secretKeyChecks.nextKeyCheck, nextCheck))
      .returning({ isOnly: secretKeyChecks.isOnly });
    // Run again after its end, the command has nothing to tell.
    if (ended.length === 0 && kinds.every(({ resealed }) => resealed === 0)) return;
    await audit.record(tx, {
      actor: programActor('npm run rotate-secret', 'command'),
      action: 'secret key rotated',
      subject: { kind: 'installation', id: null, name: null },
      after: Object.fromEntries(kinds.map(({ name, total }) => [name, total])),
    });
  });
}
