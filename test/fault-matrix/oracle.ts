import { D, isPositive, toPlain } from '#domain/decimal.ts';
import { readOrderResult } from '#server/engine/orders/order-result.ts';
import type { TradeRow } from '#server/engine/records/trades.store.ts';
import { tradingHalts } from '#server/platform/db/schema.ts';
import type { TestEngine } from '../app/test-engine.ts';
import type { ExchangeWatch } from './exchange-watch.ts';
import type { ExitSignal } from './exits.ts';
import { judgeExits } from './judge-exits.ts';

const PROTECTED_WITHIN_MS = 5_000;
const FLAT_WITHIN_MS = 10_000;
/** Exchanges round average prices. */
const AVERAGE_TOLERANCE = '1e-6';

export interface PlayedRun {
  token: string;
  userIds: string[];
  signals: { signalId: string; workflowId: string }[];
  /** Signals that close or reduce. */
  exits: ExitSignal[];
  /** Something comes after the entry. */
  hasExits: boolean;
  /** The exchange's clock is wrong: its history may say too little to know how a position ended. */
  isApart: boolean;
  /** Orders that were unfinished for long, and not shown. */
  hiddenOrders: string[];
}

/** How a run ended for one user, according to the screens and the exchange's books. */
export interface UserEnd {
  userId: string;
  violations: string[];
  /** The outcome of the first signal, for the table. */
  outcome: string;
  entryOrders: number;
  /** What came after the entry, for the table. */
  exit: string;
  /** The parts that must not depend on other users. */
  summary: string;
}

type LedgerOrder = Awaited<ReturnType<TestEngine['exchangeOrders']>>[number];

/** Judges a run by the exchange's ledger and the product's records. */
export async function judge(engine: TestEngine, run: PlayedRun, watch: ExchangeWatch): Promise<UserEnd[]> {
  const halted = new Set((await engine.db.select().from(tradingHalts)).map(({ userId }) => userId));
  const ends: UserEnd[] = [];
  for (const userId of run.userIds) {
    const end = await judgeUser(engine, run, userId);
    end.violations.push(...nakedViolations(watch, userId, halted.has(userId)));
    const back = run.hasExits ? watch.stopsMovedBack.filter((one) => one.userId === userId) : [];
    end.violations.push(...back.map(({ text }) => `I4: the stop was moved to more risk: ${text}`));
    ends.push(end);
  }
  return ends;
}

/** Judges the run as a whole: every workflow ends, and no user ever has two live entries. */
export async function judgeRun(engine: TestEngine, run: PlayedRun, watch: ExchangeWatch): Promise<string[]> {
  const violations = watch.doubleEntries.map((double) => `I2: ${double}`);
  violations.push(...run.hiddenOrders.map((hidden) => `I7: ${hidden}`));
  for (const { workflowId } of [...run.signals, ...run.exits]) {
    const { status } = await engine.workflow(workflowId);
    if (status !== 'completed') violations.push(`I1: a workflow is ${status}`);
  }
  return violations;
}

function nakedViolations(watch: ExchangeWatch, userId: string, isHalted: boolean): string[] {
  if (isHalted) return [];
  return watch
    .nakedTimes()
    .filter((naked) => naked.userId === userId)
    .filter(({ ms, end }) => {
      if (end === 'protected') return ms > PROTECTED_WITHIN_MS;
      return end === 'never' || ms > FLAT_WITHIN_MS;
    })
    .map(({ ms, end }) => `I4: ${ms} ms without a stop, then ${end}`);
}

async function judgeUser(engine: TestEngine, run: PlayedRun, userId: string): Promise<UserEnd> {
  const orders = await engine.exchangeOrders(userId);
  const entries = orders.filter(({ reduceOnly }) => !reduceOnly);
  const violations = [...judgeEntries(entries)];
  const ends: TradeEnd[] = [];
  const known = new Set<string>();
  for (const signal of run.signals) {
    const trades = (await engine.trades(signal.signalId)).filter((trade) => trade.userId === userId);
    if (trades.length > 1) violations.push(`I2: ${trades.length} trades for one signal`);
    const outcome = (await engine.outcomes(signal.workflowId)).get(userId)?.outcome ?? 'not listed';
    const [trade] = trades;
    if (trade === undefined) {
      if (outcome === 'success') violations.push('I7: a success without a trade');
      ends.push({ word: outcome, summary: outcome });
      continue;
    }
    const ids = (await engine.attempts(trade.id)).map(({ clientOrderId }) => clientOrderId);
    for (const id of ids) known.add(id);
    const own = entries.filter(({ clientOrderId }) => ids.includes(clientOrderId));
    ends.push(await judgeTrade({ engine, trade, own, outcome, violations }));
  }
  for (const { clientOrderId } of entries) {
    if (!known.has(clientOrderId)) violations.push(`I6: an unplanned order: ${clientOrderId}`);
  }
  const { position, stopLoss, takeProfit } = await engine.holding(userId, run.token);
  if (position === null && (stopLoss !== null || takeProfit !== null))
    violations.push('I4: a stop or target is left without a position');
  const exit = run.hasExits ? await judgeExits(engine, run, userId) : null;
  violations.push(...(exit?.violations ?? []));
  const holding = position && { side: position.side, size: toPlain(position.size), stopLoss, takeProfit };
  return {
    userId,
    violations,
    outcome: ends[0]?.word ?? 'none',
    entryOrders: entries.length,
    exit: exit?.word ?? 'none',
    summary: JSON.stringify({ trades: ends.map(({ summary }) => summary), holding, exits: exit?.summary }),
  };
}

function judgeEntries(entries: LedgerOrder[]): string[] {
  const violations = entries.flatMap((entry) => {
    const { presetStopLoss, presetTakeProfit, state, marginMode, positionMode } = entry;
    return [
      ...(presetStopLoss === null || presetTakeProfit === null
        ? ['I5: an entry without stop and target']
        : []),
      ...(state === 'filled' || state === 'canceled' ? [] : [`I6: an entry is left ${state}`]),
      ...(marginMode === 'isolated' && positionMode === 'one_way_mode'
        ? []
        : [`I5: ${marginMode}, ${positionMode}`]),
    ];
  });
  const ids = entries.map(({ clientOrderId }) => clientOrderId);
  const reused = ids.find((id, index) => ids.indexOf(id) !== index);
  return reused === undefined ? violations : [...violations, `I6: the id ${reused} was used twice`];
}

interface TradeEnd {
  word: string;
  summary: string;
}

/** I3 and I7 of one trade: compares the ledger's fills with the plan and with every figure shown. */
async function judgeTrade(judged: {
  engine: TestEngine;
  trade: TradeRow;
  own: LedgerOrder[];
  outcome: string;
  violations: string[];
}): Promise<TradeEnd> {
  const { engine, trade, own, outcome, violations } = judged;
  const shown = await readOrderResult(engine.deps, trade);
  const filled = toPlain(own.reduce((sum, { filledSize }) => sum.plus(filledSize), D(0)));
  const claims = (claim: string, holds: boolean) => {
    if (!holds) violations.push(claim);
  };
  claims(`I3: ${filled} filled, ${trade.plannedQuantity} planned`, D(filled).lte(trade.plannedQuantity));
  claims(`I1: the trade is still ${trade.state}`, shown.done);
  for (const { leverage } of own) {
    claims(`I5: leverage ${leverage} for ${trade.leverage}`, leverage === trade.leverage);
  }
  const status = statusOf(own, filled);
  const wasClosed = trade.protectionStatus === 'closed';
  const success = isPositive(filled) && !wasClosed;
  claims(`I7: shown as ${shown.fillStatus}, the ledger says ${status}`, shown.fillStatus === status);
  claims(`I7: shown success ${shown.success}, the ledger says ${success}`, shown.success === success);
  claims(
    `I7: shown ${trade.filledQuantity} filled, the ledger has ${filled}`,
    D(trade.filledQuantity).eq(filled),
  );
  const attempts = shown.verificationJourney.attempts.map(({ attempt, ...one }) => ({
    ...one,
    orderId: null,
  }));
  const ofAttempts = attempts.reduce((sum, { filledQuantity }) => sum.plus(filledQuantity), D(0));
  claims(`I7: the attempts show ${toPlain(ofAttempts)} filled`, ofAttempts.eq(filled));
  const value = own.reduce((sum, { filledValue }) => sum.plus(filledValue), D(0));
  if (isPositive(filled)) {
    const average = value.div(filled);
    const off = D(trade.averagePrice ?? 0)
      .minus(average)
      .abs()
      .div(average);
    claims(`I7: shown at ${trade.averagePrice}, the ledger has ${average}`, off.lt(AVERAGE_TOLERANCE));
  }
  claims(
    `I7: the user's outcome is ${outcome}, the trade's success ${shown.success}`,
    (outcome === 'success') === success,
  );
  const { fillStatus, averagePrice, filledQuantity, protectionStatus } = trade;
  return {
    word: wasClosed ? 'closed' : (fillStatus ?? 'none'),
    summary: JSON.stringify({
      outcome,
      fillStatus,
      averagePrice,
      filledQuantity,
      protectionStatus,
      attempts,
    }),
  };
}

/** The product's status: 'filled' when one order filled completely, whatever an earlier order left unfilled. */
function statusOf(own: LedgerOrder[], filled: string): 'filled' | 'partial' | 'unfilled' {
  if (own.some(({ state }) => state === 'filled')) return 'filled';
  return isPositive(filled) ? 'partial' : 'unfilled';
}
