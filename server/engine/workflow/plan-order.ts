import { setTimeout as sleep } from 'node:timers/promises';
import { autoTradeOff } from '#domain/eligibility/trading-mode.ts';
import { afterReversal, type Reversal } from '#domain/orders/held-position.ts';
import type { TradingSettings } from '#domain/user-settings.ts';
import { type Denial, deny, skipMessage } from '#domain/workflow/denials.ts';
import { isSignalExpired } from '#domain/workflow/workflow-lifecycle.ts';
import { findTradingSettings } from '#server/admin/settings/settings.store.ts';
import { commitOrderIntent } from '#server/engine/orders/commit-order-intent.ts';
import { findStandingTrade, listLiveTrades, type TradeRow } from '#server/engine/orders/trades.store.ts';
import {
  denyPosition,
  generatePosition,
  recordCalculation,
  recordOf,
} from '#server/engine/sizing/generate-position.ts';
import {
  findWorkflowCalculation,
  insertPositionGeneratorLog,
  type PositionGeneratorLogRow,
} from '#server/engine/sizing/position-generator.store.ts';
import type { SignalRow } from '#server/ingest/stored-signals.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { together } from '#server/platform/db/together.ts';
import { assertHeld, type Lease } from '#server/platform/jobs/leases.ts';
import type { AutomationDeps } from './automation-deps.ts';
import { finishUser } from './end-workflow.ts';
import { resolveBlockers, type TokenFacts } from './held-position.ts';
import { orderTurnsOf } from './order-turns.ts';
import { readKnownCloses } from './reversals.store.ts';
import type { StepJournal } from './step-journal.ts';
import { type UserTask, userStep } from './user-steps.ts';
import { readMatchedPriceLog } from './workflow-inputs.ts';
import { findUserTurn, isEarlierUserSizing, type UserTurn } from './workflow-users.store.ts';
import type { WorkflowRow } from './workflows.store.ts';

/** How long after the start of step 7 an order waits for the orders of earlier users. */
const ORDER_PATIENCE_MS = 3_000;
const ORDER_POLL_MS = 25;

/** One user's part of a workflow, under the user's lease. */
export interface UserRun {
  deps: AutomationDeps;
  signal: SignalRow;
  workflow: WorkflowRow;
  task: UserTask;
  lease: Lease;
  journal: StepJournal;
}

/** The state of a user, read together with the user's lease. */
export interface UserFacts extends TokenFacts {
  turn: UserTurn | null;
  settings: TradingSettings | null;
  /** The calculation that an interrupted run recorded. */
  calculation: PositionGeneratorLogRow | null;
  /** A live, filled or doubtful order of the user for the signal. */
  standing: TradeRow | null;
}

/** Sent together with the lease on its connection: one round trip. */
export async function readUserFacts(
  on: Queryable,
  { workflowId, userId, signal }: { workflowId: string; userId: string; signal: SignalRow },
): Promise<UserFacts> {
  const { token } = signal;
  const [turn, settings, calculation, standing, liveTrades, closes] = await together(
    findUserTurn(on, { workflowId, userId }),
    findTradingSettings(on, userId),
    findWorkflowCalculation(on, { workflowId, userId }),
    findStandingTrade(on, { signalId: signal.id, userId }),
    listLiveTrades(on, { userId, token }),
    readKnownCloses(on, { userId, token, workflowId }),
  );
  return { turn, settings, calculation, standing, liveTrades, ...closes };
}

/** Sizes a user's position and commits its order intent; returns the trade's id, or null when the user was skipped. */
export async function planOrder(
  run: UserRun,
  { processingSince, ...facts }: Omit<UserFacts, 'turn'> & { processingSince: Date },
): Promise<string | null> {
  const { deps, workflow, signal, task, lease, journal } = run;
  const { settings } = facts;
  const { db } = deps;
  journal.begin(userStep(deps, task, 'user_settings', { userId: task.userId }));
  if (settings === null) {
    await journal.writeDown();
    const step = { type: 'user_settings' as const, errorMessage: deny('settings_not_found', {}).reason };
    await finishUser(deps, { workflow, task, lease, outcome: 'skipped', step });
    return null;
  }
  journal.end({ status: 'completed', outputData: settings, at: deps.clock.now() });
  journal.begin(userStep(deps, task, 'position_generation', positionInput(signal, settings)));
  const calculated = await journal.writeDownDuring(() => calculateOnce(run, { ...facts, settings }));
  const { reversal = facts.reversal } = calculated;
  if (!calculated.ok) {
    await journal.writeDown();
    await skip(run, 'position_generation', { ...calculated.denial, reversal });
    return null;
  }
  const { log, isRecorded } = calculated;
  const { position } = log;
  if (position === null) throw new Error(`the calculation ${log.id} has no position`);
  const outputData = { positionGeneratorLogId: log.id, position };
  journal.end({ status: 'completed', outputData, at: deps.clock.now() });
  const order = {
    positionGeneratorLogId: log.id,
    token: signal.token,
    action: signal.action,
    entryPrice: position.entryPrice,
    quantity: position.assetQuantity,
    stopLoss: position.stopLoss,
    takeProfit: position.takeProfit,
    leverage: position.leverage,
  };
  journal.begin(userStep(deps, task, 'order_submission', order));
  await letEarlierUsersGoFirst(run, processingSince);
  const alongside = (tx: Tx) => [
    isRecorded ? undefined : insertPositionGeneratorLog(tx, log),
    journal.writeWithin(tx),
  ];
  const intent = await commitOrderIntent(deps, {
    log,
    position,
    triggerType: workflow.trigger,
    lease,
    alongside,
    isLast: true,
  });
  if (intent.ok) return intent.tradeId;
  // A refused intent may not have written these statements.
  await db.transaction((tx) => together(assertHeld(tx, lease), ...alongside(tx)));
  const denial = intent.reason === 'denied' ? intent.denial : deny('already_traded', {});
  await skip(run, 'order_submission', { ...denial, reversal });
  return null;
}

/** The users may have been selected long ago, before an outage or under other settings of the program. */
function outOfDate({
  deps,
  workflow,
  signal: { receivedAt },
}: Pick<UserRun, 'deps' | 'workflow' | 'signal'>): Denial | null {
  if (workflow.trigger !== 'automatic') return null;
  const off = autoTradeOff(deps.config);
  if (off !== null) return deny('auto_trading_disabled', off);
  const startsAt = deps.clock.now();
  const maxAgeMinutes = deps.config.signalMaxAgeMinutes;
  if (!isSignalExpired({ receivedAt, startsAt, maxAgeMinutes })) return null;
  const ageMinutes = ((startsAt.getTime() - receivedAt.getTime()) / 60_000).toFixed(1);
  return deny('signal_expired', { ageMinutes, maxAgeMinutes: String(maxAgeMinutes) });
}

/** Users are sized in parallel; their orders are planned in the order of trading. A slow user loses its place. */
async function letEarlierUsersGoFirst(
  { deps, task, journal }: UserRun,
  processingSince: Date,
): Promise<void> {
  const turns = orderTurnsOf(deps.db);
  const until = processingSince.getTime() + ORDER_PATIENCE_MS;
  const leftMs = () => Math.min(until - deps.clock.now().getTime(), ORDER_PATIENCE_MS);
  if (leftMs() > 0) await turns.whenFirstHere(task, leftMs());
  for (let polls = leftMs() / ORDER_POLL_MS; polls > 0 && !turns.isNext(task); polls -= 1) {
    if (!(await isEarlierUserSizing(deps.db, task))) return turns.noteNext(task);
    await journal.writeDown();
    await sleep(ORDER_POLL_MS);
  }
}

const positionInput = (signal: SignalRow, settings: TradingSettings) => ({
  token: signal.token,
  action: signal.action,
  signalPrice: signal.price,
  positionSizingMethod: settings.positionSizingMethod,
  investmentPortion: settings.investmentPortion,
  maximumRiskPerTrade: settings.maximumRiskPerTrade,
  exchangePlatform: settings.exchangePlatform,
});

/** The position of this workflow and user; reuses one that an interrupted run recorded. */
async function calculateOnce(
  run: UserRun,
  facts: Omit<UserFacts, 'turn' | 'settings'> & { settings: TradingSettings },
): Promise<
  | { ok: true; log: PositionGeneratorLogRow; isRecorded: boolean; reversal?: Reversal | null }
  /** `reversal`: the position closed for this signal, if that changed after it was read. */
  | { ok: false; denial: Pick<Denial, 'reason'>; reversal?: Reversal | null }
> {
  const { deps, workflow, signal, task, lease } = run;
  const { settings, calculation: recorded } = facts;
  if (facts.standing !== null) return { ok: false, denial: deny('already_traded', {}) };
  if (recorded !== null) {
    if (recorded.success) return { ok: true, log: recorded, isRecorded: true };
    return { ok: false, denial: { reason: recorded.error ?? 'The position could not be calculated' } };
  }
  // Checked before anything is closed for the signal.
  const stale = outOfDate(run);
  if (stale !== null) return { ok: false, denial: stale };
  const { userId, workflowId } = task;
  const reading = readMatchedPriceLog(deps.db, workflow.id);
  // The failure is thrown below; the close of a position is awaited in any case.
  reading.catch(() => {});
  const requestOf = async () => ({
    signal,
    priceLog: await reading,
    userId,
    settings,
    profile: 'automatic' as const,
    workflowId,
    lease,
  });
  const denyOrder = async () => {
    const request = await requestOf();
    const denial = await denyPosition(deps, request);
    if (denial === null) return null;
    await recordCalculation(deps, { ...request, result: { ok: false, denial }, isEstimate: false });
    return denial;
  };
  const blockers = await resolveBlockers(deps, {
    signal,
    settings,
    userId,
    workflow,
    lease,
    facts,
    denyOrder,
  });
  if (!blockers.isClear) return { ok: false, denial: blockers.denial };
  const { reversal } = blockers;
  const request = await requestOf();
  const result = await generatePosition(deps, request);
  const calculation = { ...request, result, isEstimate: false };
  // Recorded together with the order intent.
  if (result.ok) return { ok: true, log: recordOf(deps, calculation), isRecorded: false, reversal };
  await recordCalculation(deps, calculation);
  return { ok: false, denial: result.denial, reversal };
}

async function skip(
  { deps, workflow, signal, task, lease }: UserRun,
  type: 'position_generation' | 'order_submission',
  { reason, reversal }: Pick<Denial, 'reason'> & { reversal: Reversal | null },
): Promise<void> {
  const errorMessage = skipMessage(afterReversal(reason, { token: signal.token, reversal }));
  await finishUser(deps, { workflow, task, lease, outcome: 'skipped', step: { type, errorMessage } });
}
