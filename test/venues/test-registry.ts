import type {
  CallRecord,
  EntryOrder,
  Exchange,
  ExchangeAccount,
  OpenPosition,
  PlacementContext,
} from '#server/exchanges/exchange.ts';
import {
  createExchangeRegistry,
  type ExchangeRegistry,
  type ExchangeRegistryOptions,
} from '#server/exchanges/registry.ts';
import { systemClock } from '#server/platform/clock.ts';
import { accountModeOf, type SuiteDialect } from './exchange-suite-words.ts';
import type { VenueFault } from './faults.ts';
import { jsonAnswer, type VenueAnswer, type VenueRequest } from './http.ts';
import type { TestVenue } from './venue.ts';

/** An exchange under test, with control over its prices and books. */
export interface ExchangeUnderTest {
  exchange: Exchange;
  /** The margin mode that positions report. */
  marginModeOfPosition: OpenPosition['marginMode'];
  /** A new account with 10,000 USDT. */
  newAccount(): ExchangeAccount;
  push(token: string, price: string): void;
  /** Puts the account into the unsupported position mode, bypassing the port. */
  setHedgeMode(account: ExchangeAccount, token: string): Promise<void>;
  /** Removes the position's stop, bypassing the port. */
  loseStop(account: ExchangeAccount, token: string): Promise<void>;
  /** Adds copies of all orders and fills of the account to the exchange's books, one after the other. */
  repeatTrades(account: ExchangeAccount, times: number): Promise<void>;
  /** The exchange's own ledger, bypassing the port. */
  ordersOf(account: ExchangeAccount): Promise<{ clientOrderId: string; state: string; filledSize: string }[]>;
  balanceOf(account: ExchangeAccount): Promise<string>;
  close(): Promise<void>;
}

/** An exchange reached over a wire, with control over the faults on it. */
export interface WiredExchange extends ExchangeUnderTest {
  /** The same exchange with a short deadline, for tests that wait for a timeout. */
  hastyExchange: Exchange;
  setFaults(faults: VenueFault[]): void;
  move: TestVenue['move'];
}

/** A registry in paper mode without limits, unless overridden. */
export const testRegistry = (options: Partial<ExchangeRegistryOptions>): ExchangeRegistry =>
  createExchangeRegistry({
    exchangeMode: 'paper',
    bitgetBaseUrl: null,
    bybitBaseUrl: null,
    exchangeProxyUrls: [],
    exchangeAddress: null,
    exchangeTimeoutMs: 5_000,
    clock: systemClock,
    ...options,
  });

/** A registry whose exchanges answer in process: with a value sent as JSON, or with a complete answer. */
export const answeringRegistry = (
  answer: (request: VenueRequest) => unknown,
  options: Partial<ExchangeRegistryOptions> = {},
): ExchangeRegistry =>
  testRegistry({
    ...options,
    venue: {
      async handle(request) {
        const answered = await answer(request);
        return isAnswer(answered) ? answered : jsonAnswer(200, answered);
      },
    },
  });

const isAnswer = (value: unknown): value is VenueAnswer =>
  value !== null && typeof value === 'object' && 'delivery' in value;

/** An account of the kind that is supported on the platform. */
export const accountOn = (
  dialect: SuiteDialect,
  changes: Partial<Omit<ExchangeAccount, 'credentials'>> = {},
): ExchangeAccount => ({
  userId: 'ann',
  environment: 'paper',
  ...changes,
  credentials: {
    apiKey: 'key of ann',
    apiSecret: 'secret of ann',
    ...(dialect === 'Bybit' ? {} : { passphrase: 'phrase of ann' }),
    accountMode: accountModeOf(dialect),
  },
});

export const inTime = (): PlacementContext => ({ notAfter: new Date(Date.now() + 60_000) });

/** A call context and the calls recorded with it. */
export function recording(): { calls: CallRecord[]; context: PlacementContext } {
  const calls: CallRecord[] = [];
  return { calls, context: { ...inTime(), onCall: (call) => calls.push(call) } };
}

let lastId = 0;
export const newId = () => {
  lastId += 1;
  return `t${Date.now().toString(36)}-${lastId}`;
};

/** A long entry at the market price of most tests. */
export const buy = (changes: Partial<EntryOrder> = {}): EntryOrder => ({
  token: 'BTC',
  side: 'buy',
  clientOrderId: newId(),
  price: '65000',
  quantity: '0.01',
  leverage: 10,
  stopLoss: '63000',
  takeProfit: '69000.1',
  ...changes,
});
