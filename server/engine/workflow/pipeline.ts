import { isPositive } from '#domain/decimal.ts';
import type { EligibilityDecision, EligibilityResult } from '#domain/eligibility/eligibility.ts';
import type { EligibilityUser } from '#domain/eligibility/eligibility-rules.ts';
import { rotateUsers } from '#domain/eligibility/rotation.ts';
import { autoTradeOff } from '#domain/eligibility/trading-mode.ts';
import type { ExitUser } from '#domain/exits/select-exits.ts';
import { CANDLE_WAIT_MS } from '#domain/sizing/bar-candle.ts';
import type { PriceLogCandidate } from '#domain/sizing/price-log-match.ts';
import { signalPriceDeviates } from '#domain/sizing/reference-price.ts';
import {
  explainFailure,
  type FailureExplanation,
  isSignalExpired,
  isSignalTooOld,
  OLDEST_SIGNAL_DAYS,
  type PipelineStepType,
} from '#domain/workflow/workflow-lifecycle.ts';
import type { EngineDeps } from '#server/deps.ts';
import { exitRecord, selectionRecord } from '#server/engine/records/decision-record.ts';
import { type Decision, writeDecisions } from '#server/engine/records/decisions.store.ts';
import { acquireOwnSlot, acquireSlot } from '#server/engine/records/processing-slots.store.ts';
import { listUnsettledUsers, listWorkingTrades } from '#server/engine/records/trades.store.ts';
import { writeEligibility } from '#server/engine/records/workflow-users.store.ts';
import {
  type FoundWorkflow,
  isLeaveWaiting,
  startCanary,
  takeRotation,
  type WorkflowRow,
} from '#server/engine/records/workflows.store.ts';
import { findMatch, isBarCandleDue } from '#server/engine/sizing/match-price-log.ts';
import { readExit } from '#server/ingest/read-delivery.ts';
import { isEntry, type SignalRow } from '#server/ingest/stored-signals.ts';
import { isDue } from '#server/platform/clock.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { type CurrentPrice, readCurrentPrices } from './current-prices.ts';
import { unsettledLimits } from './follow-trade.ts';
import { selectUsersToLeave } from './select-exits.ts';
import { selectUsersToTrade } from './select-users.ts';

export interface PipelineWork {
  deps: EngineDeps;
  workflow: WorkflowRow & { startedAt: Date };
  signal: SignalRow;
  strategy: Pick<FoundWorkflow, 'canary' | 'rotation'>;
  /** Outputs of the earlier steps; read from their rows after a restart. */
  outputs: Map<PipelineStepType, unknown>;
  /** Inputs of later steps that depend on the signal only, once a read has started. */
  prefetched: Prefetched | null;
  /**
   * Commits the steps so far, the one in progress included, and what `also` writes; throws LeaseLostError and writes
   * nothing if the lease was taken over. Without it a step is committed with the next one that is.
   */
  commit: <Result>(also: (tx: Tx) => Promise<Result>) => Promise<Result>;
}

interface Prefetched {
  match: Promise<Match>;
  prices: Promise<CurrentPrice[]>;
}

/** `isDue`: the candle of the signal's bar is about to come, and `log` is an older one. */
type Match = { isDue: false; log: PriceLogCandidate | null } | { isDue: true };

/** `writes`: what becomes true in the transaction that writes the end of the step. */
export type StepOutcome = { writes?: (tx: Tx) => Promise<void> } & (
  | { kind: 'completed'; output: unknown }
  /** The step goes on, and its users' part ends it. */
  | { kind: 'handed-over' }
  | { kind: 'failed' | 'aborted'; failure: FailureExplanation }
  /** Nothing to do: completes the workflow. */
  | { kind: 'skipped'; output: unknown }
  /** The end of another workflow wakes this one again, or what `writes` and `afterwards` arrange. */
  | { kind: 'waiting'; metadata: unknown; afterwards?: () => void }
);

interface PipelineStep {
  input: (work: PipelineWork) => unknown;
  run: (work: PipelineWork) => Promise<StepOutcome>;
}

/** The steps of a workflow, one small function each. */
export const PIPELINE: Record<PipelineStepType, PipelineStep> = {
  signal_validation: {
    input: ({ signal, workflow }) => ({
      signalId: signal.id,
      token: signal.token,
      action: signal.action,
      price: signal.price,
      timeframe: signal.timeframe,
      processor: signal.processor,
      receivedAt: signal.receivedAt,
      trigger: workflow.trigger,
    }),
    run: async (work) => expired(work) ?? invalid(work) ?? { kind: 'completed', output: { valid: true } },
  },

  environment_check: {
    input: ({ deps: { config } }) => ({
      environment: config.appEnv,
      autoTrade: config.autoTrade.enabled ? 'enabled' : 'disabled',
      exchangeMode: config.exchangeMode,
    }),
    run: async (work) => {
      const automaticTrading = autoTradeOff(work.deps.config) === null;
      const { trigger } = work.workflow;
      return switchedOff(work) ?? { kind: 'completed', output: { automaticTrading, trigger } };
    },
  },

  processing_slot: {
    input: ({ workflow }) => ({ token: workflow.token }),
    run: async (work) => {
      const { deps, workflow, signal } = work;
      // Own signals often wait: a burst of them must not read prices.
      if (!workflow.isOwn) prefetch(work);
      const { id: workflowId, token } = workflow;
      const slot = await work.commit(async (tx) => {
        const wanted = { workflowId, token, at: deps.clock.now() };
        const own = { ...wanted, ownerId: signal.ownerUserId, enters: isEntry(signal) };
        const taken = await (workflow.isOwn ? acquireOwnSlot(tx, own) : acquireSlot(tx, wanted));
        // Entries that rest end now, and with them the workflow that this one waits for.
        if (!taken.acquired && !isEntry(signal)) await wakeEntries(tx, deps, { token, ...taken });
        if (!taken.acquired && !isEntry(signal) && 'waitingFor' in taken)
          await callHeldUp(tx, deps, { workflow, waitingFor: taken.waitingFor });
        return taken;
      });
      if (!slot.acquired && 'unfinished' in slot) {
        const context = { unfinished: String(slot.unfinished) };
        return { kind: 'failed', failure: explainFailure('TOO_MANY_OWN_SIGNALS', context) };
      }
      if (!slot.acquired) return { kind: 'waiting', metadata: { waitingFor: slot.waitingFor } };
      // During the wait the signal may have expired, or a restart may have turned automatic trading off.
      return expired(work) ?? switchedOff(work) ?? { kind: 'completed', output: { token: workflow.token } };
    },
  },

  price_log_match: {
    input: ({ signal }) => ({
      token: signal.token,
      timeframe: signal.timeframe,
      processor: signal.processor,
      signalTime: signal.signalTimeServer ?? signal.receivedAt,
    }),
    run: async (work) => {
      const prefetched = await prefetch(work).match;
      // The candle may have come since.
      const match = prefetched.isDue ? await readMatch(work) : prefetched;
      if (match.isDue) return waitForCandle(work);
      const { log } = match;
      const output = { priceLogId: log?.id ?? null, candleTime: log?.candleTime ?? null };
      return { kind: 'completed', output };
    },
  },

  current_price: {
    input: ({ signal }) => ({ token: signal.token, signalPrice: signal.price }),
    run: fetchCurrentPrices,
  },

  user_selection: {
    input: ({ signal }) => ({ processor: signal.processor, timeframe: signal.timeframe }),
    run: async (work) => {
      const { deps, signal, workflow } = work;
      const { result: selected, decisions } = await selectOf(deps, signal);
      const result = await inTurn(work, selected);
      const [layer1, layer2, layer3, layer4] = result.layers;
      return {
        kind: 'completed',
        output: {
          currentMode: result.currentMode,
          breakdown: { layer1, layer2, layer3, layer4 },
          eligibleUsers: result.eligible,
        },
        writes: async (tx) => {
          await writeEligibility(tx, workflow.id, result);
          const made = decisions.map((one) => ({ workflowId: workflow.id, ...one }));
          await writeDecisions(tx, { secretBox: deps.secretBox, made });
        },
      };
    },
  },

  user_processing: {
    input: ({ outputs }) => ({ users: eligibleCount(outputs) }),
    run: async ({ deps, workflow, signal, strategy, outputs }) => {
      const eligible = eligibleCount(outputs);
      if (eligible === 0) return { kind: 'skipped', output: { reason: 'No eligible users' } };
      const { id: workflowId, isOwn } = workflow;
      const { canary } = strategy;
      return {
        kind: 'handed-over',
        async writes(tx) {
          // Fewer users than go first: nobody would wait for them.
          if (canary !== null && isEntry(signal) && eligible > canary.users) {
            await startCanary(tx, { workflowId, canary });
          }
          await deps.jobs.send(tx, 'trade-wave', { workflowId }, { isOwn });
        },
      };
    },
  },
};

async function wakeEntries(
  tx: Tx,
  { jobs }: EngineDeps,
  { token, waitingFor }: { token: string; waitingFor?: string },
): Promise<void> {
  // It may wait for a candle.
  if (waitingFor !== undefined) await jobs.send(tx, 'run-workflow', { workflowId: waitingFor });
  const resting = await listWorkingTrades(tx, token);
  await jobs.send(
    tx,
    'advance-trade',
    resting.map((tradeId) => ({ tradeId })),
  );
}

/** Orders that are unsettled for too long are passed; this one looks again when the next of them may be. */
async function callHeldUp(
  tx: Tx,
  { jobs, clock }: EngineDeps,
  {
    workflow: { id: workflowId, isOwn },
    waitingFor,
  }: { workflow: Pick<WorkflowRow, 'id' | 'isOwn'>; waitingFor: string },
): Promise<void> {
  const { heldUpSince } = unsettledLimits(clock.now());
  const unsettled = await listUnsettledUsers(tx, waitingFor);
  const isLate = ({ since }: { since: Date }) => since < heldUpSince;
  const late = unsettled.filter(isLate).map(({ userId }) => ({ workflowId: waitingFor, userId }));
  await jobs.sendMissing(tx, 'trade-user', late);
  const next = unsettled.find((one) => !isLate(one));
  if (next === undefined) return;
  const waitMs = next.since.getTime() - heldUpSince.getTime() + 1;
  await jobs.sendMissing(tx, 'run-workflow', [{ workflowId }], { isOwn, waitMs });
}

/** With rotation, users of the same trading order take turns at being first. */
async function inTurn(
  { deps, signal, strategy }: PipelineWork,
  result: EligibilityResult,
): Promise<EligibilityResult> {
  if (strategy.rotation !== true || !isEntry(signal) || result.eligible.length < 2) return result;
  const turn = await takeRotation(deps.db, signal.processor);
  return { ...result, eligible: rotateUsers(result.eligible, turn) };
}

interface Selection {
  result: EligibilityResult;
  /** The record of each user's decision. */
  decisions: Omit<Decision, 'workflowId'>[];
}

/** The users who trade the signal, or who hold a position that it closes. */
async function selectOf(deps: EngineDeps, signal: SignalRow): Promise<Selection> {
  if (!isEntry(signal)) {
    const { users, input, result } = await selectUsersToLeave(deps, signal);
    const record = (user: ExitUser, made: EligibilityDecision) => exitRecord({ ...input, user }, made);
    return { result, decisions: recordsOf(users, result, record) };
  }
  const { input, result } = await selectUsersToTrade(deps, signal);
  const { users, ...rest } = input;
  const record = (user: EligibilityUser, made: EligibilityDecision) =>
    selectionRecord({ ...rest, user }, made);
  return { result, decisions: recordsOf(users, result, record) };
}

function recordsOf<User extends { id: string }>(
  users: readonly User[],
  { decisions }: EligibilityResult,
  record: (user: User, decision: EligibilityDecision) => object,
): Selection['decisions'] {
  const userOf = new Map(users.map((user) => [user.id, user]));
  return decisions.flatMap((decision) => {
    const { userId } = decision;
    const user = userOf.get(userId);
    return user === undefined ? [] : [{ userId, record: record(user, decision) }];
  });
}

/** Starts the reads that need no other step while the token's slot is taken. Their own step reports a failure. */
function prefetch(work: PipelineWork): Prefetched {
  if (work.prefetched === null) {
    const { deps, signal, workflow } = work;
    work.prefetched = {
      match: readMatch(work),
      prices: readCurrentPrices(deps, { workflowId: workflow.id, signal }),
    };
    for (const answer of Object.values(work.prefetched)) answer.catch(() => {});
  }
  return work.prefetched;
}

/** The time that is left for the candle of the signal's bar; null when the signal does not wait. */
function candleWaitMs({ deps, signal }: PipelineWork): number | null {
  // Leaving a position needs no candle.
  if (!isEntry(signal)) return null;
  const now = deps.clock.now();
  const dueAt = new Date(signal.receivedAt.getTime() + CANDLE_WAIT_MS);
  if (isDue({ dueAt, longestWaitMs: CANDLE_WAIT_MS, now })) return null;
  return Math.min(CANDLE_WAIT_MS, dueAt.getTime() - now.getTime());
}

async function readMatch(work: PipelineWork): Promise<Match> {
  const { db } = work.deps;
  const { signal, workflow } = work;
  const mayWait = candleWaitMs(work) !== null;
  // Before the look for the candle: one that comes in between is found.
  if (mayWait && (await isBarCandleDue(db, signal)) && !(await isLeaveWaiting(db, workflow))) {
    return { isDue: true };
  }
  return { isDue: false, log: await findMatch(db, signal) };
}

/** The candle wakes the workflow, or else the end of the wait; the job is for an instance that dies. */
function waitForCandle(work: PipelineWork): StepOutcome {
  const { deps, workflow, signal } = work;
  const { id: workflowId, isOwn } = workflow;
  const waitMs = candleWaitMs(work) ?? 0;
  return {
    kind: 'waiting',
    metadata: { waitingForCandle: true },
    writes: (tx) => deps.jobs.send(tx, 'run-workflow', { workflowId }, { waitMs, isOwn }),
    afterwards: () => deps.candleWaits.expect({ workflowId, isOwn, signal, waitMs }),
  };
}

/** A position is closed however late the signal is processed: leaving only reduces risk. */
function expired({ deps, signal, workflow }: PipelineWork): StepOutcome | null {
  if (workflow.trigger !== 'automatic' || !isEntry(signal)) return null;
  const startsAt = deps.clock.now();
  const maxAgeMinutes = deps.config.signalMaxAgeMinutes;
  if (!isSignalExpired({ receivedAt: signal.receivedAt, startsAt, maxAgeMinutes })) return null;
  const ageMinutes = ((startsAt.getTime() - signal.receivedAt.getTime()) / 60_000).toFixed(1);
  const context = { ageMinutes, maxAgeMinutes: String(maxAgeMinutes) };
  return { kind: 'failed', failure: explainFailure('SIGNAL_EXPIRED', context) };
}

/** A manually triggered workflow does not need automatic trading. */
function switchedOff({ deps, workflow }: PipelineWork): StepOutcome | null {
  const off = workflow.trigger === 'automatic' ? autoTradeOff(deps.config) : null;
  return off === null ? null : { kind: 'aborted', failure: explainFailure('AUTO_TRADING_DISABLED', off) };
}

/** Ingest checks the price; this guards against rows of another origin. */
function invalid({ signal, workflow }: PipelineWork): StepOutcome | null {
  const detail = isPositive(signal.price)
    ? saysNotHowMuch(signal) || (workflow.trigger === 'automatic' && mayRepeatForgotten(signal))
    : `the price ${signal.price} is not above zero`;
  if (detail === false) return null;
  return { kind: 'failed', failure: explainFailure('SIGNAL_INVALID', { detail }) };
}

const saysNotHowMuch = (signal: SignalRow): string | false =>
  readExit(signal)?.percent === null &&
  'the strategy reduces its position, and neither reduce_percent nor the sizes before and after say by how much';

function mayRepeatForgotten({ signalTimeServer: time, receivedAt }: PipelineWork['signal']): string | false {
  if (!isSignalTooOld({ time, receivedAt })) return false;
  return `its own time is more than ${OLDEST_SIGNAL_DAYS} days old, so it may be one that was traded before`;
}

/** Reads the price at every exchange in use. Only a price that is far off at all of them stops the signal. */
async function fetchCurrentPrices(work: PipelineWork): Promise<StepOutcome> {
  const { signal } = work;
  // The monitor shows the step while an exchange is slow.
  const [prices] = await Promise.all([prefetch(work).prices, work.commit(async () => {})]);
  const deviations = prices.flatMap(({ price }) =>
    price === null ? [] : [signalPriceDeviates({ signalPrice: signal.price, livePrice: price })],
  );
  const [first] = deviations;
  if (isEntry(signal) && first != null && deviations.every((one) => one !== null)) {
    const detail = first.reason.replace(/^Signal validation failed: /, '');
    return { kind: 'failed', failure: explainFailure('SIGNAL_INVALID', { detail }) };
  }
  return { kind: 'completed', output: { signalPrice: signal.price, prices } };
}

function eligibleCount(outputs: PipelineWork['outputs']): number {
  const selected = outputs.get('user_selection') as { eligibleUsers?: unknown[] } | undefined;
  return selected?.eligibleUsers?.length ?? 0;
}
