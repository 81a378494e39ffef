import { D, isPositive } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';

/**
 * The exchange port: everything the product needs from a futures exchange, independent of the protocol. Prices,
 * quantities and money are decimal strings; quantities are in the base coin; instants are Dates. The engine behind it
 * holds I3 to I6 of docs/reliability: a call whose outcome is not known reports `unknown` and is settled by `findOrder`
 * before anything else is sent.
 */
export interface Exchange {
  readonly platform: ExchangePlatform;
  /** The origin that requests go to, as shown to operators (`apiEndpoint`). */
  readonly apiEndpoint: string;
  /** The usual kind of account, which a key is asked about first. */
  readonly accountMode: ExchangeCredentials['accountMode'];
  /** All supported kinds of account; a key of another kind is refused before anything is sent. */
  readonly accountModes: readonly ExchangeCredentials['accountMode'][];
  readonly orderMemory: OrderMemory;
  /** How far back the exchange tells an account's ledger; null in paper mode, whose ledger is a table of ours. */
  readonly ledgerReach: LedgerReach | null;
  /** How many requests a second this program allows itself, through all of its addresses together. */
  readonly requestsPerSecond: number;
  /**
   * How many requests of this instance wait now for the limits of its addresses: orders that open positions, or what
   * closes and protects them. A request that a limit of its own account holds back keeps nobody waiting.
   */
  requestsWaiting(priority: 'place' | 'protect'): number;
  /**
   * How far the exchange's clock is ahead of ours, in milliseconds, as its answers show; null while none has come, or
   * where there is no clock but ours.
   */
  clockAheadMs(): number | null;

  /**
   * Last and mark price of `<token>/USDT`; null when the exchange has no exact 1:1 contract for the token. Throws when
   * the newest price is more than ten seconds old by the exchange's clock.
   */
  fetchTicker(token: string, context?: CallContext): Promise<Ticker | null>;
  /**
   * Mark prices by token, all in one request, which also serves concurrent callers. A token without a contract, or with a
   * price that is more than ten seconds old by the exchange's clock, is left out.
   */
  fetchMarkPrices(tokens: readonly string[], context?: CallContext): Promise<Map<string, string>>;
  /** The terms of the token's contract, also of one that opens nothing; null if the exchange does not know it. */
  fetchContract(token: string, context?: CallContext): Promise<Contract | null>;

  /** Kind of account, permissions and owner of the account's key, whatever kind its credentials name. Places no orders. */
  inspectKey(account: ExchangeAccount, context?: CallContext): Promise<KeyInspection>;
  /**
   * USDT of the futures wallet as decimal strings; throws if the exchange returns no balance, never returns 0 instead.
   */
  fetchBalance(account: ExchangeAccount, context?: BalanceContext): Promise<AccountBalance>;
  /**
   * What sizing and an order in the token need, read together in as few requests as the exchange permits. With a
   * leverage, and if the token has no position, it also makes the settings that `prepareAccount` requires, which then
   * has nothing left to do. A setting that is refused here is left for `prepareAccount` to report. Without a leverage
   * nothing is set, but settings that were made earlier and still hold are relied on again. Throws if anything cannot be
   * read.
   */
  readTradeAccount(
    account: ExchangeAccount,
    request: { token: string; leverage: number | null },
    context?: CallContext,
  ): Promise<TradeAccount>;
  /** Sets one-way mode, isolated margin and the leverage, then reads them back. Throws if one of them differs. */
  prepareAccount(account: ExchangeAccount, request: AccountPreparation, context?: CallContext): Promise<void>;

  /** Places one limit order with its stop loss and take profit. Never retries. */
  placeOrder(account: ExchangeAccount, order: EntryOrder, context: PlacementContext): Promise<Placement>;
  /**
   * The request that `placeOrder` would send for this order from an account of this kind, by default of the exchange's
   * usual one, for display. Sends nothing; throws if the order would not be sent.
   */
  describeOrder(
    order: EntryOrder,
    accountMode?: ExchangeCredentials['accountMode'],
  ): Promise<OrderDescription>;
  /** Looks up an order by its client order id; null if the exchange says that it does not know the order. */
  findOrder(
    account: ExchangeAccount,
    order: OrderReference,
    context?: CallContext,
  ): Promise<OrderReport | null>;
  /** Requests a cancel. Only a later `findOrder` tells the order's final state. */
  cancelOrder(account: ExchangeAccount, order: OrderReference, context?: CallContext): Promise<Cancellation>;
  /** Open entry orders of the account in the token. */
  fetchOpenOrders(account: ExchangeAccount, token: string, context?: CallContext): Promise<OrderReport[]>;

  /** The open position in the token, opened here or elsewhere; null if the exchange says that there is none. */
  fetchPosition(account: ExchangeAccount, token: string, context?: CallContext): Promise<OpenPosition | null>;
  /**
   * An accepted order and, once it has filled whole, the stop and target that the exchange holds for its fill, read after
   * the order. Null without a request where positions show their stop: there `fetchHolding` proves both in one. Null
   * also if the exchange does not know the order.
   */
  fetchFill(
    account: ExchangeAccount,
    order: OrderReference,
    context?: CallContext,
  ): Promise<OrderFill | null>;
  /** The open position with its stop and target at the exchange; null if there is none. */
  fetchHolding(account: ExchangeAccount, token: string, context?: CallContext): Promise<Holding | null>;
  /** The stop loss and take profit that the exchange holds for the open position. */
  fetchProtection(account: ExchangeAccount, token: string, context?: CallContext): Promise<Protection>;
  /** Places the missing side(s) of the protection on the open position, triggered by the mark price. */
  placeProtection(
    account: ExchangeAccount,
    request: ProtectionRequest,
    context: PlacementContext,
  ): Promise<void>;
  /**
   * Moves the stop, then the target, of the open position; null leaves one where it is. There is a full stop at every
   * moment (I4): it is changed in place and read back where the exchange can, otherwise the new one is placed and
   * confirmed before the old ones are cancelled. Repeating the call with the same client order id completes what an
   * earlier one began. Throws at the first step that fails: reading the protection tells what holds then.
   */
  moveProtection(
    account: ExchangeAccount,
    request: ProtectionRequest,
    context: PlacementContext,
  ): Promise<void>;
  /** Every open position of the account with its stop and target, and those that the answer shows but cannot be read. */
  fetchHoldings(account: ExchangeAccount, context?: CallContext): Promise<Holdings>;
  /**
   * Positions of the account closed after `since`, newest first, as far back as the exchange remembers. A token whose
   * history cannot be read is left out; throws if nothing else is there.
   */
  fetchClosedPositions(
    account: ExchangeAccount,
    request: { since: Date },
    context?: CallContext,
  ): Promise<ClosedPosition[]>;
  /**
   * One page of the USDT movements of the account's wallet from `from` (included) to `to` (excluded), newest first, as the
   * exchange's own ledger tells them: Bitget v2 `mix/account/bill`, v3 `account/financial-records`, Bybit
   * `account/transaction-log`. The period is at most `ledgerReach.longestPeriodMs` long and not older than its `keptMs`.
   * Further pages follow by `cursor`; an entry may come again where pages meet, with the same id. Throws if one entry
   * cannot be read, and always in paper mode.
   */
  fetchLedger(account: ExchangeAccount, query: LedgerQuery, context?: CallContext): Promise<LedgerPage>;
  /** The order that closed the position (the last one if several did); null if the exchange reports none. */
  findClosingOrder(
    account: ExchangeAccount,
    position: ClosedPosition,
    context?: CallContext,
  ): Promise<ClosingOrder | null>;
  /** Cancels leftover stops and targets in a token without a position; returns their number. Throws if any is left. */
  cancelProtection(account: ExchangeAccount, token: string, context?: CallContext): Promise<number>;
  /** Closes the position with a reduce-only market order. */
  closePosition(
    account: ExchangeAccount,
    request: CloseRequest,
    context: PlacementContext,
  ): Promise<Placement>;
}

/**
 * The account of a private call. A call whose `environment` differs from the transport's is refused before it is sent.
 */
export interface ExchangeAccount {
  userId: string;
  environment: ExchangeEnvironment;
  credentials: ExchangeCredentials;
}

/** How long a look-up reliably finds an order that has ended: after that, 'not found' proves nothing. */
export interface OrderMemory {
  withoutFillsMs: number;
  withFillsMs: number;
}

export type ExchangeEnvironment = 'paper' | 'demo' | 'live';

export interface ExchangeCredentials {
  apiKey: string;
  apiSecret: string;
  passphrase?: string;
  accountMode: 'classic' | 'unified';
}

export interface KeyInspection {
  accountMode: 'classic' | 'unified';
  /** The key may place futures orders and read positions. */
  mayTrade: boolean;
  mayWithdraw: boolean;
  /** The mode of a unified account that is not traded, in the exchange's word; left out where it is. */
  untradedMode?: string;
  /** The exchange's own account id, the same for every key of the account; null if the exchange does not report it. */
  accountId: string | null;
  /** When the key ends; left out where the exchange does not say. */
  expiresAt?: Date;
}

export interface CallContext {
  /** Receives one record per HTTP exchange, without secrets, for the API call sequence on screen. */
  onCall?: (call: CallRecord) => void;
  /**
   * The viewer of public prices. Only the paper exchange uses it: a user's own signals are prices only to that user.
   */
  viewerUserId?: string;
  /** Default: the priority of the call type. Reads that a stop depends on use `protect`, audits `background`. */
  priority?: CallPriority;
}

/**
 * The order in which requests leave when they have to wait for a limit of the exchange, highest first. `follow` is for
 * orders that were accepted: it leaves behind placements, but at least every tenth request is one.
 */
export type CallPriority = 'protect' | 'look-up' | 'place' | 'prepare' | 'follow' | 'background';

export interface BalanceContext extends CallContext {
  /** Also reads the spot figures with a second request; otherwise they are null. */
  includeSpot?: boolean;
}

export interface PlacementContext extends CallContext {
  /**
   * Nothing is sent after this instant: a process that was frozen between its intent and its request must not send
   * late.
   */
  notAfter: Date;
  /**
   * Called once when the request may leave by the exchange's limits, before it is signed: it leaves as soon as this
   * resolves to true. When this resolves to false or throws, nothing is sent.
   */
  announce?: () => Promise<boolean>;
}

export interface CallRecord {
  type: string;
  method: string;
  endpoint: string;
  timestamp: string;
  requestData: unknown;
  responseData: unknown;
  success: boolean;
  /** HTTP status; null if no answer came. */
  status: number | null;
  durationMs: number;
}

export interface Ticker {
  token: string;
  lastPrice: string;
  markPrice: string;
  /** By the exchange's clock. */
  at: Date;
}

export interface Contract {
  token: string;
  symbol: string;
  tickSize: string;
  quantityStep: string;
  minimumQuantity: string;
  minimumNotional: string;
  /** The largest limit order and the largest market order; absent: the exchange names none. */
  maximumQuantity?: string;
  maximumMarketQuantity?: string;
  maximumLeverage: number;
  /** Why no position is opened in it, by the exchange's list: a clause without a full stop; absent: it is open. */
  entryProblem?: string;
}

export interface AccountBalance {
  futuresBalance: string;
  futuresAvailable: string;
  futuresLocked: string;
  /** Spot figures are for display only; null where the exchange (or the paper account) has none. */
  spotBalance: string | null;
  spotAvailable: string | null;
  spotLocked: string | null;
}

export interface TradeAccount {
  /** Without spot figures. */
  balance: AccountBalance;
  /** The open position in the token, opened here or elsewhere. */
  position: OpenPosition | null;
}

export interface AccountPreparation {
  token: string;
  leverage: number;
}

export interface EntryOrder {
  token: string;
  side: 'buy' | 'sell';
  clientOrderId: string;
  price: string;
  quantity: string;
  leverage: number;
  stopLoss: string;
  takeProfit: string;
}

/** A request as it would be sent, without the headers that carry the secrets. */
export interface OrderDescription {
  method: string;
  /** The path at the exchange's origin. */
  endpoint: string;
  payload: Record<string, unknown>;
}

export interface OrderReference {
  token: string;
  clientOrderId: string;
}

export type Placement =
  | { outcome: 'placed'; orderId: string }
  /** The exchange said definitely that there is no such order and never will be. */
  | { outcome: 'refused'; code: string; message: string }
  /** Certainly not placed, worth a retry: rate limit, maintenance, connection refused, clock. */
  | { outcome: 'retry-later'; message: string; retryAfterMs: number }
  /** The client order id was used before: the order exists, look it up. */
  | { outcome: 'duplicate'; message: string }
  /** The order may or may not have been placed: look it up. */
  | { outcome: 'unknown'; message: string };

export type Cancellation =
  | { outcome: 'accepted' }
  | { outcome: 'not-found'; message: string }
  | { outcome: 'unknown'; message: string };

export interface OrderReport {
  orderId: string;
  clientOrderId: string;
  token: string;
  side: 'buy' | 'sell';
  state: 'open' | 'partially-filled' | 'filled' | 'cancelled' | 'unknown';
  price: string | null;
  quantity: string;
  filledQuantity: string;
  averagePrice: string | null;
  fee: string | null;
  stopLoss: string | null;
  takeProfit: string | null;
  updatedAt: Date;
  /** The exchange's own JSON, for the details dialog. */
  raw: unknown;
}

export interface OpenPosition {
  token: string;
  side: 'long' | 'short';
  quantity: string;
  entryPrice: string;
  markPrice: string | null;
  leverage: number;
  /** Null where it is an account setting that positions do not report. */
  marginMode: 'isolated' | 'crossed' | null;
  margin: string;
  unrealisedProfit: string;
  liquidationPrice: string | null;
  openedAt: Date | null;
}

export interface Protection {
  stopLoss: string | null;
  takeProfit: string | null;
  /** Why it is not known whether there is a target, as a clause; an unknown stop is an error instead. */
  targetProblem?: string;
}

export interface OrderFill {
  report: OrderReport;
  /** Null unless the order has filled whole. */
  protection: Protection | null;
}

export interface Holding {
  position: OpenPosition;
  protection: Protection;
}

/** I4: a position that cannot be read hides no other, and is not taken for closed. */
export interface Holdings {
  holdings: Holding[];
  unreadable: UnreadablePosition[];
}

export interface UnreadablePosition {
  /** As the exchange wrote it; empty if that cannot be read either. */
  symbol: string;
  /** Null: it may be any token's. */
  token: string | null;
  /** A clause without a full stop. */
  problem: string;
}

export interface ClosedPosition {
  /** The exchange's own id of the position, stable across calls. */
  positionId: string;
  token: string;
  side: 'long' | 'short';
  /** The total size opened. */
  quantity: string;
  entryPrice: string;
  closePrice: string;
  /** Includes funding but not fees: subtract `fees` to get the exchange's net profit. */
  realisedProfit: string;
  /** Fees for opening and closing; negative if the exchange paid. */
  fees: string;
  /** The part of `realisedProfit` that is funding, negative if the account paid; null if the exchange does not tell it. */
  funding: string | null;
  openedAt: Date;
  closedAt: Date;
}

export interface LedgerReach {
  /** Older entries are not told any more. */
  keptMs: number;
  longestPeriodMs: number;
}

export interface LedgerQuery {
  from: Date;
  to: Date;
  /** Of the page before; without it the first page. */
  cursor?: string;
}

export interface LedgerPage {
  /** Newest first; those of one instant in the exchange's order, too. */
  entries: LedgerEntry[];
  /** Of the next page; null: there is no more. */
  next: string | null;
}

/** A movement of the USDT wallet. A record of the exchange with a result and a fee gives one entry for each. */
export interface LedgerEntry {
  /** The same whenever the entry is told, unique within the account. */
  id: string;
  at: Date;
  /** `deposit` and `withdrawal` are whatever enters or leaves the trading wallet, transfers within the exchange included. */
  kind: 'trade' | 'fee' | 'funding' | 'deposit' | 'withdrawal' | 'other';
  /** Signed, in USDT: what it added to the wallet. */
  amount: string;
  /** Of the wallet after the entry, in USDT; null where the exchange does not tell it. */
  balance: string | null;
  token: string | null;
  /** Of the order that caused it; null where the exchange does not tell it. */
  clientOrderId: string | null;
  /** In plain words, such as 'Bought BTC'. */
  text: string;
}

export interface ClosingOrder {
  clientOrderId: string;
  /** `order`: an order that somebody sent. */
  source: 'stop loss' | 'take profit' | 'liquidation' | 'order';
}

export interface ProtectionRequest {
  token: string;
  side: 'long' | 'short';
  quantity: string;
  stopLoss: string | null;
  takeProfit: string | null;
  clientOrderId: string;
}

export interface CloseRequest {
  token: string;
  side: 'long' | 'short';
  quantity: string;
  clientOrderId: string;
}

/** A call other than a placement failed. `kind` tells the caller how to react. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError';
  readonly kind: 'retry-later' | 'credentials' | 'refused' | 'unknown';
  readonly code: string | null;
  constructor(
    kind: ExchangeError['kind'],
    message: string,
    options: { code?: string | null; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.code = options.code ?? null;
  }
}

/** Turns a failed call into a value; rethrows anything else. */
export function asExchangeError(error: unknown): ExchangeError {
  if (error instanceof ExchangeError) return error;
  throw error;
}

/** The code of an answer that came but cannot be read, or contradicts what was asked for. */
export const UNREADABLE = 'unreadable';

/** The code of a request refused here, before anything is sent. */
export const NOT_SENT = 'not-sent';

export const notSent = (message: string) => new ExchangeError('refused', message, { code: NOT_SENT });

/** No entry is larger, in coins or in USDT, whatever it was sized by. */
const LARGEST_ENTRY = '1e12';

/** Refuses an entry of a size that no account can mean. */
export function requireEntrySize({ quantity, price }: Pick<EntryOrder, 'quantity' | 'price'>): void {
  if (!isPositive(quantity) || !isPositive(price)) return;
  if (D(quantity).lte(LARGEST_ENTRY) && D(quantity).times(price).lte(LARGEST_ENTRY)) return;
  throw notSent(`An entry of ${quantity} at ${price} is larger than any that is sent`);
}

const CLIENT_ORDER_ID = /^[0-9A-Za-z_-]{1,32}$/;

/** Checks the format that every exchange accepts as a client order id. */
export function requireClientOrderId(clientOrderId: string): void {
  if (CLIENT_ORDER_ID.test(clientOrderId)) return;
  throw notSent(`A client order id is 1 to 32 of 0-9 A-Z a-z _ -, not ${JSON.stringify(clientOrderId)}`);
}
