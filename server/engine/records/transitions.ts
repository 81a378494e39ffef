import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Room } from '#domain/limits/check-entry.ts';
import type { AttemptState } from '#domain/orders/order-lifecycle.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import { type ClearedPosition, clearHalts } from '#server/admin/halts/trading-halts.store.ts';
import { isStoppedTrade } from '#server/admin/stops/trading-stops.store.ts';
import { type EntryBook, readEntryBook } from '#server/engine/limits/entry-book.ts';
import { denyClock } from '#server/exchanges/exchange-clock.ts';
import type { ExchangeRegistry } from '#server/exchanges/registry.ts';
import type { AuditRecord, AuditTrail } from '#server/platform/audit/audit-trail.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config/config.ts';
import type { Db, Tx } from '#server/platform/db/database.ts';
import { databaseErrorCode, isDatabaseUnavailable } from '#server/platform/db/database-errors.ts';
import { createGroupCommit } from '#server/platform/db/group-commit.ts';
import { insertRows, updateRows } from '#server/platform/db/json-rows.ts';
import {
  orderAttempts,
  positionCloses,
  positionGeneratorLogs,
  tradeEvents,
  trades,
  workflows,
} from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { Jobs } from '#server/platform/jobs/jobs.ts';
import {
  acquireLeases,
  findHeld,
  type Lease,
  LeaseLostError,
  releaseLeases,
} from '#server/platform/jobs/leases.ts';
import { insertEvents, type NoticeEvent, noteEvents } from '#server/platform/notices/note-event.ts';
import type { SecretBox } from '#server/platform/secret-box.ts';
import { type Decision, writeDecisions } from './decisions.store.ts';
import { endUsers, type UserEnd } from './end-users.ts';
import { type AttemptRow, listStandingTrades, type TradeRow } from './trades.store.ts';
import { type IntendedOrder, readTradingPermissions, type WaitingCanary } from './trading-permission.ts';
import { processorName, type StepWrite, writeSteps } from './workflow-steps.store.ts';

/**
 * What becomes true at once about one user or one trade: all of it is committed or nothing. `commit` resolves when it is
 * on the disk; only then may the request leave that it announces.
 */
export interface Transition {
  /** The worker's lease on the user or the trade: when it was taken over, nothing is written. */
  lease: Lease;
  /** I9: the order that must be allowed when this commits. */
  order?: OrderAtExchange;
  /** I2: a new order. Refused when the user already has a live, filled or doubtful one for the signal. */
  intent?: OrderIntent;
  /** Does nothing when the workflow has already calculated for the user: after a crash the first result counts. */
  calculation?: CalculationRow;
  /** What was decided on the user, and what the decision saw. */
  decision?: Decision;
  /** Changes to the trade and to its attempt in progress, or a further attempt. */
  trade?: { id: string; set: Partial<Omit<NewTrade, 'id'>> };
  attempt?: { id: string; seen: AttemptState; set: Partial<Omit<NewAttempt, 'id'>> };
  newAttempt?: NewAttempt;
  /** New orders that close a position. */
  closes?: readonly NewClose[];
  /** Lines of a trade's timeline, and its calls. */
  events?: readonly Omit<NewEvent, 'id'>[];
  steps?: readonly StepWrite[];
  /** The position that the exchange shows protected or closed: ends its doubt. */
  clears?: ClearedPosition;
  /** The user's part of the workflow ends. `orCall`: if it has already ended, a job for the user does the rest. */
  userEnd?: UserEnd & { orCall: boolean };
  /** The trade is looked at again after this time. */
  wakes?: { tradeId: string; waitMs: number };
  /** A job for a user's part of a workflow. */
  calls?: { workflowId: string; userId: string };
  /** The last transition under the lease: it is free when this is committed. */
  releases?: true;
  /** For the audit trail: what an operator has asked for, or what the program does with money by itself. */
  audit?: AuditRecord;
  /** What may be worth telling. */
  notices?: readonly NoticeEvent[];
  /** No request waits for it: under load it is committed with later ones. */
  mayWait?: true;
}

type OrderAtExchange = IntendedOrder & Pick<TradeRow, 'exchangePlatform'>;

export type CalculationRow = typeof positionGeneratorLogs.$inferInsert;
type NewTrade = typeof trades.$inferInsert;
export type NewAttempt = typeof orderAttempts.$inferInsert;
export type NewClose = typeof positionCloses.$inferInsert;
type NewEvent = typeof tradeEvents.$inferInsert;

export interface OrderIntent {
  /** Without the account, which is that of the key stored when this commits. */
  trade: Omit<TradeRow, 'exchangeAccountId'>;
  attempt: AttemptRow;
  /** Who follows the order: this holder, with the lease on the trade taken in the same commit, or a job. */
  follower: { holder: string } | 'job';
  /** Of the account reading that the size follows from, in USDT; null when there was none. */
  equity: string | null;
  /** The transition with a smaller position, for limits that make entries fit; null when that would be too small. */
  fit?: (room: Room) => Transition | null;
}

export type Committed =
  /**
   * `planned`: of a new order, as it was written; `lease`: that of its trade, if its planner follows it. `isStopped`: the
   * transition has changed a trade for which new entries are stopped.
   */
  | { ok: true; planned: PlannedOrder | null; isStopped: boolean }
  | { ok: false; reason: 'denied'; denial: Denial }
  | { ok: false; reason: 'already-traded'; standing: TradeRow };

interface PlannedOrder {
  intent: OrderIntent;
  exchangeAccountId: string | null;
  lease: Lease | null;
}

export interface Transitions {
  /**
   * Commits a transition, together with others that are ready at the time. Throws a LeaseLostError when the lease was
   * taken over. A transition that cannot be committed fails by itself, never others (I8).
   */
  commit(transition: Transition): Promise<Committed>;
}

interface TransitionDeps {
  db: Db;
  clock: Clock;
  config: Pick<
    Config,
    'appEnv' | 'autoTrade' | 'displayTimezone' | 'exchangeMode' | 'exitScope' | 'instanceId'
  >;
  exchanges: Pick<ExchangeRegistry, 'get' | 'supported'>;
  jobs: Pick<Jobs, 'send'>;
  secretBox: Pick<SecretBox, 'lookupHash'>;
  audit: Pick<AuditTrail, 'record'>;
}

const MOST_IN_ONE = 64;
const LANES = 3;
/** A transaction that waits for a lock holds up the others for this long at most. */
const BESIDE_AFTER_MS = 40;
const ENOUGH = 16;
const LANE_MS = 3_000;
const MOST_STUCK = 4;
/** What no request waits for is committed at the latest after this time. */
const MAY_WAIT_MS = 200;
/** A single trade writes less in that time, and never waits. */
const BUSY_FROM = 12;

/** The one writer of the engine's transitions: one transaction for many trades. */
export function createTransitions(deps: TransitionDeps): Transitions {
  const group = createGroupCommit<Transition, Committed | 'lost'>({
    clock: deps.clock,
    commit: (transitions) => deps.db.transaction((tx) => writeAll(deps, tx, transitions)),
    maxItems: MOST_IN_ONE,
    lanes: LANES,
    besideItems: MOST_IN_ONE,
    besideAfterMs: BESIDE_AFTER_MS,
    enough: ENOUGH,
    patient: {
      isPatient: ({ mayWait }) => mayWait === true,
      waitMs: MAY_WAIT_MS,
      fromItems: BUSY_FROM,
    },
    laneMs: LANE_MS,
    maxStuck: MOST_STUCK,
    isItemFault: mayBeOneItem,
    halvesSideBySide: true,
  });
  return {
    async commit(transition) {
      const committed = await group.add(transition).catch((error: unknown) => {
        if (error instanceof AttemptChangedError) return 'lost' as const;
        throw error;
      });
      if (committed === 'lost') throw new LeaseLostError(transition.lease.key);
      return committed;
    },
  };
}

/** A row that another transaction has locked for long, or in another order, is that of one user. */
const LOCK_CODES = ['55P03', '40P01'];

const mayBeOneItem = (error: unknown): boolean =>
  !isDatabaseUnavailable(error) || LOCK_CODES.includes(databaseErrorCode(error) ?? '');

/** I8: in a batch nobody waits longer for another user's row; a transition by itself waits as long as it takes. */
const BATCH_LOCK_TIMEOUT = sql`set local lock_timeout = '500ms'`;

const NO_ORDERS: Awaited<ReturnType<typeof readTradingPermissions>> = { denials: [], canaries: [] };

/** Reads what decides about the transitions, in one round trip, then writes all that may be written. */
async function writeAll(
  deps: TransitionDeps,
  tx: Tx,
  all: readonly Transition[],
): Promise<(Committed | 'lost')[]> {
  const now = deps.clock.now();
  const intents = all.flatMap(({ intent }) => (intent === undefined ? [] : [intent.trade]));
  const orders = all.flatMap(({ order }) => (order === undefined ? [] : [order]));
  const { exchangeMode } = deps.config;
  const [, held, permissions, book, standing, accounts] = await Promise.all([
    all.length > 1 && tx.execute(BATCH_LOCK_TIMEOUT).execute(),
    findHeld(
      tx,
      all.map(({ lease }) => lease),
    ),
    orders.length === 0 ? NO_ORDERS : readTradingPermissions(tx, { orders, now, config: deps.config }),
    orders.length === 0 ? null : readEntryBook(tx, { orders, now, exchangeMode }),
    intents.length === 0 ? [] : listStandingTrades(tx, intents),
    intents.length === 0 || exchangeMode === 'paper' ? [] : listAccountIds(tx, intents),
  ]);
  const denials = new Map(
    orders.map((order, index) => [order, permissions.denials[index] ?? denyClockOf(deps, order)]),
  );
  const refuse = ({ lease, order, intent }: Transition): Committed | 'lost' | null => {
    if (!held.has(lease.key)) return 'lost';
    const denial = order === undefined ? null : (denials.get(order) ?? null);
    if (denial !== null) return { ok: false, reason: 'denied', denial };
    const other = intent && standing.find((one) => isSameSignalOf(one, intent.trade));
    return other === undefined ? null : { ok: false, reason: 'already-traded', standing: other };
  };
  const judged = all.map((transition): Transition | Exclude<Committed, { ok: true }> | 'lost' => {
    const refused = refuse(transition);
    return refused === 'lost' || refused?.ok === false ? refused : keepWithinLimits(book, transition);
  });
  const accepted = judged.filter((one): one is Transition => one !== 'lost' && !('ok' in one));
  const { canaries } = permissions;
  const written = accepted.length === 0 ? null : await write(deps, tx, { accepted, accounts, canaries, now });
  return judged.map((one): Committed | 'lost' => {
    if (one === 'lost' || 'ok' in one) return one;
    const { intent, trade } = one;
    const found = intent && written?.planned.get(intent.trade.id);
    const isStopped = trade !== undefined && written?.stopped.has(trade.id) === true;
    return { ok: true, planned: intent && found ? { intent, ...found } : null, isStopped };
  });
}

/** Clocks that are too far apart, as the exchange showed last before the order was to leave. */
function denyClockOf(
  { exchanges }: Pick<TransitionDeps, 'exchanges'>,
  { exchangePlatform }: OrderAtExchange,
): Denial | null {
  const platform = exchanges.supported.find((one) => one === exchangePlatform);
  if (platform === undefined) return null;
  return denyClock(exchanges.get(platform));
}

/** The transition, with a smaller order where a limit makes it fit; or why a limit denies it. */
function keepWithinLimits(
  book: EntryBook | null,
  transition: Transition,
): Transition | Extract<Committed, { reason: 'denied' }> {
  const { order, intent } = transition;
  if (book === null || order === undefined) return transition;
  const denied = (denial: Denial) => ({ ok: false, reason: 'denied', denial }) as const;
  if (intent === undefined) {
    const admission = book.judge(order, null);
    return admission.ok === false ? denied(admission.denial) : transition;
  }
  const admission = book.judge(order, sizeOf(intent));
  if (admission.ok === false) return denied(admission.denial);
  if (admission.ok === true) {
    book.add(order, sizeOf(intent));
    return transition;
  }
  const fitting = intent.fit?.(admission.room);
  if (fitting?.intent === undefined) return denied(admission.otherwise);
  const again = book.judge(order, sizeOf(fitting.intent));
  if (again.ok !== true) return denied(again.ok === false ? again.denial : again.otherwise);
  book.add(order, sizeOf(fitting.intent));
  return fitting;
}

const sizeOf = ({ trade, equity }: OrderIntent) => ({ ...trade, quantity: trade.plannedQuantity, equity });

export const tradeKey = (tradeId: string) => `trade:${tradeId}`;

type SignalOfUser = Pick<TradeRow, 'signalId' | 'userId'>;
const isSameSignalOf = (one: SignalOfUser, other: SignalOfUser) =>
  one.signalId === other.signalId && one.userId === other.userId;

interface AccountId {
  [field: string]: unknown;
  userId: string;
  exchangePlatform: string;
  accountId: string | null;
}

/** The accounts of the stored keys: until an order is settled, only a key of the same account may replace its key. */
async function listAccountIds(
  tx: Tx,
  owners: readonly Pick<TradeRow, 'userId' | 'exchangePlatform'>[],
): Promise<AccountId[]> {
  const wanted = owners.map(({ userId, exchangePlatform }) => ({ userId, exchangePlatform }));
  const { rows } = await tx.execute<AccountId>(sql`
    select user_id as "userId", exchange_platform as "exchangePlatform", account_id as "accountId"
    from exchange_credentials
    join json_to_recordset(${JSON.stringify(wanted)}::json) as wanted ("userId" uuid, "exchangePlatform" text)
      on user_id = wanted."userId" and exchange_platform = wanted."exchangePlatform"`);
  return rows;
}

/** Statements that do not need each other's answers, sent together; each is one for all transitions. */
async function write(
  deps: TransitionDeps,
  tx: Tx,
  {
    accepted,
    accounts,
    canaries,
    now,
  }: {
    accepted: readonly Transition[];
    accounts: AccountId[];
    canaries: readonly WaitingCanary[];
    now: Date;
  },
): Promise<{
  planned: Map<string, { exchangeAccountId: string | null; lease: Lease | null }>;
  /** The changed trades for which new entries are stopped. */
  stopped: Set<string>;
}> {
  const pick = <Part>(partOf: (transition: Transition) => Part | undefined): Part[] =>
    accepted.flatMap((one) => partOf(one) ?? []);
  // Begins when it is called, so that rows come before those that refer to them.
  const send = (isNeeded: boolean, statement: () => SQL) =>
    isNeeded ? tx.execute(statement()).execute() : undefined;

  const calculations = pick(({ calculation }) => calculation);
  const intents = pick(({ intent }) => intent);
  const newAttempts = [...intents.map(({ attempt }) => attempt), ...pick(({ newAttempt }) => newAttempt)];
  const attempts = pick(({ attempt }) => attempt);
  const changedTrades = pick(({ trade }) => trade);
  const events = accepted
    .flatMap((one) => one.events ?? [])
    .map((event) => ({ id: timeOrderedId(), ...event }));
  const notices = accepted.flatMap((one) => one.notices ?? []);
  const closes = accepted.flatMap((one) => one.closes ?? []);
  const clears = pick(({ clears: cleared }) => cleared);
  const followers = intents.flatMap(({ trade, follower }) => {
    return follower === 'job' ? [] : [{ key: tradeKey(trade.id), holder: follower.holder }];
  });
  const taking = [...Map.groupBy(followers, ({ holder }) => holder)].map(([holder, of]) =>
    acquireLeases({ db: tx, keys: of.map(({ key }) => key), holder }),
  );
  const newTrades = intents.map(({ trade }) => withAccount(trade, accounts));
  let stopped: Set<string> = new Set();
  await Promise.all([
    ...taking,
    send(calculations.length > 0, () => insertRows(positionGeneratorLogs, calculations, FIRST_COUNTS)),
    writeDecisions(tx, { secretBox: deps.secretBox, made: pick(({ decision }) => decision) }),
    send(newTrades.length > 0, () => insertRows(trades, newTrades)),
    send(newAttempts.length > 0, () => insertRows(orderAttempts, newAttempts)),
    attempts.length > 0 && changeAttempts(tx, attempts),
    changeTrades(tx, { changes: changedTrades, now }).then((found) => {
      stopped = found;
    }),
    send(closes.length > 0, () => insertRows(positionCloses, closes)),
    send(events.length > 0, () => withNotices(notices, insertRows(tradeEvents, events))),
    events.length === 0 && noteEvents(tx, notices),
    writeSteps(
      tx,
      accepted.flatMap(({ steps }) => steps ?? []),
    ),
    clears.length > 0 && clearHalts(tx, { positions: clears, now, audit: deps.audit }),
    ...pick(({ audit }) => audit).map((entry) => deps.audit.record(tx, entry)),
    endParts(deps, tx, accepted, now),
    sendJobs(deps, tx, accepted),
    startCanaries(deps, tx, { accepted, canaries, now }),
    releaseLeases(
      tx,
      accepted.flatMap(({ lease, releases }) => (releases ? [lease] : [])),
    ),
  ]);
  const taken = new Map((await Promise.all(taking)).flat().map((lease) => [lease.key, lease]));
  const planned = newTrades.map(
    ({ id, exchangeAccountId }) =>
      [id, { exchangeAccountId, lease: taken.get(tradeKey(id)) ?? null }] as const,
  );
  return { planned: new Map(planned), stopped };
}

/**
 * Changes the trades; returns those for which new entries are stopped. A stop that this does not see calls the trade up
 * to be cancelled after this has committed: the row of the lease is locked.
 */
async function changeTrades(
  tx: Tx,
  { changes, now }: { changes: readonly Required<Transition>['trade'][]; now: Date },
): Promise<Set<string>> {
  if (changes.length === 0) return new Set();
  const isStopped = isStoppedTrade(now, sql`known`);
  const statement = sql`${updateRows(trades, changes)}, ${isStopped} as "isStopped"`;
  const { rows } = await tx.execute<{ id: string; isStopped: boolean }>(statement).execute();
  return new Set(rows.flatMap((row) => (row.isStopped ? [row.id] : [])));
}

/** Notices ride on a statement that is sent anyway. */
const withNotices = (notices: readonly NoticeEvent[], statement: SQL): SQL =>
  notices.length === 0 ? statement : sql`with noted as (${insertEvents(notices)}) ${statement}`;

const FIRST_COUNTS = sql`on conflict (workflow_id, user_id) do nothing`;

function withAccount(trade: OrderIntent['trade'], accounts: readonly AccountId[]) {
  const { userId, exchangePlatform } = trade;
  const account = accounts.find((one) => one.userId === userId && one.exchangePlatform === exchangePlatform);
  return { ...trade, exchangeAccountId: account?.accountId ?? null };
}

/** I6: a state is left only from the state that its worker saw. */
async function changeAttempts(tx: Tx, attempts: readonly Required<Transition>['attempt'][]): Promise<void> {
  const { rows } = await tx.execute(updateRows(orderAttempts, attempts, orderAttempts.state)).execute();
  if (rows.length < attempts.length) throw new AttemptChangedError();
}

/** The batch is halved, so that the transition of the attempt fails by itself. */
class AttemptChangedError extends Error {
  override readonly name = 'AttemptChangedError';
}

async function endParts(
  deps: TransitionDeps,
  tx: Tx,
  accepted: readonly Transition[],
  at: Date,
): Promise<void> {
  const ends = accepted.flatMap(({ userEnd }) => userEnd ?? []);
  const late = await endUsers(tx, { deps, ends, at, processorName: processorName(deps) });
  const called = ends.filter((end) => end.orCall && late.includes(end));
  if (called.length === 0) return;
  await deps.jobs.send(
    tx,
    'trade-user',
    called.map(({ workflowId, userId }) => ({ workflowId, userId })),
  );
}

/** The first announced order of a canary begins its time; the call at its end is for workers that have died. */
async function startCanaries(
  { jobs }: TransitionDeps,
  tx: Tx,
  {
    accepted,
    canaries,
    now,
  }: { accepted: readonly Transition[]; canaries: readonly WaitingCanary[]; now: Date },
): Promise<void> {
  const announced = new Set(
    accepted.flatMap(({ order, attempt }) => (attempt?.set.submittedAt == null ? [] : [order?.workflowId])),
  );
  for (const { workflowId, withinSeconds, isRunning } of canaries) {
    if (isRunning || !announced.has(workflowId)) continue;
    const waitMs = withinSeconds * 1_000;
    await tx
      .update(workflows)
      .set({ canaryDueAt: new Date(now.getTime() + waitMs) })
      .where(and(eq(workflows.id, workflowId), isNull(workflows.canaryDueAt)));
    await jobs.send(tx, 'trade-wave', { workflowId }, { waitMs });
  }
}

async function sendJobs(deps: TransitionDeps, tx: Tx, accepted: readonly Transition[]): Promise<void> {
  const planned = accepted.flatMap(({ intent }) =>
    intent?.follower === 'job' ? [{ tradeId: intent.trade.id, waitMs: 0 }] : [],
  );
  const wakes = [...planned, ...accepted.flatMap((one) => one.wakes ?? [])];
  const waitMs = new Map(wakes.map((one) => [one.tradeId, one.waitMs]));
  await deps.jobs.send(
    tx,
    'advance-trade',
    wakes.map(({ tradeId }) => ({ tradeId })),
    { waitMs: ({ tradeId }) => waitMs.get(tradeId) ?? 0 },
  );
  await deps.jobs.send(
    tx,
    'trade-user',
    accepted.flatMap(({ calls }) => calls ?? []),
  );
}
