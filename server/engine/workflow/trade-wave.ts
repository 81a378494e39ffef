import type { ExchangePlatform } from '#domain/user-settings.ts';
import { PER_USER_STEPS } from '#domain/workflow/workflow-lifecycle.ts';
import type { EngineDeps } from '#server/deps.ts';
import { READING_LASTS_MS } from '#server/engine/orders/account-reading.ts';
import { advanceHeldTrade } from '#server/engine/orders/advance-trade.ts';
import type { HeldTrade } from '#server/engine/orders/trade-work.ts';
import { endedStep, processorName, userStep } from '#server/engine/records/workflow-steps.store.ts';
import {
  countUserFailedTry,
  listUserTurns,
  type UserTurn,
} from '#server/engine/records/workflow-users.store.ts';
import { findWorkflowWithSignal, type WorkflowRow } from '#server/engine/records/workflows.store.ts';
import { readMatchedPriceLog } from '#server/engine/sizing/match-price-log.ts';
import { type EntrySignalRow, isEntry, type SignalRow } from '#server/ingest/stored-signals.ts';
import { isDatabaseUnavailable } from '#server/platform/db/database-errors.ts';
import { keepLeases, type Lease, LeaseLostError, releaseLeases } from '#server/platform/jobs/leases.ts';
import { type CanaryTurn, takeCanaryTurn } from './canary.ts';
import { claimWave, readFacts, type UserFacts } from './claim-wave.ts';
import { followTrade, settleLate, unsettledLimits } from './follow-trade.ts';
import { leavePosition, readLeaveFacts } from './leave-position.ts';
import { planOrder, type UserRun } from './plan-order.ts';

const TRIES = 3;
/** How long a job waits for users whose lease another worker has. */
export const LEASE_RETRY_MS = 1_000;
/** An order whose execution failed unexpectedly is taken up again after this time. */
const ORDER_RETRY_MS = 1_000;
/** Orders that are ready are committed at the latest this long after the first one of the wave. */
const ORDERS_WAIT_MS = 250;
/** An instance that can start no more users looks after this time whether it, or another one, can. */
const ROOM_RETRY_MS = 200;
/** I8: the next wave waits no longer, whatever holds up the users of this one. */
const NEXT_WAVE_WAIT_MS = 1_000;

/** What happens to an order when it is committed. */
type OnOrder = (deps: EngineDeps, held: HeldTrade) => Promise<void>;

/**
 * Trades the next users of a workflow, in the order of trading: claims them, sizes them side by side, commits their
 * orders together, and brings each order as far as it can go now. The next wave is called as soon as the orders of this
 * one are committed, or after a second: a slow account holds up nobody else. An instance takes up as many users as its
 * address can start in about a second, and calls others for the rest at once. Safe to call at any time, by several
 * instances at once; resumes from the recorded state.
 */
export async function tradeWave(
  deps: EngineDeps,
  { workflowId }: { workflowId: string },
  onOrder: OnOrder = advanceHeldTrade,
): Promise<void> {
  const found = await findWorkflowWithSignal(deps.db, workflowId);
  if (found === null || found.workflow.status !== 'processing') return;
  const { workflow, signal } = found;
  const turn = await takeCanaryTurn(deps, found);
  const wave = await claim(
    deps,
    { ...found, turn },
    { rooms: isEntry(signal) ? roomsOf(deps) : roomsToLeave(deps) },
  );
  const callNext = async (waitMs: number) => {
    const options = { isOwn: workflow.isOwn, ...(waitMs === 0 ? {} : { waitMs }) };
    // The call at the end of a canary's time waits already, and counts as one that is not missing.
    if (workflow.canaryState !== null) await deps.jobs.send(deps.db, 'trade-wave', { workflowId }, options);
    else await deps.jobs.sendMissing(deps.db, 'trade-wave', [{ workflowId }], options);
  };
  if (wave.users.length === 0) {
    if (wave.isCut && !(await passRoomRetry(deps, workflowId))) return;
    if (wave.hasMore) await callNext(wave.isCut ? 0 : LEASE_RETRY_MS);
    return;
  }
  // Leaving only reduces risk: the next users need not wait for these.
  if (isEntry(signal) ? wave.isCut : wave.hasMore) await callNext(0);
  if (!isEntry(signal)) {
    await leaveWave(deps, { workflow, signal, users: wave.users });
    return;
  }
  await processWave(deps, {
    ...wave,
    signal,
    onOrder,
    whenCommitted: () => (wave.hasMore ? callNext(0) : undefined),
  });
}

/**
 * False at once if another call of this instance waits already, and calls the next wave for both. Does not send a call
 * that waits in the queue: it would come late, because the queue looks for those once a second.
 */
async function passRoomRetry({ clock, userIntake }: EngineDeps, workflowId: string): Promise<boolean> {
  const end = userIntake.waitForRoom(workflowId);
  if (end === null) return false;
  try {
    await clock.sleep(ROOM_RETRY_MS);
  } finally {
    end();
  }
  return true;
}

/**
 * One user's part of a workflow, wherever it stands: sizes and orders, or follows up what happened to the order. Safe to
 * call at any time.
 */
export async function tradeUser(
  deps: EngineDeps,
  { workflowId, userId }: { workflowId: string; userId: string },
  onOrder: OnOrder = advanceHeldTrade,
): Promise<void> {
  const [turn] = await listUserTurns(deps.db, { workflowId, userIds: [userId] });
  if (turn === undefined || !(await isToBeSized(deps, turn))) return;
  const found = await findWorkflowWithSignal(deps.db, workflowId);
  if (found === null) return;
  const canary = await takeCanaryTurn(deps, found);
  const wave = await claim(deps, { ...found, turn: canary }, { userId, rooms: new Map() });
  const { signal } = found;
  if (wave.users.length > 0) {
    await (isEntry(signal)
      ? processWave(deps, { ...wave, signal, onOrder, whenCommitted: () => undefined })
      : leaveWave(deps, { ...wave, signal }));
  } else if (wave.hasMore) {
    const { isOwn } = found.workflow;
    await deps.jobs.send(deps.db, 'trade-user', { workflowId, userId }, { waitMs: LEASE_RETRY_MS, isOwn });
  }
}

/** Finishes a user whose part is over or who has an order; true when the user has neither. */
async function isToBeSized(deps: EngineDeps, turn: UserTurn): Promise<boolean> {
  const { workflow, user, trade, processingSince } = turn;
  if (user.position === null) return false;
  const task = { workflowId: workflow.id, userId: user.userId, position: user.position };
  const isOver = user.outcome !== 'waiting' && user.outcome !== 'running';
  if (isOver) {
    if (trade !== null) await settleLate(deps, { task, trade });
    return false;
  }
  if (workflow.status !== 'processing') return false;
  if (trade === null) return processingSince !== null;
  await followTrade(deps, { task, trade });
  return false;
}

interface ClaimedUser {
  lease: Lease;
  facts: UserFacts;
  position: number;
}

interface Wave {
  workflow: WorkflowRow;
  /** Of the strategy; null: the limit of the program. */
  maxSignalAgeSeconds: number | null;
  /** What happened to the strategy's first users, if that keeps the others from trading. */
  canaryFailed: string | null;
  /** In the order of trading. */
  users: ClaimedUser[];
  hasMore: boolean;
  isCut: boolean;
}

/** The room of this instance at each exchange that limits requests. */
function roomsOf({ exchanges, userIntake }: EngineDeps): Map<ExchangePlatform, number> {
  const rooms = exchanges.supported.map(
    (platform) => [platform, userIntake.roomAt(exchanges.get(platform))] as const,
  );
  return new Map(rooms.filter(([, room]) => Number.isFinite(room)));
}

const roomsToLeave = ({ exchanges, userIntake }: EngineDeps): Map<ExchangePlatform, number> =>
  new Map(
    exchanges.supported.map(
      (platform) => [platform, userIntake.roomToLeave(exchanges.get(platform))] as const,
    ),
  );

/** Takes the leases, then reads: their former holders write nothing more. */
async function claim(
  deps: EngineDeps,
  found: Pick<Wave, 'workflow' | 'maxSignalAgeSeconds'> & { signal: SignalRow; turn: CanaryTurn },
  whom: { userId?: string; rooms: ReadonlyMap<string, number> },
): Promise<Wave> {
  const { db } = deps;
  const { workflow, signal, maxSignalAgeSeconds, turn } = found;
  const { upTo, failed: canaryFailed } = turn;
  const holder = `${deps.config.instanceId} ${workflow.id}`;
  const { unsettledSince: since } = unsettledLimits(deps.clock.now());
  const leaving = isEntry(signal) ? undefined : { token: signal.token, since };
  const { leases, hasMore, isCut } = await claimWave(db, {
    workflowId: workflow.id,
    upTo,
    holder,
    leaving,
    ...whom,
  });
  const own = leases.map(({ lease }) => lease);
  try {
    const userIds = leases.map((one) => one.userId);
    const facts =
      userIds.length === 0
        ? []
        : await readFacts(db, {
            workflowId: workflow.id,
            userIds,
            signal,
            readSince: readingsSince(deps),
            now: deps.clock.now(),
            timeZone: deps.config.displayTimezone,
            exitScope: deps.config.exitScope,
          });
    const leaseOf = new Map(leases.map((one) => [one.userId, one.lease]));
    const users = facts.flatMap((one) => {
      const lease = leaseOf.get(one.turn.user.userId);
      const { position, outcome } = one.turn.user;
      const isOpen = one.turn.trade === null && (outcome === 'waiting' || outcome === 'running');
      return lease === undefined || position === null || !isOpen ? [] : [{ lease, facts: one, position }];
    });
    const unused = own.filter((lease) => users.every((user) => user.lease !== lease));
    await releaseLeases(db, unused);
    return { workflow, maxSignalAgeSeconds, canaryFailed, users, hasMore, isCut };
  } catch (error) {
    await releaseLeases(db, own).catch(() => undefined);
    throw error;
  }
}

const readingsSince = ({ config, clock }: EngineDeps): Date | null =>
  config.readAhead ? new Date(clock.now().getTime() - READING_LASTS_MS) : null;

async function processWave(
  deps: EngineDeps,
  wave: Wave & { signal: EntrySignalRow; onOrder: OnOrder; whenCommitted: () => Promise<void> | undefined },
): Promise<void> {
  const { users, workflow, onOrder } = wave;
  const { db, log } = deps;
  const leases = new Set(users.map(({ lease }) => lease));
  const stopKeeping = keepLeases({ db, clock: deps.clock, leases, log });
  const gate = createGate(deps, users.length, ORDERS_WAIT_MS);
  const priceLog = readMatchedPriceLog(db, workflow.id);
  // Each user who needs the candle sees the failure.
  priceLog.catch(() => {});
  const planned = users.map(async (user) => {
    const leave = takeUp(deps, user.facts, 'take');
    try {
      return await planUser(deps, {
        ...wave,
        user,
        priceLog,
        whenOrdersCommit: () => gate.pass(user.position),
      });
    } finally {
      leave();
      gate.leave(user.position);
      leases.delete(user.lease);
    }
  });
  const traded = planned.map(async (planning) => {
    const held = await planning;
    if (held === null) return;
    leases.add(held.lease);
    try {
      await onOrder(deps, held);
    } catch (error) {
      // The wave is not tried again for a user who has an order.
      await deps.jobs
        .send(db, 'advance-trade', { tradeId: held.trade.id }, { waitMs: ORDER_RETRY_MS })
        .catch(() => undefined);
      throw error;
    } finally {
      leases.delete(held.lease);
    }
  });
  const committed = gate.opened.then((positions) =>
    Promise.allSettled(planned.filter((_, index) => positions.has(users[index]?.position ?? -1))),
  );
  const latest = deps.clock.sleep(NEXT_WAVE_WAIT_MS);
  const next = Promise.race([committed, latest]).then(() => wave.whenCommitted());
  const ends = await Promise.allSettled([...traded, next]);
  stopKeeping();
  // Those of users whose try failed; the others are released with their last transition.
  await releaseLeases(
    db,
    users.map(({ lease }) => lease),
  ).catch(() => undefined);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Counts a user of an exchange as being at work in this instance; returns what ends that. */
function takeUp(
  { exchanges, userIntake }: EngineDeps,
  { settings }: UserFacts,
  what: 'take' | 'takeLeaving',
): () => void {
  const platform = exchanges.supported.find((one) => one === settings?.exchangePlatform);
  return platform === undefined ? () => {} : userIntake[what](platform);
}

/** Closes or reduces the positions of these users side by side; I8: a user whose part fails is tried again. */
async function leaveWave(
  deps: EngineDeps,
  { workflow, signal, users }: Pick<Wave, 'workflow' | 'users'> & { signal: SignalRow },
): Promise<void> {
  const { db, log } = deps;
  const leases = new Set(users.map(({ lease }) => lease));
  const stopKeeping = keepLeases({ db, clock: deps.clock, leases, log });
  const userIds = users.map(({ facts }) => facts.turn.user.userId);
  // A read that fails is each user's failure.
  const reading = readLeaveFacts(deps, { signal, workflowId: workflow.id, userIds });
  const ends = await Promise.allSettled(
    users.map(async ({ lease, facts, position }) => {
      const { userId } = facts.turn.user;
      const task = { workflowId: workflow.id, userId, position };
      const leave = takeUp(deps, facts, 'takeLeaving');
      try {
        const factsOf = await reading;
        await leavePosition({ deps, signal, workflow, userId, position, lease, facts: factsOf(userId) });
      } catch (error) {
        await countFailure({ deps, task, lease, current: null }, error);
      } finally {
        leave();
        leases.delete(lease);
      }
    }),
  );
  stopKeeping();
  await releaseLeases(
    db,
    users.map(({ lease }) => lease),
  ).catch(() => undefined);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/**
 * Users pass together, in the order of trading, when all of them have come or left, or some time after the first one;
 * so do those who come later.
 */
function createGate({ clock }: Pick<EngineDeps, 'clock'>, users: number, waitMs: number) {
  const waiting = new Map<number, () => void>();
  const seen = new Set<number>();
  const { promise: opened, resolve: open } = Promise.withResolvers<Set<number>>();
  let cancel: (() => void) | null = null;

  function openNow(): void {
    cancel?.();
    cancel = null;
    const inOrder = [...waiting].toSorted(([one], [other]) => one - other);
    waiting.clear();
    open(new Set(inOrder.map(([position]) => position)));
    for (const [, pass] of inOrder) pass();
  }

  function note(position: number): void {
    seen.add(position);
    // Not before the caller waits: the last one to come would go on after all others.
    if (seen.size === users) queueMicrotask(openNow);
  }

  return {
    /** The positions of those who waited when it first opened. */
    opened,
    pass(position: number): Promise<void> {
      cancel ??= clock.after(waitMs, openNow);
      const passed = new Promise<void>((resolve) => waiting.set(position, resolve));
      note(position);
      return passed;
    },
    leave: note,
  };
}

/** I8: a user whose part fails unexpectedly is tried again, and given up after some tries; others go on. */
async function planUser(
  deps: EngineDeps,
  wave: Pick<Wave, 'workflow' | 'maxSignalAgeSeconds' | 'canaryFailed'> &
    Pick<UserRun, 'priceLog' | 'signal' | 'whenOrdersCommit'> & { user: ClaimedUser },
): Promise<HeldTrade | null> {
  const { user, ...rest } = wave;
  const { lease, facts, position } = user;
  const task = { workflowId: wave.workflow.id, userId: facts.turn.user.userId, position };
  const run: UserRun = { deps, ...rest, task, lease, current: null };
  try {
    return await planOrder(run, facts);
  } catch (error) {
    // Another worker continues with the user.
    if (error instanceof LeaseLostError) return null;
    await countFailure(run, error);
    return null;
  }
}

async function countFailure(
  run: Pick<UserRun, 'deps' | 'task' | 'lease' | 'current'>,
  error: unknown,
): Promise<void> {
  const { deps, task, lease } = run;
  if (isDatabaseUnavailable(error)) throw error;
  const tries = await countUserFailedTry(deps.db, task);
  deps.log.error({ err: error, ...task, tries }, "a user's part of a workflow ended unexpectedly");
  if (tries < TRIES) throw error;
  const at = deps.clock.now();
  const about = { inputData: { userId: task.userId }, processorName: processorName(deps), at };
  const step = run.current ?? userStep(PER_USER_STEPS[0].type, task, about);
  const errorMessage = 'Processing failed unexpectedly, see the server log';
  const { workflowId, userId } = task;
  await deps.transitions.commit({
    lease,
    steps: [endedStep(step, { status: 'failed', errorMessage, at })],
    userEnd: { workflowId, userId, outcome: 'failed', orCall: false },
    releases: true,
  });
}
