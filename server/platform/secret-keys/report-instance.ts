import { eq, lt, sql } from 'drizzle-orm';
import type { Clock } from '#server/platform/clock.ts';
import type { Db } from '../db/database.ts';
import { instances } from '../db/schema.ts';
import type { Logger } from '../log.ts';
import type { RotatingBox } from '../secret-box.ts';
import { keyCheckOf, readKeyState, type SecretKeys, sealsUnderNext } from './key-state.ts';

const BEAT_MS = 1_000;
const FORGOTTEN_AFTER_HOURS = 1;

/** Tells `npm run rotate-secret` which keys this instance knows, and seals under the key that the database asks for. */
export interface InstanceReport {
  /** Before the key state is read: a rotation that begins then sees this instance, or this instance sees the rotation. */
  register(): Promise<void>;
  /** Seals as the database asks for from now on. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createInstanceReport({
  db,
  clock,
  log,
  instanceId,
  keys,
  secretBox,
  beatMs = BEAT_MS,
}: {
  db: Db;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
  instanceId: string;
  keys: SecretKeys;
  secretBox: RotatingBox;
  beatMs?: number;
}): InstanceReport {
  const keyCheck = keyCheckOf(keys.secretKey);
  const nextKeyCheck = keys.nextKey === null ? null : keyCheckOf(keys.nextKey);
  let stopBeating = () => {};
  let beating: Promise<void> | null = null;

  async function report(): Promise<void> {
    const facts = {
      keyCheck,
      nextKeyCheck,
      sealsUnderNext: secretBox.sealsUnderNext(),
      heartbeatAt: sql`database_time()`,
    };
    await db
      .insert(instances)
      .values({ instanceId, ...facts })
      .onConflictDoUpdate({ target: instances.instanceId, set: facts });
  }

  async function beat(): Promise<void> {
    // Reported after it is true: secrets that were sealed before belong to transactions that have begun by then.
    const isNext = sealsUnderNext(await readKeyState(db), nextKeyCheck);
    if (isNext !== secretBox.sealsUnderNext()) {
      secretBox.sealUnderNext(isNext);
      if (isNext) log.info('secrets are sealed under SECRET_KEY_NEXT from now on');
    }
    await report();
  }

  function beatOnce(): void {
    beating ??= beat()
      .catch((error: unknown) => log.warn({ err: error }, 'the instance could not be reported'))
      .finally(() => {
        beating = null;
      });
  }

  return {
    async register() {
      await db
        .delete(instances)
        .where(
          lt(instances.heartbeatAt, sql`database_time() - make_interval(hours => ${FORGOTTEN_AFTER_HOURS})`),
        );
      await report();
    },
    async start() {
      await beat();
      stopBeating = clock.every(beatMs, beatOnce);
    },
    async stop() {
      stopBeating();
      await beating;
      // A row that stays is taken for dead soon.
      await db
        .delete(instances)
        .where(eq(instances.instanceId, instanceId))
        .catch(() => undefined);
    },
  };
}

/** For the start of a program that has its database to itself. */
export async function removeInstances(db: Db): Promise<void> {
  await db.delete(instances);
}
