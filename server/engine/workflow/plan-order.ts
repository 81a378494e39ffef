import type { Room } from '#domain/limits/check-entry.ts';
import { fitPosition } from '#domain/limits/fit-position.ts';
import { afterReversal, type Reversal } from '#domain/orders/held-position.ts';
import { denyStopped } from '#domain/orders/trading-stop.ts';
import { readCandleFigures } from '#domain/sizing/candle-figures.ts';
import type { Position, PositionResult } from '#domain/sizing/position.ts';
import type { TradingSettings } from '#domain/user-settings.ts';
import { denyCanary } from '#domain/workflow/canary.ts';
import {
  denyOutdated,
  NOTHING_READ,
  type SizedFrom,
  type SizingOutcome,
  type SizingSeen,
  type Timeliness,
} from '#domain/workflow/decision.ts';
import { type Denial, deny, skipMessage } from '#domain/workflow/denials.ts';
import type { PerUserStepType } from '#domain/workflow/workflow-lifecycle.ts';
import type { EngineDeps } from '#server/deps.ts';
import { isYoung } from '#server/engine/orders/account-reading.ts';
import { commitOrderIntent } from '#server/engine/orders/commit-order-intent.ts';
import type { HeldTrade } from '#server/engine/orders/trade-work.ts';
import { sizingRecord } from '#server/engine/records/decision-record.ts';
import type { Transition } from '#server/engine/records/transitions.ts';
import {
  endedStep,
  processorName,
  type StepStart,
  startedStep,
  type UserTask,
  userStep,
} from '#server/engine/records/workflow-steps.store.ts';
import type { WorkflowRow } from '#server/engine/records/workflows.store.ts';
import {
  type AccountOpening,
  generatePosition,
  type OpenedAccount,
  openAccount,
  planAtMarket,
  readTradeAccount,
  recordOf,
  sizeFromAccount,
} from '#server/engine/sizing/generate-position.ts';
import type { PositionGeneratorLogRow } from '#server/engine/sizing/position-generator.store.ts';
import type { PriceReading } from '#server/engine/sizing/read-price.ts';
import type { OpenPosition } from '#server/exchanges/exchange.ts';
import type { PriceLogRow } from '#server/ingest/stored-price-logs.ts';
import type { EntrySignalRow } from '#server/ingest/stored-signals.ts';
import type { Lease } from '#server/platform/jobs/leases.ts';
import type { AccountReading } from './account-readings.store.ts';
import type { UserFacts } from './claim-wave.ts';
import { resolveBlockers } from './held-position.ts';

/** One user's part of a workflow, under the user's lease. */
export interface UserRun {
  deps: EngineDeps;
  signal: EntrySignalRow;
  /** The candle that belongs to the signal. */
  priceLog: Promise<PriceLogRow | null>;
  workflow: WorkflowRow;
  /** Of the strategy; null: the limit of the program. */
  maxSignalAgeSeconds: number | null;
  /** What happened to the strategy's first users, if that keeps the others from trading. */
  canaryFailed: string | null;
  task: UserTask;
  lease: Lease;
  /** Resolves when the orders of the wave are committed; users who are ready then share a transaction. */
  whenOrdersCommit: () => Promise<void>;
  /** The last step that began. */
  current: StepStart | null;
}

/**
 * Sizes a user's position and commits its order; null when the user was skipped, which is committed too. Committed
 * before anything leaves: the calculation, the trade, its first attempt and the lease under which it is followed.
 */
export async function planOrder(run: UserRun, facts: UserFacts): Promise<HeldTrade | null> {
  const { deps, workflow, signal, task, lease } = run;
  const { settings } = facts;
  const begin = beginner(run);
  const loading = begin('user_settings', { userId: task.userId });
  if (settings === null) {
    await skip(run, { step: loading, reason: deny('settings_not_found', {}).reason });
    return null;
  }
  const loaded = endedStep(loading, { status: 'completed', outputData: settings, at: deps.clock.now() });
  const generating = begin('position_generation', positionInput(signal, settings));
  const seen = seenAtFirst(run, { ...facts, settings });
  const denied = denyAtOnce(run, { facts, seen });
  if (denied !== null) {
    const { reason } = denied.denial;
    const records = newRecords(run, denied, { ok: false, reason });
    const about = { token: signal.token, reversal: facts.reversal };
    await skip(run, {
      step: generating,
      reason: skipReason(reason, about),
      records,
      before: [loaded],
      mayWait: true,
    });
    return null;
  }
  const begun = deps.transitions.commit({ lease, steps: [loaded, startedStep(generating)] });
  const [written, sized] = await Promise.allSettled([
    begun,
    calculateOnce(run, { facts: { ...facts, settings }, seen }),
  ]);
  // A lost lease explains more than the error of work that went on without it.
  if (written.status === 'rejected') throw written.reason;
  if (sized.status === 'rejected') throw sized.reason;
  const calculated = sized.value;
  const { reversal = facts.reversal } = calculated;
  const about = { token: signal.token, reversal };
  if (!calculated.ok) {
    const { reason } = calculated.denial;
    const records = newRecords(run, calculated, { ok: false, reason });
    await skip(run, { step: generating, reason: skipReason(reason, about), records });
    return null;
  }
  const { log } = calculated;
  const { position } = log;
  if (position === null) throw new Error(`the calculation ${log.id} has no position`);
  const generatedAs = (sized: Position) => {
    const outputData = { positionGeneratorLogId: log.id, position: sized };
    return endedStep(generating, { status: 'completed', outputData, at: deps.clock.now() });
  };
  const generated = generatedAs(position);
  const submittingOf = (sized: Position) =>
    begin('order_submission', {
      positionGeneratorLogId: log.id,
      token: signal.token,
      action: signal.action,
      entryPrice: sized.entryPrice,
      quantity: sized.assetQuantity,
      stopLoss: sized.stopLoss,
      takeProfit: sized.takeProfit,
      leverage: sized.leverage,
    });
  const submitting = submittingOf(position);
  await run.whenOrdersCommit();
  const intent = await commitOrderIntent(deps, {
    log,
    position,
    triggerType: workflow.trigger,
    lease,
    place: task.position,
    follower: { holder: deps.config.instanceId },
    accountReadAt: calculated.accountReadAt ?? null,
    equity: calculated.equity ?? null,
    also: {
      ...newRecords(run, calculated, { ok: true, position }),
      steps: [generated, startedStep(submitting)],
      releases: true,
    },
    smaller(room) {
      const fitted = fitPosition(position, room);
      if (fitted === null) return null;
      const records = newRecords(run, fitCalculation(calculated, { room, fitted }), {
        ok: true,
        position: fitted,
      });
      const steps = [generatedAs(fitted), startedStep(submittingOf(fitted))];
      return { position: fitted, also: { ...records, steps, releases: true } };
    },
  });
  if (intent.ok) return intent.held;
  const denial = intent.reason === 'denied' ? intent.denial : deny('already_traded', {});
  const { reason } = denial;
  const known = calculated.seen;
  const refused = { ...calculated, ...(known && { seen: { ...known, refusedAtCommit: reason } }) };
  const records = newRecords(run, refused, { ok: false, reason });
  await skip(run, { step: submitting, reason: skipReason(reason, about), records, before: [generated] });
  return null;
}

/** The same calculation with the position that fits the risk limits. */
function fitCalculation(
  { calculation, seen }: Pick<Calculated, 'calculation' | 'seen'>,
  { room, fitted }: { room: Room; fitted: Position },
): Pick<Calculated, 'calculation' | 'seen'> {
  const { calculationReason, calculationDetail } = fitted;
  return {
    ...(calculation && {
      calculation: { ...calculation, position: fitted, calculationReason, calculationDetail },
    }),
    ...(seen && { seen: { ...seen, fitTo: room } }),
  };
}

type NewRecords = Pick<Transition, 'calculation' | 'decision'>;

/** The records of a new calculation and of a new decision. */
function newRecords(
  { task: { workflowId, userId } }: UserRun,
  { calculation, seen }: Pick<Calculated, 'calculation' | 'seen'>,
  outcome: SizingOutcome,
): NewRecords {
  return {
    ...(calculation && { calculation }),
    ...(seen && { decision: { workflowId, userId, record: sizingRecord(seen, outcome) } }),
  };
}

/** Begins the steps of a user's part. */
function beginner(run: UserRun) {
  const { deps, task } = run;
  return (type: PerUserStepType, inputData: unknown): StepStart => {
    const about = { inputData, processorName: processorName(deps), at: deps.clock.now() };
    run.current = userStep(type, task, about);
    return run.current;
  };
}

/** Ends the user's part without an order. */
async function skip(
  { deps, task: { workflowId, userId }, lease }: UserRun,
  options: {
    step: StepStart;
    reason: string;
    records?: NewRecords;
    before?: Required<Transition>['steps'];
    /** Behind transitions that requests wait for. */
    mayWait?: true;
  },
): Promise<void> {
  const { step, reason, records = {}, before = [], mayWait } = options;
  const ended = endedStep(step, { status: 'failed', errorMessage: reason, at: deps.clock.now() });
  await deps.transitions.commit({
    lease,
    ...records,
    steps: [...before, ended],
    userEnd: { workflowId, userId, outcome: 'skipped', orCall: false },
    releases: true,
    ...(mayWait && { mayWait }),
  });
}

const skipReason = (reason: string, about: { token: string; reversal: Reversal | null }): string =>
  skipMessage(afterReversal(reason, about));

/** The users may have been selected long ago, before an outage or under other settings of the program. */
const timelinessOf = ({
  deps: { clock, config },
  workflow,
  signal,
  maxSignalAgeSeconds,
}: Pick<UserRun, 'deps' | 'workflow' | 'signal' | 'maxSignalAgeSeconds'>): Timeliness => ({
  trigger: workflow.trigger,
  appEnv: config.appEnv,
  autoTrade: config.autoTrade,
  receivedAt: signal.receivedAt,
  startsAt: clock.now(),
  maxAgeMinutes: Math.min(config.signalMaxAgeMinutes, (maxSignalAgeSeconds ?? Infinity) / 60),
});

const positionInput = (signal: EntrySignalRow, settings: TradingSettings) => ({
  token: signal.token,
  action: signal.action,
  signalPrice: signal.price,
  positionSizingMethod: settings.positionSizingMethod,
  investmentPortion: settings.investmentPortion,
  maximumRiskPerTrade: settings.maximumRiskPerTrade,
  exchangePlatform: settings.exchangePlatform,
});

/** Prices are handed out for this long; what the exchange answers may itself be a second old. */
const PRICE_LASTS_MS = 1_000;

const readWorkflowPrice = (
  { deps, signal, workflow, task: { userId } }: UserRun,
  { exchange }: OpenedAccount,
): Promise<PriceReading> => deps.workflowPrices.read({ workflowId: workflow.id, signal, userId }, exchange);

const describeAge = (now: Date, { readAt }: AccountReading): string =>
  `the balance was read ${Math.round((now.getTime() - readAt.getTime()) / 1_000)} s before, when no signal was there yet`;

interface Calculated {
  /** What a new decision saw; undefined when an interrupted run recorded the decision. */
  seen?: SizingSeen;
  /** When the account was read, if that was before the signal. */
  accountReadAt?: Date | null;
  /** Of the reading of the account, in USDT. */
  equity?: string | null;
  /** The record of a new calculation, which is not written yet. */
  calculation?: PositionGeneratorLogRow;
  /** The position closed for this signal, if that changed after it was read. */
  reversal?: Reversal | null;
}

/** A reading of the account made before the signal that can stand in for one made now. */
function findReading(
  { deps }: UserRun,
  { facts, opened }: { facts: UserFacts; opened: OpenedAccount },
): AccountReading | null {
  const { platform, account } = opened;
  if (facts.closingAt.length > 0) return null;
  const found = facts.readings.find(
    ({ exchangePlatform, accountId }) =>
      exchangePlatform === platform && accountId === (account.accountId ?? null),
  );
  return found !== undefined && isYoung(found.readAt, deps.clock.now()) ? found : null;
}

/** What a decision sees before anything is read for it. */
function seenAtFirst(run: UserRun, facts: UserFacts & { settings: TradingSettings }): SizingSeen {
  const { token, action, price } = run.signal;
  return {
    signal: { token, action, price },
    profile: 'automatic',
    settings: facts.settings,
    timeliness: timelinessOf(run),
    alreadyTraded: facts.standing !== null,
    tradingStop: facts.tradingStop,
    canaryFailed: run.canaryFailed,
    accountDenial: null,
    blocker: null,
    ...NOTHING_READ,
    candleId: null,
    priceLog: null,
    refusedAtCommit: null,
    fitTo: null,
  };
}

/**
 * The denial that follows from the facts, before anything is read or closed for the user: begun and ended in one
 * transition, because hundreds of users may be denied together. Null: the decision needs more.
 */
function denyAtOnce(
  run: UserRun,
  { facts, seen }: { facts: UserFacts; seen: SizingSeen },
): (Calculated & { denial: Denial }) | null {
  if (facts.standing !== null || facts.calculation !== null) return null;
  const outdated = denyOutdated(seen.timeliness);
  if (outdated !== null) return { denial: outdated, seen };
  if (facts.tradingStop !== null) return { denial: denyStopped(facts.tradingStop), seen };
  if (run.canaryFailed !== null) return { denial: denyCanary(run.canaryFailed), seen };
  if (facts.closedSince !== null) {
    return { denial: facts.closedSince, seen: { ...seen, blocker: facts.closedSince.reason } };
  }
  return null;
}

/** The position of this workflow and user; reuses one that an interrupted run recorded. */
async function calculateOnce(
  run: UserRun,
  { facts, seen }: { facts: UserFacts & { settings: TradingSettings }; seen: SizingSeen },
): Promise<
  Calculated & ({ ok: true; log: PositionGeneratorLogRow } | { ok: false; denial: Pick<Denial, 'reason'> })
> {
  const { deps, workflow, signal, task, lease } = run;
  const { settings, calculation: recorded } = facts;
  if (facts.standing !== null) {
    return { ok: false, denial: deny('already_traded', {}), ...(recorded === null ? { seen } : {}) };
  }
  if (recorded !== null) {
    if (recorded.success) return { ok: true, log: recorded };
    return { ok: false, denial: { reason: recorded.error ?? 'The position could not be calculated' } };
  }
  const { userId, workflowId } = task;
  const { exchangePlatform } = settings;
  const opened: AccountOpening = await openAccount(deps, { userId, exchangePlatform });
  // The failure of the read is thrown here; the close of a position is awaited in any case.
  const priceLog = await run.priceLog;
  const request = {
    signal,
    priceLog,
    userId,
    settings,
    profile: 'automatic' as const,
    workflowId,
    opened,
    unknownMargin: facts.unknownMargins.get(exchangePlatform) ?? '0',
    ...(opened.ok && { readPrice: () => readWorkflowPrice(run, opened) }),
  };
  const {
    reading: market,
    priceReadAtMs,
    ...planned
  } = opened.ok ? await planAtMarket(deps, opened, request) : { ...opened, reading: null, priceReadAtMs: 0 };
  const ageOf = (readAtMs: number) => Math.round(deps.clock.monotonicMs() - readAtMs);
  const known: SizingSeen = {
    ...seen,
    accountDenial: opened.ok ? null : opened.denial,
    candleId: priceLog?.id ?? null,
    priceLog: priceLog && readCandleFigures(priceLog.parameters),
    market: market && { ...market, priceAgeMs: ageOf(priceReadAtMs) },
  };
  const ahead = opened.ok ? findReading(run, { facts, opened }) : null;
  const read: { position: OpenPosition | null; available: string | null; equity: string | null } = {
    position: null,
    available: null,
    equity: null,
  };
  const readPosition = async (of: OpenedAccount): Promise<OpenPosition | null> => {
    // Nothing will be ordered: only the position can be another reason.
    if (!planned.ok) return of.exchange.fetchPosition(of.account, signal.token);
    if (ahead !== null) {
      read.available = ahead.futuresAvailable;
      return null;
    }
    const { token } = signal;
    const { balance, position } = await readTradeAccount(deps, of, { token, leverage: planned.leverage });
    read.position = position;
    read.available = balance.futuresAvailable;
    read.equity = balance.futuresBalance;
    return position;
  };
  let refused: PositionGeneratorLogRow | undefined;
  const denyOrder = () => {
    // A contract that opens nothing still closes the opposite position.
    if (planned.ok || planned.denial.code === 'contract_closed') return null;
    refused = recordOf(deps, { ...request, result: planned, isEstimate: false });
    return planned.denial;
  };
  const blockers = await resolveBlockers(deps, {
    signal,
    settings,
    opened,
    workflow,
    lease,
    facts,
    readPosition,
    denyOrder,
  });
  if (!blockers.isClear) {
    const { denial } = blockers;
    return refused === undefined
      ? { ok: false, denial, seen: { ...known, blocker: denial.reason } }
      : { ok: false, denial, calculation: refused, seen: known };
  }
  const { reversal } = blockers;
  const { available } = read;
  const isFlat = available !== null && read.position === null;
  const balanceNote = ahead === null ? null : describeAge(deps.clock.now(), ahead);
  const size = async (): Promise<PositionResult & { from: Partial<SizedFrom> }> => {
    if (!planned.ok) return { ...planned, from: {} };
    if (!opened.ok) return { ...opened, from: {} };
    // The position that was read is closed now: price and balance are others.
    if (!isFlat) return await generatePosition(deps, request);
    const isOld = ageOf(priceReadAtMs) > PRICE_LASTS_MS;
    const now = isOld
      ? await planAtMarket(deps, opened, request)
      : { ...planned, reading: market, priceReadAtMs };
    const seenMarket = now.reading && { ...now.reading, priceAgeMs: ageOf(now.priceReadAtMs) };
    if (!now.ok) return { ...now, from: { market: seenMarket } };
    // The account was prepared for another leverage.
    if (now.leverage !== planned.leverage) return await generatePosition(deps, request);
    const account = { available, unknownMargin: request.unknownMargin, balanceNote };
    const sized = sizeFromAccount(request, { market: now.market, ...account });
    return { ...sized, from: { ...sized.from, market: seenMarket } };
  };
  const { from, ...result } = await size();
  const calculation = recordOf(deps, { ...request, result, isEstimate: false });
  const made = { calculation, reversal, equity: read.equity, seen: { ...known, ...from } };
  return result.ok
    ? { ok: true, log: calculation, accountReadAt: isFlat && ahead ? ahead.readAt : null, ...made }
    : { ok: false, denial: result.denial, ...made };
}
