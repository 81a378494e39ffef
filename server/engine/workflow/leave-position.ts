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
import { endClosing } from '#server/engine/orders/close-position.ts';
import { closeUntilDone, isClosed } from '#server/engine/orders/close-until-done.ts';
import { openTradeAccount } from '#server/engine/orders/trade-account.ts';
import { findOwnTrade } from '#server/engine/protection/find-own-trade.ts';
import {
  closeTrade,
  listOpenTrades,
  type OpenTrade,
  sumPartialCloses,
} from '#server/engine/protection/positions.store.ts';
import { describeHidden, tradesOfAccount } from '#server/engine/protection/trades-of-account.ts';
import { addTimeline, findWorkingTrade } from '#server/engine/records/trades.store.ts';
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
}

/** What became of the position: `done` was closed as far as the signal says. */
type Left =
  | { outcome: 'done'; text: string; closed: string; side: 'long' | 'short'; left: string }
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
  const { deps, signal, userId } = run;
  const { token } = signal;
  await awaitEntry(run);
  const { users, input } = await readExitInput(deps, signal);
  const user = users.find(({ id }) => id === userId);
  const meant = new Set(user === undefined ? [] : positionsToLeave(user, input).map((one) => one.tradeId));
  const platforms = deps.exchanges.supported;
  const before = await listOwnCloses(run);
  const results: Left[] = [];
  // One position at each exchange: one that cannot be reached keeps no other open.
  for (const platform of platforms) {
    const own = before.filter(({ exchangePlatform }) => exchangePlatform === platform);
    const trades = (await listOpenTrades(deps.db, { userId, exchangePlatform: platform })).filter(
      (trade) => meant.has(trade.id) || own.some(({ tradeId }) => tradeId === trade.id),
    );
    if (trades.length === 0) continue;
    const left = await leaveAt(run, { platform, trades, before: own }).catch(asExchangeError);
    results.push(left instanceof ExchangeError ? failed(token, left.message) : left);
  }
  const told =
    results.find(({ outcome }) => outcome === 'failed') ??
    results.find(({ outcome }) => outcome === 'done') ??
    results[0];
  if (told !== undefined) return told;
  const done = finished(before);
  return done ?? { outcome: 'skipped', reason: `The position in ${token} was closed before` };
}

type OwnClose = typeof positionCloses.$inferSelect;

/** The closing orders of this workflow for the user, oldest first: the first one says what the plan was. */
const listOwnCloses = ({ deps, workflow, userId }: LeaveRun): Promise<OwnClose[]> =>
  deps.db
    .select()
    .from(positionCloses)
    .where(and(eq(positionCloses.userId, userId), eq(positionCloses.workflowId, workflow.id)))
    .orderBy(asc(positionCloses.id));

/** The result of an interrupted run whose orders have closed everything; null when something is left to do. */
function finished(closes: readonly OwnClose[]): Left | null {
  const [first] = closes;
  const isSettled = closes.every(({ state }) => state === 'closed' || state === 'refused');
  const last = closes.findLast(({ state, error }) => state === 'closed' && error === null);
  if (first === undefined || last === undefined || !isSettled) return null;
  return done({
    side: first.side,
    closed: plannedQuantity(closes),
    left: last.leftQuantity ?? '0',
    token: first.token,
  });
}

/** Of the first step's orders: more than one where the contract's largest market order is smaller. */
const plannedQuantity = (closes: readonly OwnClose[]): string =>
  toPlain(
    closes
      .filter(({ createdAt }) => createdAt.getTime() === closes[0]?.createdAt.getTime())
      .reduce((sum, { quantity }) => sum.plus(quantity), D(0)),
  );

function done(of: {
  side: 'long' | 'short';
  closed: string;
  left: string;
  token: string;
  but?: string;
}): Left {
  const { side, token, but } = of;
  const [closed, left] = [toPlain(of.closed), toPlain(of.left)];
  const rest = D(left).gt(0) ? `, ${left} stays open` : '';
  const text = `${closed} ${token} of the ${side} position closed${rest}${but === undefined ? '' : `, but ${but}`}`;
  return { outcome: 'done', text, closed, side, left };
}

/** Only an order at work can still open something; one that is protecting or closing its position cannot. */
async function awaitEntry({ deps, signal: { token }, userId }: LeaveRun): Promise<void> {
  const deadline = deps.clock.monotonicMs() + ENTRY_PATIENCE_MS;
  for (;;) {
    const trade = await findWorkingTrade(deps.db, { userId, token });
    if (trade?.state !== 'working') return;
    if (deps.clock.monotonicMs() > deadline) {
      throw new ExchangeError('retry-later', `an entry order in ${token} is still being worked on`);
    }
    await deps.clock.sleep(ENTRY_POLL_MS);
  }
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
  const position = await exchange.fetchPosition(account, token, { priority: 'protect' });
  if (position === null) return await endFlat(run, { exchange, account, before });
  const ended = finished(before);
  if (ended === null) return await closeOurs(run, { exchange, account, position, here, before });
  const { userId } = newest;
  const trade = await findOwnTrade(deps, { userId, exchange, account, candidates: here, position });
  // The run that closed it may have been interrupted before it wrote this down.
  if (trade !== null && isWhole(run)) await endTrade(run, { trade, left: position.quantity });
  return ended;
}

const failed = (token: string, why: string): Left => ({
  outcome: 'failed',
  reason: `The position in ${token} could not be closed: ${why}`,
});

async function endFlat(
  { deps, signal: { token } }: LeaveRun,
  { exchange, account, before }: { exchange: Exchange; account: UserAccount; before: OwnClose[] },
): Promise<Left> {
  const but = await endClosing(deps, { exchange, account, token });
  const [first] = before;
  // A process may have ended between its close and the record of the close.
  if (first !== undefined) {
    return done({
      side: first.side,
      closed: plannedQuantity(before),
      left: '0',
      token,
      ...(but === null ? {} : { but }),
    });
  }
  return { outcome: 'skipped', reason: `The position in ${token} was closed before` };
}

async function closeOurs(
  run: LeaveRun,
  of: {
    exchange: Exchange;
    account: UserAccount;
    position: OpenPosition;
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
  const quantity =
    before.length > 0 ? plannedQuantity(before) : toPlain(D(position.quantity).minus(keep ?? '0'));
  const result = await closeUntilDone(deps, {
    exchange,
    account,
    token,
    isMeant: (open) => isSamePosition(position, open),
    keep,
    reason: CLOSE_REASONS.closedBySignal(signal.id),
    workflowId: workflow.id,
    tradeId: trade.id,
    lease,
  });
  if (!isClosed(result)) return failed(token, 'message' in result ? result.message : result.outcome);
  const left = result.outcome === 'kept' ? result.left : '0';
  if (isWhole(run) && D(left).gt(0)) await endTrade(run, { trade, left });
  const note = result.outcome === 'leftovers' ? result.message : but;
  return done({
    side: sideOpenedBy(trade.side),
    closed: quantity,
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
    closed: await sumPartialCloses(deps.db, trade.id),
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
