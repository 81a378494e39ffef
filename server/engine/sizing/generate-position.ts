import { availableForSizing } from '#domain/sizing/balance.ts';
import { readCandleFigures } from '#domain/sizing/candle-figures.ts';
import { calculatePosition, type PositionResult } from '#domain/sizing/position.ts';
import { planPosition } from '#domain/sizing/position-plan.ts';
import { mergeTokenRules, ownTokenRules, type TokenRules } from '#domain/sizing/token-rules.ts';
import type { ExecutionProfileName } from '#domain/sizing/trading-constants.ts';
import type { ExchangePlatform, TradingSettings } from '#domain/user-settings.ts';
import {
  judgeMarket,
  type Market,
  type MarketReading,
  NOTHING_READ,
  type SizedFrom,
} from '#domain/workflow/decision.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import type { Deps, UserAccount } from '#server/deps.ts';
import {
  asExchangeError,
  type Exchange,
  ExchangeError,
  type TradeAccount,
} from '#server/exchanges/exchange.ts';
import { denyClock } from '#server/exchanges/exchange-clock.ts';
import type { PriceLogRow } from '#server/ingest/stored-price-logs.ts';
import type { EntrySignalRow } from '#server/ingest/stored-signals.ts';
import { positionGeneratorLogs } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { type PositionGeneratorLogRow, sumUnknownMargin } from './position-generator.store.ts';
import { type PriceReading, readPrice, retryRead } from './read-price.ts';

type GeneratorDeps = Pick<Deps, 'clock' | 'db' | 'exchanges' | 'findAccount' | 'accountGuard' | 'log'>;

interface GenerateRequest {
  signal: EntrySignalRow;
  priceLog: PriceLogRow | null;
  userId: string;
  settings: TradingSettings;
  profile: ExecutionProfileName;
  workflowId: string | null;
  /** Read before, under the user's lease; otherwise read now. */
  opened?: AccountOpening;
  /** Margin of the user's intents that the exchange may not know, read before the balance; otherwise read now. */
  unknownMargin?: string;
  /** Where several users share a price; otherwise the exchange is asked. */
  readPrice?: () => Promise<PriceReading>;
}

/** The facts of exchange and account that a calculation needs. Prices and money in USDT. */
export interface MarketFacts extends Market {
  /** Why there is no live price, and a note on the balance: clauses without a full stop. */
  livePriceProblem?: string | null;
  balanceNote?: string | null;
  availableBalance: string;
}

/** The market of a signal and the leverage of its position, both the same for any balance; or why it has none. */
export type MarketPlan = { ok: true; market: Market; leverage: number } | { ok: false; denial: Denial };

/**
 * Sizes one user's position from the exchange's price, rules and balance. I5: if one of them is missing there is no
 * position, never a guess. The caller records the result, refusals included.
 */
export async function generatePosition(
  deps: GeneratorDeps,
  request: GenerateRequest,
): Promise<PositionResult & { from: SizedFrom }> {
  const { signal, userId, settings } = request;
  const { exchangePlatform } = settings;
  const opened = request.opened ?? (await openAccount(deps, { userId, exchangePlatform }));
  if (!opened.ok) return { ...opened, from: NOTHING_READ };
  const { reading, priceReadAtMs, ...planned } = await planAtMarket(deps, opened, request);
  const priceAgeMs = Math.round(deps.clock.monotonicMs() - priceReadAtMs);
  const from = { ...NOTHING_READ, market: { ...reading, priceAgeMs } };
  if (!planned.ok) return { ...planned, from };
  // In this order: an order that the exchange accepts in between is counted twice, never missed.
  const unknownMargin =
    request.unknownMargin ?? (await sumUnknownMargin(deps.db, { userId, exchangePlatform }));
  const { leverage, market } = planned;
  const account = await readTradeAccount(deps, opened, { token: signal.token, leverage }).catch(
    asExchangeError,
  );
  if (account instanceof ExchangeError) {
    const denial = denyUnread(opened, account);
    return { ok: false, denial, from: { ...from, accountProblem: denial.reason } };
  }
  const available = account.balance.futuresAvailable;
  const sized = sizeFromAccount(request, { market, available, unknownMargin });
  return { ...sized, from: { ...from, ...sized.from } };
}

/** The price, the rules and what follows from them before the account is read. Sends nothing for the account. */
export async function planAtMarket(
  deps: Pick<Deps, 'clock'>,
  { exchange, platform }: OpenedAccount,
  request: GenerateRequest,
): Promise<MarketPlan & { reading: MarketReading; priceReadAtMs: number }> {
  const { signal, userId, readPrice: readShared } = request;
  // In parallel: every moment between signal and order counts.
  const [{ livePrice, priceProblem, readAtMs: priceReadAtMs }, rules] = await Promise.all([
    readShared === undefined ? readPrice(deps, exchange, signal, userId) : readShared(),
    readTokenRules(deps, exchange, signal.token, userId).catch(asExchangeError),
  ]);
  const isAway = rules instanceof ExchangeError;
  const reading = {
    livePrice,
    priceProblem,
    rules: isAway ? null : rules,
    rulesProblem: isAway ? rules.message : null,
  };
  const judged = judgeMarket(reading, { signal, exchange: platform });
  if (!judged.ok) return { ...judged, reading, priceReadAtMs };
  const { market } = judged;
  const planned = planPosition({ ...inputOf(request), ...market });
  return planned.ok
    ? { ok: true, market, leverage: planned.plan.leverage, reading, priceReadAtMs }
    : { ...planned, reading, priceReadAtMs };
}

/** Balance and position of the account, which is prepared for an order with the leverage on the way. */
export async function readTradeAccount(
  deps: Pick<Deps, 'clock' | 'log'>,
  { exchange, account }: OpenedAccount,
  request: { token: string; leverage: number },
): Promise<TradeAccount> {
  try {
    return await retryRead(deps, () => exchange.readTradeAccount(account, request));
  } catch (error) {
    deps.log.warn({ err: error, userId: account.userId }, 'account unavailable');
    throw error;
  }
}

/** `unknownMargin` was read before the account. `balanceNote`: for a balance that was not just read. */
export function sizeFromAccount(
  request: GenerateRequest,
  read: { market: Market; available: string; unknownMargin: string; balanceNote?: string | null },
): PositionResult & { from: Omit<SizedFrom, 'market'> } {
  const { market, available, unknownMargin, balanceNote = null } = read;
  const availableBalance = availableForSizing({ available, unreportedMargins: [unknownMargin] });
  const from = { balance: availableBalance, balanceNote, accountProblem: null };
  return { ...calculateFromFacts({ ...market, availableBalance, balanceNote }, request), from };
}

export const denyUnread = ({ platform }: OpenedAccount, { message }: ExchangeError): Denial =>
  deny('exchange_unavailable', { exchange: platform, message });

/** The one calculation of workflows, the calculator and its preview. */
export const calculateFromFacts = (facts: MarketFacts, request: Calculable): PositionResult =>
  calculatePosition({ ...inputOf(request), ...facts });

type Calculable = Pick<GenerateRequest, 'signal' | 'priceLog' | 'settings' | 'profile'>;

const inputOf = ({ signal, priceLog, settings, profile }: Calculable) => ({
  signal: { token: signal.token, action: signal.action, price: signal.price },
  priceLog: priceLog === null ? null : readCandleFigures(priceLog.parameters),
  settings,
  profile,
});

export interface Calculation extends GenerateRequest {
  result: PositionResult;
  isEstimate: boolean;
}

/** The record of a calculation, not written yet. */
export function recordOf(
  { clock }: Pick<Deps, 'clock'>,
  { signal, priceLog, userId, settings, profile, workflowId, result, isEstimate }: Calculation,
): PositionGeneratorLogRow {
  const position = result.ok ? result.position : null;
  return {
    id: timeOrderedId(),
    signalId: signal.id,
    priceLogId: priceLog?.id ?? null,
    userId,
    workflowId,
    profile,
    exchangePlatform: settings.exchangePlatform,
    token: signal.token,
    success: result.ok,
    isEstimate,
    error: result.ok ? null : result.denial.reason,
    position,
    settings,
    calculationReason: position?.calculationReason ?? null,
    calculationDetail: position?.calculationDetail ?? null,
    createdAt: clock.now(),
  };
}

/**
 * Writes the calculation as a record of its own and returns it. Writes nothing when the workflow has already calculated
 * for the user.
 */
export async function recordCalculation(
  deps: Pick<Deps, 'db' | 'clock'>,
  calculation: Calculation,
): Promise<PositionGeneratorLogRow> {
  const row = recordOf(deps, calculation);
  await deps.db
    .insert(positionGeneratorLogs)
    .values(row)
    .onConflictDoNothing({ target: [positionGeneratorLogs.workflowId, positionGeneratorLogs.userId] });
  return row;
}

export interface OpenedAccount {
  platform: ExchangePlatform;
  exchange: Exchange;
  account: UserAccount;
}

/** The user's account, or why there is none. */
export type AccountOpening = ({ ok: true } & OpenedAccount) | { ok: false; denial: Denial };

/**
 * The user's account at the exchange of the settings, or why there is none. `evenUninspected`: accepts a key that the
 * exchange has not described yet, for calculations only.
 */
export async function openAccount(
  deps: Pick<Deps, 'exchanges' | 'findAccount' | 'accountGuard'>,
  { userId, exchangePlatform }: { userId: string; exchangePlatform: string },
  { evenUninspected = false }: { evenUninspected?: boolean } = {},
): Promise<AccountOpening> {
  const platform = deps.exchanges.supported.find((one) => one === exchangePlatform);
  if (platform === undefined) {
    return { ok: false, denial: deny('exchange_unsupported', { exchange: exchangePlatform, mode: 'this' }) };
  }
  const exchange = deps.exchanges.get(platform);
  const apart = denyClock(exchange);
  if (apart !== null) return { ok: false, denial: apart };
  const denial = await deps.accountGuard.deny(userId, platform);
  const isUninspected = denial?.code === 'exchange_key_not_inspected';
  if (denial !== null && !(isUninspected && evenUninspected)) return { ok: false, denial };
  const account = await deps.findAccount(userId, platform);
  if (account === null) return { ok: false, denial: deny('exchange_not_connected', { exchange: platform }) };
  return { ok: true, platform, exchange, account };
}

/**
 * Null when the exchange does not list the token, or gave no price in several tries. `viewerUserId`: paper prices
 * include this user's own signals; null for the price that everyone sees.
 */
export async function readLivePrice(
  deps: Pick<Deps, 'clock'>,
  exchange: Exchange,
  { token }: { token: string },
  viewerUserId: string | null,
): Promise<string | null> {
  return (await readPrice(deps, exchange, { token }, viewerUserId)).livePrice;
}

/** The contract's rules with our constants for its token. Null when the token has no exact 1:1 contract. */
export async function readTokenRules(
  deps: Pick<Deps, 'clock'>,
  exchange: Exchange,
  token: string,
  viewerUserId: string,
): Promise<TokenRules | null> {
  const contract = await retryRead(deps, () => exchange.fetchContract(token, { viewerUserId }));
  return contract === null ? null : mergeTokenRules(ownTokenRules(token), contract);
}
