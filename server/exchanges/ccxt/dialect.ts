import type { Exchange as CcxtClient, Market } from 'ccxt';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type {
  AccountBalance,
  ClosedPosition,
  ClosingOrder,
  Contract,
  EntryOrder,
  ExchangeCredentials,
  ExchangeEnvironment,
  KeyInspection,
  LedgerPage,
  LedgerQuery,
  LedgerReach,
  OpenPosition,
  OrderMemory,
  OrderReport,
  Protection,
  Ticker,
} from '../exchange.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { ExchangeAnswer } from './call-scope.ts';
import type { ShownPreparation } from './prepared-accounts.ts';
import type { Transport } from './transport.ts';

export type { CcxtClient, Market };

export interface Envelope {
  code: string;
  message: string;
  /** The exchange's time; null if the answer does not tell it. */
  at: Date | null;
}

export type Parameters = Record<string, unknown>;

/** What an exchange's answer codes mean for the caller. A code in none of the lists leaves the outcome unknown. */
export interface AnswerCodes {
  duplicate: ReadonlySet<string>;
  /** Definite answers: there is no such order and never will be. */
  refused: ReadonlySet<string>;
  retryLater: ReadonlySet<string>;
  /** Our clock is off: try again. */
  clock: ReadonlySet<string>;
  /** Key, signature or permission: also a refusal. */
  credentials: ReadonlySet<string>;
  /** The key belongs to the kind of account that is not traded; treated like bad credentials. */
  otherAccountMode: ReadonlySet<string>;
  orderUnknown: ReadonlySet<string>;
  notCancellable: ReadonlySet<string>;
  /** The requested setting is already in place. */
  alreadySo: ReadonlySet<string>;
  /** The order does not fit its contract: the terms may have changed since the list of contracts was read. */
  otherTerms: ReadonlySet<string>;
}

export type FuturesBalance = Pick<AccountBalance, 'futuresBalance' | 'futuresAvailable' | 'futuresLocked'>;

export interface AccountState {
  leverage: number;
  marginMode: string;
  positionMode: string;
}

/** One way to look up orders by client order id, newest first; empty if it finds none. */
export type OrderLookUp = (client: CcxtClient, symbol: string, clientOrderId: string) => Promise<unknown[]>;

export type LargestOrders = Pick<Contract, 'maximumQuantity' | 'maximumMarketQuantity'>;

export interface ProtectionChange {
  side: 'stopLoss' | 'takeProfit';
  triggerPrice: string;
}

/** A stop or target of a position that is an order of its own. */
export interface ProtectionPlan {
  id: string;
  clientOrderId: string;
  side: ProtectionChange['side'];
  triggerPrice: string | null;
  /** In the base coin; null: it covers the whole position, whatever its size. */
  quantity: string | null;
}

/** The part of a position that its stop and target have to cover. */
export type PositionSize = Pick<OpenPosition, 'token' | 'side' | 'quantity'>;

/** Stop and target are separate orders at one exchange and fields of the position at another. */
export type ProtectionDialect = {
  /** The stop and target orders of one token or of all. */
  list(client: CcxtClient, symbol?: string): Promise<unknown[]>;
  /** Cancels one that was listed. Throws unless the answer names it as cancelled. */
  cancel(client: CcxtClient, symbol: string, info: unknown): Promise<void>;
} & (
  | {
      heldBy: 'orders';
      /** `shown`: what the position itself shows, for a stop or target whose order cannot be read. */
      of(infos: unknown[], position: PositionSize, shown: Protection): Protection;
      /** What the position itself shows: a part is null where only orders show it, and all of it where positions show none. */
      shownByPosition: ((positionInfo: unknown) => Protection) | null;
      /** Null for an order that is neither stop nor target. */
      planOf(info: unknown): ProtectionPlan | null;
      /** Changes the price of one that was listed, and nothing else of it; null where another one has to be placed. */
      modify: ((client: CcxtClient, info: unknown, change: ProtectionChange) => Promise<unknown>) | null;
      /**
       * `isSized`: with a size of its own, beside the one of the whole position, of which there is only one. `isLarge`:
       * the position is above the contract's largest market order.
       */
      orderParameters(
        change: ProtectionChange & { clientOrderId: string; isSized?: boolean; isLarge?: boolean },
      ): Parameters;
    }
  | {
      heldBy: 'position';
      of(positionInfo: unknown): Protection;
      set(client: CcxtClient, symbol: string, change: ProtectionChange): Promise<unknown>;
    }
);

/**
 * Everything specific to one exchange: data, functions that query it (`fetch…` and `read…`, within the scope of one
 * call, one request after the other), and readers (`…Of`) of its own JSON, where numbers are exact strings. A reader
 * throws if a field that matters is missing.
 */
export interface CcxtDialect {
  platform: ExchangePlatform;
  /** The supported kind of account. */
  accountMode: ExchangeCredentials['accountMode'];
  /** The origin that the client uses in each environment. */
  origins: Record<ExchangeEnvironment, string>;
  /** The reason why another address must not be used in an environment, or null. */
  addressProblem(environment: ExchangeEnvironment, address: URL): string | null;
  codes: AnswerCodes;
  /** What an HTTP status means if the answer's code is not decisive. Any other status leaves the outcome open. */
  statuses: ReadonlyMap<number, 'retry-later' | 'credentials'>;
  /** Null if the answer has no envelope of the exchange. */
  envelope(answer: ExchangeAnswer): Envelope | null;
  successCode: string;
  /** Request limits, and how the exchange reports that one was exceeded. */
  limits: RateLimits;
  environmentProblem(environment: ExchangeEnvironment, headers: Record<string, string>): string | null;
  createClient(options: ClientOptions): Promise<CcxtClient>;

  /** Permissions of the call's API key; throws if the answer does not state them. */
  inspectKey(client: CcxtClient): Promise<KeyInspection>;

  /** Why the contract opens no positions: a clause without a full stop; null if it does. */
  entryProblemOf(info: unknown): string | null;
  /** The contract's largest limit and market orders, in units of the token. */
  largestOrdersOf(info: unknown): LargestOrders;
  /** Null while there is no price. */
  fetchTicker(client: CcxtClient, symbol: string, token: string): Promise<Ticker | null>;
  /** All tickers in one request; the reader finds a token's, and returns null where there is no price. */
  fetchTickers(client: CcxtClient): Promise<(token: string) => Ticker | null>;
  /** Null if the answer has no USDT entry. */
  fetchBalance(client: CcxtClient): Promise<FuturesBalance | null>;
  /** Null where spot and futures share one balance. */
  fetchSpotBalance:
    | ((client: CcxtClient) => Promise<Pick<AccountBalance, 'spotBalance' | 'spotAvailable' | 'spotLocked'>>)
    | null;

  oneWayMode: string;
  isolatedMode: string;
  /** Balance and settings in one answer; null where the settings come with the position or by themselves. */
  readAccount:
    | ((client: CcxtClient, symbol: string) => Promise<AccountState & { balance: FuturesBalance | null }>)
    | null;
  /** The settings, where they are an answer of their own; otherwise null. */
  readSettings: ((client: CcxtClient, symbol: string) => Promise<AccountState>) | null;
  /** The margin mode, where it belongs to the whole account; otherwise null. */
  readMarginMode: ((client: CcxtClient) => Promise<string>) | null;

  entryParameters(order: EntryOrder): Parameters;
  closeParameters(clientOrderId: string): Parameters;
  /** Identifies the order to cancel. */
  referenceParameters(clientOrderId: string): Parameters;
  /** Tried in turn: an order is unknown only if none of them finds it. */
  lookUps: readonly OrderLookUp[];
  /** How long the look-ups find an order that has ended. */
  orderMemory: OrderMemory;
  readOpenOrders(client: CcxtClient, symbol: string): Promise<unknown[]>;
  orderOf(info: unknown, token: string): OrderReport;
  isEntry(info: unknown): boolean;
  /** Leverage and margin mode of an order, where orders report them. */
  shownByOrder(info: unknown): ShownPreparation | null;

  readPositions(client: CcxtClient): Promise<unknown[]>;
  /** The position in one token, flat or not, with the settings that the answer shows. */
  readPosition(
    client: CcxtClient,
    symbol: string,
  ): Promise<Partial<Omit<AccountState, 'marginMode'>> & { positions: unknown[] }>;
  /** Null for flat positions. Throws for a contract that may be a renamed one. */
  positionOf(info: unknown): OpenPosition | null;
  protection: ProtectionDialect;

  ledgerReach: LedgerReach;
  /** The entries of the period; the port drops those outside it. */
  fetchLedger(client: CcxtClient, query: LedgerQuery): Promise<LedgerPage>;
  fetchClosedPositions(client: CcxtClient, period: { since: Date; now: Date }): Promise<ClosedPosition[]>;
  /** The order that ended the position, among the orders of this period. */
  findClosingOrder(
    client: CcxtClient,
    symbol: string,
    among: { position: ClosedPosition; from: Date; to: Date },
  ): Promise<ClosingOrder | null>;
}

export interface ClientOptions {
  environment: ExchangeEnvironment;
  userAgent: string;
  transport: Transport;
  now: () => Date;
}
