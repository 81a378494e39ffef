import { and, asc, eq } from 'drizzle-orm';
import { D, toPlain } from '#domain/decimal.ts';
import { positionsToLeave } from '#domain/exits/select-exits.ts';
import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import { othersPart } from '#domain/orders/flatten.ts';
import { isSamePosition } from '#domain/orders/held-position.ts';
import { partialClose } from '#domain/orders/partial-close.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { skipMessage } from '#domain/workflow/denials.ts';
import { PER_USER_STEPS } from '#domain/workflow/workflow-lifecycle.ts';
import type { EngineDeps, UserAccount } from '#server/deps.ts';
import { endClosing, type FoundPosition, findPosition } from '#server/engine/orders/close-position.ts';
import { closeUntilDone, isClosed } from '#server/engine/orders/close-until-done.ts';
import { filledByCloses } from '#server/engine/orders/closed-quantity.ts';
import { openTradeAccount } from '#server/engine/orders/trade-account.ts';
import { findOwnTrade } from '#server/engine/protection/find-own-trade.ts';
import {
  closeTrade,
  listOpenTradesOf,
  type OpenTrade,
  sumPartialCloses,
} from '#server/engine/protection/positions.store.ts';
import { describeHidden, tradesOfAccount } from '#server/engine/protection/trades-of-account.ts';
import { addTimeline, listUnfinishedOf } from '#server/engine/records/trades.store.ts';
import { endedStep, processorName, userStep } from '#server/engine/records/workflow-steps.store.ts';
import type { WorkflowRow } from '#server/engine/records/workflows.store.ts';
import {
  asExchangeError,
  type Exchange,
  ExchangeError,
  type OpenPosition,
} from '#server/exchanges/exchange.ts';
import { readExit } from '#server/ingest/read-delivery.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';
import { positionCloses } from '#server/platform/db/schema.ts';
import { type Lease, LeaseLostError } from '#server/platform/jobs/leases.ts';
import { readExitInput } from './select-exits.ts';

/** An entry that is still at work can open the position again: its end is awaited this long. */
const ENTRY_PATIENCE_MS = 20_000;
const ENTRY_POLL_MS = 250;

/** One user's part of the workflow of a signal that leaves, under the user's lease. */
interface LeaveRun {
  deps: EngineDeps;
  signal: SignalRow;
  workflow: Pick<WorkflowRow, 'id'>;
  userId: string;
  /** In the order of trading. */
  position: number;
  lease: Lease;
  /** Read under the lease. */
  facts: LeaveFacts;
}

/** What is known of a user who leaves. */
export interface LeaveFacts {
  /** An entry in the token is at work. */
  isEntering: boolean;
  /** The trades whose positions the signal means. */
  meant: ReadonlySet<string>;
  /** Trades in the token whose position may be open, oldest first. */
  openTrades: readonly OpenTrade[];
  /** The closing orders of this workflow, oldest first. */
  closes: readonly OwnClose[];
}

/** Everything about users who leave, by user. */
export async function readLeaveFacts(
  deps: Pick<EngineDeps, 'db' | 'config'>,
  { signal, workflowId, userIds }: { signal: SignalRow; workflowId: string; userIds: readonly string[] },
): Promise<(userId: string) => LeaveFacts> {
  const { db } = deps;
  const { token } = signal;
  // First: what is read of an entry while it is at work is out of date when it has ended.
  const entering = await listEntering(db, { userIds, token });
  const [{ users, input }, openTrades, closes] = await Promise.all([
    readExitInput(deps, signal, { userIds }),
    listOpenTradesOf(db, { userIds, token }),
    listOwnCloses(db, { workflowId, userIds }),
  ]);
  return (userId) => {
    const user = users.find(({ id }) => id === userId);
    const isOfUser = (row: { userId: string }) => row.userId === userId;
    return {
      isEntering: entering.has(userId),
      meant: new Set(user === undefined ? [] : positionsToLeave(user, input).map((one) => one.tradeId)),
      openTrades: openTrades.filter(isOfUser),
      closes: closes.filter(isOfUser),
    };
  };
}

/** What became of the position: `done` was closed as far as the signal says; `closed` null: how much is not known. */
type Left =
  | { outcome: 'done'; text: string; closed: string | null; side: 'long' | 'short'; left: string }
  | { outcome: 'skipped' | 'failed'; reason: string };

/**
 * Closes or reduces a user's position for a signal, and ends the user's part of the workflow. Reduce-only orders,
 * recorded before they are sent; safe to repeat after a crash. It never closes more than this program opened, and what
 * the first order is to leave open is recorded with it, so that a repetition does not reduce twice.
 */
export async function leavePosition(run: LeaveRun): Promise<void> {
  const { deps } = run;
  const begun = deps.clock.now();
  let left: Left;
  try {
    left = await leave(run);
  } catch (error) {
    if (error instanceof LeaseLostError) return;
    if (!(error instanceof ExchangeError)) throw error;
    left = { outcome: 'failed', reason: `The position could not be closed: ${error.message}` };
  }
  await end(run, { left, begun });
}

async function leave(run: LeaveRun): Promise<Left> {
  const { deps, signal } = run;
  const { token } = signal;
  const { meant, openTrades, closes } = run.facts.isEntering ? await awaitEntry(run) : run.facts;
  const platforms = deps.exchanges.supported;
  const results: Left[] = [];
  // One position at each exchange: one that cannot be reached keeps no other open.
  for (const platform of platforms) {
    const isHere = (row: { exchangePlatform: string }) => row.exchangePlatform === platform;
    const before = closes.filter(isHere);
    const trades = openTrades
      .filter(isHere)
      .filter((trade) => meant.has(trade.id) || before.some(({ tradeId }) => tradeId === trade.id));
    if (trades.length + before.length === 0) continue;
    const left =
      trades.length > 0
        ? await leaveAt(run, { platform, trades, before }).catch(asExchangeError)
        : await endAt(run, { platform, before });
    results.push(left instanceof ExchangeError ? failed(token, left.message) : left);
  }
  return (
    results.find(({ outcome }) => outcome === 'failed') ??
    results.find(({ outcome }) => outcome === 'done') ??
    results[0] ??
    closedBefore(token)
  );
}

const closedBefore = (token: string): Left => ({
  outcome: 'skipped',
  reason: `The position in ${token} was closed before`,
});

/** No position of ours is open at this exchange any more: an interrupted run may have closed it. */
async function endAt(
  run: LeaveRun,
  { platform, before }: { platform: ExchangePlatform; before: OwnClose[] },
): Promise<Left> {
  const { deps, userId } = run;
  const account = await deps.findAccount(userId, platform, { evenRejected: true });
  const exchange = deps.exchanges.get(platform);
  const closed = account === null ? null : await filledOf(run, { exchange, account, closes: before });
  return ended(run, { closes: before, closed, left: leftBy(before) });
}

type OwnClose = typeof positionCloses.$inferSelect;

/** The closing orders of a workflow for these users, oldest first: a user's first says what was to stay open. */
const listOwnCloses = (
  db: EngineDeps['db'],
  { workflowId, userIds }: { workflowId: string; userIds: readonly string[] },
): Promise<OwnClose[]> =>
  db
    .select()
    .from(positionCloses)
    .where(and(isOneOf(positionCloses.userId, userIds), eq(positionCloses.workflowId, workflowId)))
    .orderBy(asc(positionCloses.id));

const listClosesAt = async (
  { deps, workflow, userId }: LeaveRun,
  { platform }: Pick<Exchange, 'platform'>,
): Promise<OwnClose[]> =>
  (await listOwnCloses(deps.db, { workflowId: workflow.id, userIds: [userId] })).filter(
    ({ exchangePlatform }) => exchangePlatform === platform,
  );

/** Whether an interrupted run has closed everything, and nothing is left to do. */
const isFinished = (closes: readonly OwnClose[]): boolean =>
  closes.every(({ state }) => state === 'closed' || state === 'refused') && closes.some(isComplete);

const isComplete = ({ state, error }: OwnClose): boolean => state === 'closed' && error === null;

const leftBy = (closes: readonly OwnClose[]): string => closes.findLast(isComplete)?.leftQuantity ?? '0';

/** What these closing orders have closed; null when the exchange does not tell. */
async function filledOf(
  { deps, signal: { token }, userId }: LeaveRun,
  { exchange, account, closes }: { exchange: Exchange; account: UserAccount; closes: readonly OwnClose[] },
): Promise<string | null> {
  const filled = await filledByCloses(exchange, { account, token, closes }).catch(asExchangeError);
  if (!(filled instanceof ExchangeError)) return filled;
  deps.log.warn({ err: filled, userId, token }, 'what closing orders have filled could not be read');
  return null;
}

/** The result of orders that an interrupted run has sent: nothing, when the position was closed without them. */
function ended(
  { signal: { token } }: LeaveRun,
  of: { closes: readonly OwnClose[]; closed: string | null; left: string; but?: string | null },
): Left {
  const [first] = of.closes;
  const { closed, left, but = null } = of;
  if (first === undefined || (closed !== null && D(closed).lte(0))) return closedBefore(token);
  return done({ side: first.side, closed, left, token, ...(but === null ? {} : { but }) });
}

function done(of: {
  side: 'long' | 'short';
  closed: string | null;
  left: string;
  token: string;
  but?: string;
}): Left {
  const { side, token, but } = of;
  const left = toPlain(of.left);
  const closed = of.closed === null ? null : toPlain(of.closed);
  const isLeft = D(left).gt(0);
  const rest = isLeft ? `, ${left} stays open` : '';
  const what =
    closed === null
      ? `The ${side} position in ${token} was ${isLeft ? 'reduced' : 'closed'}${rest}, and how much of it this signal has closed is not known`
      : `${closed} ${token} of the ${side} position closed${rest}`;
  return { outcome: 'done', text: but === undefined ? what : `${what}, but ${but}`, closed, side, left };
}

/** Only an order at work can still open something; one that is protecting or closing its position cannot. */
async function awaitEntry({ deps, signal, workflow, userId }: LeaveRun): Promise<LeaveFacts> {
  const deadline = deps.clock.monotonicMs() + ENTRY_PATIENCE_MS;
  const { token } = signal;
  const userIds = [userId];
  while ((await listEntering(deps.db, { userIds, token })).has(userId)) {
    if (deps.clock.monotonicMs() > deadline) {
      throw new ExchangeError('retry-later', `an entry order in ${token} is still being worked on`);
    }
    await deps.clock.sleep(ENTRY_POLL_MS);
  }
  return (await readLeaveFacts(deps, { signal, workflowId: workflow.id, userIds }))(userId);
}

/** The users whose newest unfinished trade in the token is an order at work. */
async function listEntering(
  db: EngineDeps['db'],
  { userIds, token }: { userIds: readonly string[]; token: string },
): Promise<Set<string>> {
  const newest = await listUnfinishedOf(db, { userIds, token });
  return new Set(newest.filter(({ state }) => state === 'working').map(({ userId }) => userId));
}

async function leaveAt(
  run: LeaveRun,
  of: { platform: ExchangePlatform; trades: OpenTrade[]; before: OwnClose[] },
): Promise<Left> {
  const { deps, signal } = run;
  const { token } = signal;
  const { platform, trades, before } = of;
  const [newest] = trades.slice(-1);
  if (newest === undefined) return { outcome: 'skipped', reason: `No position in ${token} is open` };
  const { account, problem } = await openTradeAccount(deps, newest);
  if (account === null) return failed(token, problem ?? 'its account is not known');
  const { here, hidden } = tradesOfAccount(deps, trades, account);
  if (here.length === 0) return failed(token, describeHidden(hidden));
  const exchange = deps.exchanges.get(platform);
  const found = await findPosition(deps, { exchange, account, token });
  const { position } = found;
  if (position === null) return await endFlat(run, { exchange, account, before });
  if (!isFinished(before)) return await closeOurs(run, { exchange, account, position, found, here, before });
  const { userId } = newest;
  const trade = await findOwnTrade(deps, { userId, exchange, account, candidates: here, position });
  // The run that closed it may have been interrupted before it wrote this down.
  if (trade !== null && isWhole(run)) await endTrade(run, { trade, left: position.quantity });
  const closed = await filledOf(run, { exchange, account, closes: before });
  return ended(run, { closes: before, closed, left: leftBy(before) });
}

const failed = (token: string, why: string): Left => ({
  outcome: 'failed',
  reason: `The position in ${token} could not be closed: ${why}`,
});

async function endFlat(
  run: LeaveRun,
  { exchange, account, before }: { exchange: Exchange; account: UserAccount; before: OwnClose[] },
): Promise<Left> {
  const { deps, signal } = run;
  const but = await endClosing(deps, { exchange, account, token: signal.token });
  // A process may have ended between its close and the record of the close.
  const closed = await filledOf(run, { exchange, account, closes: before });
  return ended(run, { closes: before, closed, left: '0', but });
}

async function closeOurs(
  run: LeaveRun,
  of: {
    exchange: Exchange;
    account: UserAccount;
    position: OpenPosition;
    found: FoundPosition;
    here: OpenTrade[];
    before: OwnClose[];
  },
): Promise<Left> {
  const { deps, signal, workflow, lease } = run;
  const { token } = signal;
  const { exchange, account, position, before } = of;
  const { userId } = account;
  const trade = await findOwnTrade(deps, { userId, exchange, account, candidates: of.here, position });
  if (trade === null) {
    const reason = `The ${position.side} position in ${token} that is open now was not opened here and is not touched`;
    return { outcome: 'skipped', reason };
  }
  const planned = before[0]?.keepQuantity ?? null;
  const plan = before.length > 0 ? { keep: planned, but: undefined } : await planClose(run, { ...of, trade });
  if ('reason' in plan) return { outcome: 'skipped', reason: plan.reason };
  const { keep, but } = plan;
  const request = {
    exchange,
    account,
    token,
    isMeant: (open: OpenPosition) => isSamePosition(position, open),
    keep,
    reason: CLOSE_REASONS.closedBySignal(signal.id),
    workflowId: workflow.id,
    tradeId: trade.id,
    lease,
  };
  const result = await closeUntilDone(deps, request, { found: of.found });
  if (!isClosed(result)) return failed(token, 'message' in result ? result.message : result.outcome);
  const left = result.outcome === 'kept' ? result.left : '0';
  // A run before this one may have closed some of it.
  const closed =
    before.length === 0
      ? toPlain(D(position.quantity).minus(left))
      : await filledOf(run, { exchange, account, closes: await listClosesAt(run, exchange) });
  if (isWhole(run) && D(left).gt(0)) await endTrade(run, { trade, left });
  const note = result.outcome === 'leftovers' ? result.message : but;
  return done({
    side: sideOpenedBy(trade.side),
    closed,
    left,
    token,
    ...(note === undefined ? {} : { but: note }),
  });
}

/** How much stays open; null: nothing. `but` names what was not opened here. */
async function planClose(
  { signal, deps }: LeaveRun,
  of: { exchange: Exchange; position: OpenPosition; trade: OpenTrade },
): Promise<{ keep: string | null; but: string | undefined } | { reason: string }> {
  const { token } = signal;
  const { exchange, position, trade } = of;
  const percent = readExit(signal)?.percent ?? null;
  if (percent === null) return { reason: 'The signal does not say by how much the position is reduced' };
  const others = othersPart({
    held: position.quantity,
    filled: trade.filledQuantity,
    closed: trade.leftQuantity === null ? '0' : await sumPartialCloses(deps.db, trade.id),
    left: trade.leftQuantity,
  });
  const own = D(position.quantity).minus(others);
  const othersStay = D(others).gt(0);
  const but = othersStay ? `${others} was not opened here and is not touched` : undefined;
  if (own.lte(0)) return { reason: `Nothing of the position in ${token} was opened here` };
  if (D(percent).eq(100)) return { keep: othersStay ? others : null, but };
  const rules = await exchange.fetchContract(token, { priority: 'protect' });
  if (rules === null) return { reason: `${exchange.platform} lists no contract for ${token}` };
  const part = partialClose({ quantity: toPlain(own), percent, rules });
  if (!part.isPossible) return { reason: `Not reduced: ${part.reason}` };
  return { keep: toPlain(D(others).plus(part.keep)), but };
}

const isWhole = ({ signal }: LeaveRun): boolean => readExit(signal)?.percent === '100';

/** What stays is not ours: the trade's position has ended. */
async function endTrade(
  { deps, signal: { token } }: LeaveRun,
  { trade, left }: { trade: OpenTrade; left: string },
): Promise<void> {
  const at = deps.clock.now();
  const text = `What was opened here is closed; ${left} ${token} stays, which was not opened here`;
  await deps.db.transaction(async (tx) => {
    if (await closeTrade(tx, trade.id, at)) await addTimeline(tx, { tradeId: trade.id, at, text });
  });
}

/** Ends the user's part of the workflow. */
async function end(run: LeaveRun, { left, begun }: { left: Left; begun: Date }): Promise<void> {
  const { deps, signal, workflow, userId, position, lease } = run;
  const at = deps.clock.now();
  const task = { workflowId: workflow.id, userId, position };
  const inputData = { userId, token: signal.token, action: signal.action };
  const about = { inputData, processorName: processorName(deps), at: begun };
  const [loading, planning, submitting] = PER_USER_STEPS.map(({ type }) => userStep(type, task, about));
  if (loading === undefined || planning === undefined || submitting === undefined) return;
  const loaded = endedStep(loading, { status: 'completed', outputData: { userId }, at });
  const { workflowId } = task;
  if (left.outcome === 'done') {
    const { outcome: _, ...outputData } = left;
    await deps.transitions.commit({
      lease,
      steps: [
        loaded,
        endedStep(planning, { status: 'completed', outputData, at }),
        endedStep(submitting, { status: 'completed', outputData, at }),
      ],
      userEnd: { workflowId, userId, outcome: 'success', orCall: false },
      releases: true,
    });
    return;
  }
  const { outcome, reason } = left;
  const errorMessage = outcome === 'skipped' ? skipMessage(reason) : reason;
  await deps.transitions.commit({
    lease,
    steps: [loaded, endedStep(planning, { status: 'failed', errorMessage, at })],
    userEnd: { workflowId, userId, outcome, orCall: false },
    releases: true,
  });
}
