import { afterFailure, FLATTEN_WAITS, type FlattenWaits } from '#domain/orders/flatten.ts';
import { endStop } from '#server/admin/stops/trading-stops.store.ts';
import type { EngineDeps } from '#server/deps.ts';
import { positionSubject } from '#server/engine/orders/close-position.ts';
import { sumPartialCloses } from '#server/engine/protection/positions.store.ts';
import type { AccountReader } from '#server/engine/protection/read-account.ts';
import { createGate } from '#server/exchanges/paper/gate.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import { withPosition } from './close-open-position.ts';
import { closeOwnPosition, type OwnClose } from './close-own-position.ts';
import {
  changePosition,
  countLeft,
  endFlatten,
  type FlattenPosition,
  type FlattenRow,
  findFlatten,
  forgetPosition,
  keepQuantityOf,
  listCoveredTrades,
  listDue,
  listOpenFlattens,
} from './flatten.store.ts';

/** Users whose positions are closed side by side; the request limits decide when each order leaves. */
const MOST_USERS = 32;
const POLL_MS = 1_000;
/** How long an entry may take to settle before it counts as a failure. */
const ENTRIES_SETTLE_MS = 30_000;
const BUSY_RETRY_MS = 1_000;
const STOP_LIMIT_MS = 3_000;

export interface Flattener {
  /** Looks for unfinished closings every second, until the returned function is called. */
  start(): () => Promise<void>;
  /** One round over everything that is due now. */
  run(): Promise<void>;
}

/**
 * Works off the recorded closings of all positions (I3, I7): the rows are the truth, so any instance goes on after a crash.
 * Each position is closed by the same steps as one closed by hand, reduce-only and at most what was opened here.
 */
export function createFlattener(
  deps: EngineDeps,
  reader: AccountReader,
  { waits = FLATTEN_WAITS }: { waits?: FlattenWaits } = {},
): Flattener {
  const { db, clock, log } = deps;
  let isStopping = false;

  async function run(): Promise<void> {
    const open = await listOpenFlattens(db);
    const workingOff = open.map((flatten) =>
      withLease({ db, clock, key: `flatten:${flatten.id}`, holder: deps.config.instanceId, log }, () =>
        workOff(flatten),
      ),
    );
    await allSaid(workingOff, 'a closing of all positions could not be worked off');
  }

  /** Waits for all of them: one that fails ends neither the others nor the lease that they need. */
  async function allSaid(works: readonly Promise<unknown>[], failure: string): Promise<void> {
    for (const end of await Promise.allSettled(works)) {
      if (end.status === 'rejected') log.error({ err: end.reason }, failure);
    }
  }

  async function workOff(flatten: FlattenRow): Promise<void> {
    const { id: flattenId } = flatten;
    const due = await listDue(db, { flattenId, now: clock.now() });
    const gate = createGate(MOST_USERS);
    const byUser = Map.groupBy(due, ({ userId }) => userId);
    const closings = [...byUser.values()].map((positions) => gate(() => closeOfUser(flatten, positions)));
    await allSaid(closings, 'the positions of a user could not be closed');
    await finish(flatten);
  }

  /** One after the other: each needs the user's lease. */
  async function closeOfUser(flatten: FlattenRow, positions: readonly FlattenPosition[]): Promise<void> {
    const keys = new Map<string, { userId: string; exchangePlatform: string }>();
    for (const position of positions) {
      if (isStopping || (await findFlatten(db, flatten.id))?.endedAt !== null) return;
      const { userId, exchangePlatform } = position;
      try {
        const closed = await closeOne(flatten, position);
        if (closed) keys.set(exchangePlatform, { userId, exchangePlatform });
      } catch (error) {
        log.error({ err: error, userId, token: position.token }, 'a position could not be closed');
        await noteFailure(position, 'Closing failed unexpectedly, see the server log');
      }
    }
    // Records the ends of the positions, with the exchange's figures.
    for (const key of keys.values()) {
      reader.forget(key);
      await reader.read(key, 0).catch(() => undefined);
    }
  }

  async function closeOne(flatten: FlattenRow, position: FlattenPosition): Promise<boolean> {
    const { userId, token } = position;
    const platform = deps.exchanges.supported.find((one) => one === position.exchangePlatform);
    if (platform === undefined) {
      await noteFailure(position, `${position.exchangePlatform} is not supported`);
      return false;
    }
    const covered = await listCoveredTrades(db, { flatten, key: position, mode: deps.config.exchangeMode });
    const { requestedBy } = flatten;
    const leased = await withPosition(deps, { userId, token, platform, requestedBy }, (work) =>
      closeOwnPosition(work, {
        covered,
        keptBefore: position.keepQuantity,
        keepOf: async (trade, computed) =>
          position.keepQuantity ??
          (await keepQuantityOf(db, { key: position, tradeId: trade.id, keep: await computed() })),
        closedOf: (trade) => sumPartialCloses(db, trade.id),
        onClosed: () => noteClosed(flatten, position, covered),
      }),
    );
    if (!leased.isHeld) {
      await noteFailure(position, leased.reason);
      return false;
    }
    await noteResult(flatten, position, leased.result);
    return leased.result.outcome === 'closed';
  }

  async function noteClosed(
    flatten: FlattenRow,
    position: FlattenPosition,
    covered: ReadonlySet<string>,
  ): Promise<void> {
    const { userId, token } = position;
    // The entry ended without a fill.
    if (position.isEntry && position.keepQuantity === null && covered.size === 0) {
      await forgetPosition(db, position);
      return;
    }
    await db.transaction(async (tx) => {
      await changePosition(tx, position, { state: 'closed', reason: null });
      await deps.audit.record(tx, {
        actor: flatten.actor,
        action: 'position closed',
        subject: await positionSubject(tx, { userId, token }),
        after: { message: 'Closed with all positions' },
      });
    });
  }

  async function noteResult(
    flatten: FlattenRow,
    position: FlattenPosition,
    { outcome, message }: OwnClose,
  ): Promise<void> {
    if (outcome === 'skipped') await changePosition(db, position, { state: 'skipped', reason: message });
    if (outcome === 'failed') await noteFailure(position, message);
    if (outcome !== 'busy') return;
    const now = clock.now();
    const isSettling = now.getTime() - flatten.createdAt.getTime() < ENTRIES_SETTLE_MS;
    if (!isSettling) await noteFailure(position, message);
    else
      await changePosition(db, position, {
        nextAt: new Date(now.getTime() + BUSY_RETRY_MS),
        reason: message,
      });
  }

  async function noteFailure(position: FlattenPosition, reason: string): Promise<void> {
    const now = clock.now();
    const tries = position.tries + 1;
    const firstFailedAt = position.firstFailedAt ?? now;
    const next = afterFailure({ tries, firstFailedAt, now }, waits);
    await changePosition(db, position, { ...next, tries, firstFailedAt, reason });
    const { userId, token } = position;
    log.warn({ userId, token, tries, reason }, 'a position could not be closed, it is tried again');
  }

  /** Lifts a stop that was made only for the closing, and ends the closing when nothing is left to try. */
  async function finish(flatten: FlattenRow): Promise<void> {
    const { waiting, failed } = await countLeft(db, flatten.id);
    if (waiting > 0 || isStopping) return;
    const { endsStopId: id } = flatten;
    const now = clock.now();
    await db.transaction(async (tx) => {
      if (id !== null && (await endStop(tx, { id, by: flatten.actor.name, now }))) {
        await deps.audit.record(tx, {
          actor: flatten.actor,
          action: 'new entries resumed',
          subject: { kind: 'stop', id, name: null },
          after: { how: 'All positions were closed' },
        });
      }
      if (failed > 0 || !(await endFlatten(tx, { id: flatten.id, now }))) return;
      await noteEvents(tx, [{ code: 'flatten_done', data: { by: flatten.actor.name }, at: now }]);
    });
  }

  return {
    run,
    start() {
      let running: Promise<void> = Promise.resolve();
      let isRunning = false;
      const stopLooking = clock.every(POLL_MS, () => {
        if (isRunning) return;
        isRunning = true;
        running = run()
          .catch((error: unknown) => log.warn({ err: error }, 'closing all positions did not go on'))
          .finally(() => {
            isRunning = false;
          });
      });
      return async () => {
        isStopping = true;
        stopLooking();
        await Promise.race([running, clock.sleep(STOP_LIMIT_MS)]);
      };
    },
  };
}
