import type { Signal, SignalsAnswer, Trade, WhyAnswer } from '#contract/signals.ts';
import type { ProgramClient } from '#demo/program-client.ts';
import { D } from '#domain/decimal.ts';
import type { Holding } from '../venues/paper-ledger.ts';
import type { FaultExchange } from './fault-exchange.ts';
import type { Alert } from './load.ts';
import type { Trader } from './stage.ts';

/**
 * Judges a run from outside, using only the exchange's ledger and the program's public API. Judging is separate from
 * reading, so tests can check what it rejects.
 */
type ExchangeOrder = Awaited<ReturnType<FaultExchange['exchangeOrders']>>[number];

const ENDED = new Set(['completed', 'failed', 'aborted']);
const PAGE = 1_000;

export async function readSignals(admin: ProgramClient): Promise<Signal[]> {
  const all: Signal[] = [];
  for (let page = 1; ; page += 1) {
    const { signals, total } = await admin.get<SignalsAnswer>(`/api/signals?page=${page}&limit=${PAGE}`);
    all.push(...signals);
    if (all.length >= total || signals.length === 0) return all;
  }
}

/**
 * I1: every acknowledged alert is stored under the id in its answer, and its workflow has ended. I2: no alert is
 * stored twice, and each has one workflow.
 */
export function judgeAlerts(sent: readonly Alert[], signals: readonly Signal[]): string[] {
  const byNonce = Map.groupBy(signals, ({ parameters }) => String(parameters.nonce));
  const violations: string[] = [];
  for (const { nonce, acknowledgedId } of sent) {
    const found = byNonce.get(nonce) ?? [];
    if (acknowledgedId !== null && !found.some(({ id }) => id === acknowledgedId)) {
      violations.push(`I1: ${nonce} was acknowledged as ${acknowledgedId} and is not there`);
    }
    if (found.length > 1) violations.push(`I2: ${nonce} is there ${found.length} times`);
    for (const { id, automaticCount, manualCount, workflowStatus } of found) {
      if (automaticCount + manualCount !== 1) {
        violations.push(`I2: ${nonce} (${id}) has ${automaticCount + manualCount} workflows`);
      }
      if (!ENDED.has(workflowStatus ?? ''))
        violations.push(`I1: ${nonce} (${id}) is ${workflowStatus ?? 'without a workflow'}`);
    }
  }
  const known = new Set(sent.map(({ nonce }) => nonce));
  for (const nonce of byNonce.keys()) if (!known.has(nonce)) violations.push(`I2: ${nonce} was never sent`);
  return violations;
}

export interface TradeFacts {
  /** The trades as shown on the screens. */
  shown: Pick<Trade, 'success' | 'fillStatus' | 'state' | 'exchangeResponse' | 'error'>[];
  /** Every order that the exchange ever accepted from the account for the token. */
  orders: Pick<
    ExchangeOrder,
    | 'clientOrderId'
    | 'reduceOnly'
    | 'size'
    | 'filledSize'
    | 'state'
    | 'presetStopLoss'
    | 'presetTakeProfit'
    | 'createdAt'
    | 'updatedAt'
  >[];
  holding: Pick<Holding, 'stopLoss' | 'takeProfit'> & { position: { size: string } | null };
  /** When the user was switched off. */
  switchedOffAt?: Date;
}

/** I2 to I7 and I9 for one user's trade of one signal; the account held no position in the token before. */
export function judgeTrade({ shown, orders, holding, switchedOffAt }: TradeFacts): string[] {
  const violations: string[] = [];
  const entries = orders.filter(({ reduceOnly }) => !reduceOnly);
  const closes = orders.filter(({ reduceOnly }) => reduceOnly);
  const [first] = entries;
  const filled = entries.reduce((sum, { filledSize }) => sum.plus(filledSize), D(0));
  const closed = closes.reduce((sum, { filledSize }) => sum.plus(filledSize), D(0));
  if (shown.length > 1) violations.push(`I2: ${shown.length} trades of one signal and user`);
  if (entries.length > 2) violations.push(`I2: ${entries.length} entry orders`);
  if (first !== undefined && filled.gt(first.size))
    violations.push(`I3: ${filled} filled of ${first.size} planned`);
  for (const [index, { createdAt }] of entries.entries()) {
    const before = entries[index - 1];
    if (before !== undefined && (isLive(before) || before.updatedAt > createdAt)) {
      violations.push(`I2, I6: ${before.clientOrderId} was still live when the next entry came`);
    }
  }
  if (new Set(entries.map(({ clientOrderId }) => clientOrderId)).size !== entries.length) {
    violations.push('I6: one client order id was used for two orders');
  }
  for (const { clientOrderId, presetStopLoss, presetTakeProfit } of entries) {
    if (presetStopLoss === null || presetTakeProfit === null)
      violations.push(`I5: ${clientOrderId} without stop and target`);
  }
  for (const { clientOrderId } of orders.filter(isLive))
    violations.push(`I1: ${clientOrderId} still rests at the exchange`);
  const held = D(holding.position?.size ?? 0);
  if (held.gt(0) && holding.stopLoss === null) violations.push('I4: a position without a stop');
  if (!held.eq(filled.minus(closed)))
    violations.push(`the books do not add up: ${held} held, ${filled} filled, ${closed} closed`);
  const [trade] = shown;
  if (trade === undefined) {
    if (entries.length > 0) violations.push('I7: the exchange has an order that no screen shows');
  } else {
    const said = D(trade.exchangeResponse?.size ?? 0);
    if (trade.state !== 'done') violations.push(`I1: the trade is ${trade.state}`);
    else if (!said.eq(filled)) violations.push(`I7: the screen says ${said} filled, the exchange ${filled}`);
    if (trade.success && !filled.gt(0)) violations.push('I7: called a success with nothing filled');
  }
  if (switchedOffAt !== undefined) {
    const late = entries.filter(({ createdAt }) => createdAt > switchedOffAt);
    if (late.length > 0) violations.push('I9: an entry came after the user was switched off');
  }
  return violations;
}

const isLive = ({ state }: { state: string }) => state === 'live' || state === 'partially_filled';

export interface TradeToCheck {
  token: string;
  /** Null when no signal was stored: then the exchange must have no order. */
  signalId: string | null;
  switchedOffAt?: Date;
}

/** The outcome of one signal for one user. */
export interface Part {
  token: string;
  userId: string;
  /** Null when the exchange never received an order. */
  planned: string | null;
  filled: string;
  /** The product's reason when less than planned was filled. */
  why: string | null;
}

/** The product's messages when a busy machine did not answer in time, which can happen to any user. */
const NOT_ANSWERED =
  /could not be asked|could not be set: |Balance information unavailable|No live price of .* is available|not placed, will be sent again/;

/** I8: a user without a fault is filled as planned. `unanswered` counts users for whom the exchange was too slow. */
export function judgeUnstruck(parts: readonly Part[]): { violations: string[]; unanswered: number } {
  const violations: string[] = [];
  let unanswered = 0;
  for (const { token, userId, planned, filled, why } of parts) {
    if (planned !== null && D(filled).eq(planned)) continue;
    if (NOT_ANSWERED.test(why ?? '')) unanswered += 1;
    else
      violations.push(
        `I8: ${token}: ${userId} was not struck and has ${filled} of ${planned ?? 'no order'}: ${why ?? 'nothing is said of it'}`,
      );
  }
  return { violations, unanswered };
}

/** Reads and judges the trades of these signals for one trader; every signal has its own token. */
export async function checkTrades(options: {
  admin: ProgramClient;
  exchange: FaultExchange;
  trader: Pick<Trader, 'userId' | 'accountId'>;
  wanted: readonly TradeToCheck[];
}): Promise<{ violations: string[]; filled: number; entries: number; parts: Part[] }> {
  const { admin, exchange, trader, wanted } = options;
  const byToken = Map.groupBy(await exchange.exchangeOrders(trader.accountId), ({ token }) => token);
  const violations: string[] = [];
  const parts: Part[] = [];
  let filled = 0;
  let entries = 0;
  for (const { token, signalId, switchedOffAt } of wanted) {
    const trades = signalId === null ? [] : await admin.get<Trade[]>(`/api/signals/${signalId}/trades`);
    const orders = byToken.get(token) ?? [];
    const facts: TradeFacts = {
      shown: trades.filter(({ userId }) => userId === trader.userId),
      orders,
      holding: await exchange.holding(trader.accountId, token),
      ...(switchedOffAt === undefined ? {} : { switchedOffAt }),
    };
    for (const text of judgeTrade(facts)) violations.push(`${token}: ${text}`);
    const own = orders.filter(({ reduceOnly }) => !reduceOnly);
    const sum = own.reduce((total, { filledSize }) => total.plus(filledSize), D(0));
    entries += own.length;
    if (sum.gt(0)) filled += 1;
    if (signalId === null) continue;
    const part = { token, userId: trader.userId, planned: own[0]?.size ?? null, filled: sum.toString() };
    const isWhole = part.planned !== null && sum.eq(part.planned);
    const path = `/api/signals/${signalId}/why/${trader.userId}`;
    const why = isWhole ? null : (await admin.get<WhyAnswer>(path)).conclusion.text;
    parts.push({ ...part, why });
  }
  return { violations, filled, entries, parts };
}
