import type { Exchange as CcxtClient, Market } from 'ccxt';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { ExchangeAnswer } from './call-scope.ts';
import type {
  AccountBalance,
  ClosedPosition,
  ClosingOrder,
  Contract,
  EntryOrder,
  ExchangeEnvironment,
  OpenPosition,
  OrderReport,
  Protection,
  Ticker,
} from './exchange.ts';
import type { Transport } from './transport.ts';

export type { CcxtClient, Market };

export type Parameters = Record<string, unknown>;

/** What an exchange's answer codes mean for the caller. Codes in no list mean that the outcome is not known. */
export interface AnswerCodes {
  duplicate: ReadonlySet<string>;
  /** Definite answers: there is no such order and never will be. */
  refused: ReadonlySet<string>;
  retryLater: ReadonlySet<string>;
  /** Our clock is off. They also count as retry-later. */
  clock: ReadonlySet<string>;
  /** Key, signature or permission. They also count as refused. */
  credentials: ReadonlySet<string>;
  orderUnknown: ReadonlySet<string>;
  notCancellable: ReadonlySet<string>;
}

export interface AccountState {
  leverage: number;
  marginMode: string;
  positionMode: string;
}

/** One exchange's peculiarities, as data and small readers of its own JSON (`info`), where numbers are exact strings. */
export interface CcxtDialect {
  platform: ExchangePlatform;
  origin: string;
  codes: AnswerCodes;
  envelope(answer: ExchangeAnswer): { code: string; message: string } | null;
  isSuccessCode(code: string): boolean;
  environmentProblem(environment: ExchangeEnvironment, headers: Record<string, string>): string | null;
  createClient(options: ClientOptions): Promise<CcxtClient>;

  contractOf(market: Market, token: string): Contract | null;
  tickerOf(info: unknown, token: string): Ticker | null;
  balanceOf(
    info: unknown,
  ): Pick<AccountBalance, 'futuresBalance' | 'futuresAvailable' | 'futuresLocked'> | null;
  spotBalanceOf(info: unknown): Pick<AccountBalance, 'spotBalance' | 'spotAvailable' | 'spotLocked'>;
  accountStateOf(info: unknown): AccountState;
  orderOf(info: unknown, token: string): OrderReport;
  isEntry(info: unknown): boolean;
  positionOf(info: unknown): OpenPosition | null;
  protectionOf(infos: unknown[], position: OpenPosition): Protection;
  /** Null for what is not traded here. */
  closedPositionOf(info: unknown): ClosedPosition | null;
  /** The order among those of the position's time that ended it. */
  closingOrderOf(infos: unknown[], position: ClosedPosition): ClosingOrder | null;
  orderIdOf(info: unknown): string;

  balanceParameters: Parameters;
  spotBalanceParameters: Parameters;
  positionParameters: Parameters;
  oneWayMode: string;
  isolatedMode: string;
  entryParameters(order: EntryOrder): Parameters;
  closeParameters(clientOrderId: string): Parameters;
  referenceParameters(clientOrderId: string): Parameters;
  protectionListParameters: Parameters;
  protectionCancelParameters: Parameters;
  positionHistory: {
    pageSize: number;
    /** It refuses to be asked for more. */
    maxAgeMs: number;
    /** A page of closed positions, from the one after `before` on. */
    read(client: CcxtClient, page: { since: Date; before: string | null }): Promise<unknown[]>;
  };
  orderHistory: { pageSize: number; parameters(period: { from: Date; to: Date }): Parameters };
  protectionParameters(
    side: 'stopLoss' | 'takeProfit',
    order: { triggerPrice: string; clientOrderId: string },
  ): Parameters;
}

export interface ClientOptions {
  environment: ExchangeEnvironment;
  userAgent: string;
  transport: Transport;
  now: () => Date;
}
