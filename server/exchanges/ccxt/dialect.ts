import type { Exchange as CcxtClient, Market } from 'ccxt';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type {
  AccountBalance,
  ClosedPosition,
  ClosingOrder,
  EntryOrder,
  ExchangeCredentials,
  ExchangeEnvironment,
  KeyInspection,
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
}

export type Parameters = Record<string, unknown>;

/** What an exchange's answer codes mean for the caller. Codes in no list mean that the outcome is not known. */
export interface AnswerCodes {
  duplicate: ReadonlySet<string>;
  /** Definite answers: there is no such order and never will be. */
  refused: ReadonlySet<string>;
  retryLater: ReadonlySet<string>;
  /** Our clock is off: to be tried again. */
  clock: ReadonlySet<string>;
  /** Key, signature or permission: refused as well. */
  credentials: ReadonlySet<string>;
  /** The key belongs to an account of the kind that is not traded: a matter of credentials as well. */
  otherAccountMode: ReadonlySet<string>;
  orderUnknown: ReadonlySet<string>;
  notCancellable: ReadonlySet<string>;
  /** What was to be set is so already. */
  alreadySo: ReadonlySet<string>;
}

export interface AccountState {
  leverage: number;
  marginMode: string;
  positionMode: string;
}

/** One way to look an order up: those of this client order id, the newest first; empty where this way knows none. */
export type OrderLookUp = (client: CcxtClient, symbol: string, clientOrderId: string) => Promise<unknown[]>;

export interface ProtectionChange {
  side: 'stopLoss' | 'takeProfit';
  triggerPrice: string;
}

/** Stop and target are orders of their own at one exchange, and figures of the position at another. */
export type ProtectionDialect = {
  /** The orders that stop and target are, in a token or in all. */
  list(client: CcxtClient, symbol?: string): Promise<unknown[]>;
  cancelParameters: Parameters;
} & (
  | {
      heldBy: 'orders';
      of(infos: unknown[], position: OpenPosition): Protection;
      orderParameters(change: ProtectionChange & { clientOrderId: string }): Parameters;
    }
  | {
      heldBy: 'position';
      of(positionInfo: unknown): Protection;
      set(client: CcxtClient, symbol: string, change: ProtectionChange): Promise<unknown>;
    }
);

/**
 * What is particular to one exchange: data, functions that ask it (`fetch…` and `read…`, in the scope of one call, one
 * request after the other), and readers (`…Of`) of its own JSON, where numbers are exact strings. A reader throws where
 * a field that matters is missing.
 */
export interface CcxtDialect {
  platform: ExchangePlatform;
  /** The kind of account that is traded. */
  accountMode: ExchangeCredentials['accountMode'];
  /** The one origin that the client names in each environment. */
  origins: Record<ExchangeEnvironment, string>;
  /** Says why another address must not be used in an environment, or null. */
  addressProblem(environment: ExchangeEnvironment, address: URL): string | null;
  codes: AnswerCodes;
  /** What an answer means by its HTTP status where its code says nothing. Others leave the outcome open. */
  statuses: ReadonlyMap<number, 'retry-later' | 'credentials'>;
  /** Null where the answer has no envelope of the exchange. */
  envelope(answer: ExchangeAnswer): Envelope | null;
  successCode: string;
  /** How much it may be asked, and how it says that it was too much. */
  limits: RateLimits;
  environmentProblem(environment: ExchangeEnvironment, headers: Record<string, string>): string | null;
  createClient(options: ClientOptions): Promise<CcxtClient>;

  /** What the key of the call's account may do; throws where the answer does not say. */
  inspectKey(client: CcxtClient): Promise<KeyInspection>;

  /** Null while there is no price. */
  fetchTicker(client: CcxtClient, symbol: string, token: string): Promise<Ticker | null>;
  /** Null where the answer names no USDT. */
  fetchBalance(
    client: CcxtClient,
  ): Promise<Pick<AccountBalance, 'futuresBalance' | 'futuresAvailable' | 'futuresLocked'> | null>;
  /** Null where spot and futures are one balance. */
  fetchSpotBalance:
    | ((client: CcxtClient) => Promise<Pick<AccountBalance, 'spotBalance' | 'spotAvailable' | 'spotLocked'>>)
    | null;

  oneWayMode: string;
  isolatedMode: string;
  fetchAccountState(client: CcxtClient, symbol: string): Promise<AccountState>;

  entryParameters(order: EntryOrder): Parameters;
  closeParameters(clientOrderId: string): Parameters;
  /** Names an order that is to be cancelled. */
  referenceParameters(clientOrderId: string): Parameters;
  /** An order is unknown when each of them, asked in turn, knows none. */
  lookUps: readonly OrderLookUp[];
  /** How long they know an order that has ended. */
  orderMemory: OrderMemory;
  readOpenOrders(client: CcxtClient, symbol: string): Promise<unknown[]>;
  orderOf(info: unknown, token: string): OrderReport;
  isEntry(info: unknown): boolean;
  /** Leverage and margin mode of an order, where orders say them. */
  shownByOrder(info: unknown): ShownPreparation | null;

  readPositions(client: CcxtClient): Promise<unknown[]>;
  /** Null for what is not traded here, and for what is flat. */
  positionOf(info: unknown): OpenPosition | null;
  protection: ProtectionDialect;

  fetchClosedPositions(client: CcxtClient, period: { since: Date; now: Date }): Promise<ClosedPosition[]>;
  /** The order that ended the position, among those of this time. */
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
