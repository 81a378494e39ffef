import type { Venue } from '#server/exchanges/ccxt/venue.ts';
import type { ExchangeCredentials } from '#server/exchanges/exchange.ts';
import { orderedStop, type StopAtFill } from '#server/exchanges/paper/matching.ts';
import {
  createSettler,
  openPaperBooks,
  type PaperBooksOptions,
} from '#server/exchanges/paper/paper-books.ts';
import { createBitgetDialect } from './bitget/bitget.ts';
import { createBitgetUnifiedDialect } from './bitget-unified/bitget-unified.ts';
import { noStrategies } from './bitget-unified/strategies.ts';
import { createBybitDialect } from './bybit/bybit.ts';
import { createVenueContracts, type VenueContract } from './contracts.ts';
import type { DialectOptions } from './dialect.ts';
import { answerAfter, answerBefore } from './fault-answers.ts';
import { createFaults, type VenueFault } from './faults.ts';
import { createPutOff } from './put-off.ts';
import { createRequestLimits } from './request-limits.ts';
import { TRADING_KEY, userIdOfVenueKey, type VenueKey } from './venue-credentials.ts';
import { bookMovement, type WalletMovement } from './venue-ledger.ts';

/** Bitget's and Bybit's APIs with scripted faults, on the books and the matching of paper mode. */
export interface TestVenue extends Venue {
  /** Applies new prices of the token to every account that has a position or a resting order in it. */
  settle(token: string): Promise<void>;
  /** Replaces the active faults. */
  setFaults(faults: readonly VenueFault[]): void;
  /** Books a deposit, a withdrawal or funding of an account that exists. */
  move(movement: WalletMovement): Promise<void>;
  /** Replaces what is special about contracts. */
  setContracts(contracts: readonly VenueContract[]): void;
}

export interface VenueOptions extends Omit<PaperBooksOptions, 'stopAtFill'> {
  credentialsFor: (userId: string) => ExchangeCredentials;
  /** The owner of a key; by default the key names its user. */
  userIdOfKey?: (apiKey: string) => string | null;
  /** The permissions of an account's key; by default everything except withdrawals. */
  keyOf?: (userId: string) => VenueKey;
  faults?: readonly VenueFault[];
  /** `documented`: enforces the exchanges' documented limits per account and address. */
  limits?: 'none' | 'documented';
  onError?: (error: unknown) => void;
}

export function createVenue(options: VenueOptions): TestVenue {
  const { clock, credentialsFor, userIdOfKey = userIdOfVenueKey } = options;
  const onError = options.onError ?? (() => undefined);
  const faults = createFaults(options.faults);
  const limits = options.limits === 'documented' ? createRequestLimits() : null;
  const struckStops = new Map<string, StopAtFill>();
  const putOff = createPutOff({ clock, onError });
  const contracts = createVenueContracts();
  const movements: WalletMovement[] = [];
  const books = {
    contracts,
    strategies: noStrategies(),
    movements,
    ...openPaperBooks({
      ...options,
      stopAtFill: (order, fill) => (struckStops.get(order.clientOrderId) ?? orderedStop)(order, fill),
    }),
    keyOf: options.keyOf ?? (() => TRADING_KEY),
    cancelAskedAt: new Map<string, Date>(),
    putOff: putOff.add,
  };
  const settle = createSettler(books, onError);
  const dialectOptions: DialectOptions = {
    books,
    userIdOfKey,
    credentialsFor,
    strikeStopOf: (clientOrderId, stopAtFill) => struckStops.set(clientOrderId, stopAtFill),
    onError,
  };
  const bitget = createBitgetDialect(dialectOptions);
  const unified = createBitgetUnifiedDialect(dialectOptions);
  const bybit = createBybitDialect(dialectOptions);
  const dialectOf = (path: string) => {
    if (path.startsWith('/v5/')) return bybit;
    return path.startsWith('/api/v3/') ? unified : bitget;
  };

  return {
    // Bybit's paths begin with /v5/; all others are Bitget's, those of unified accounts with /api/v3/. The two have
    // separate books.
    async handle(request) {
      const dialect = dialectOf(request.path);
      const { platform } = dialect;
      const userId = dialect.userIdOf(request);
      const operations = dialect.operationsOf(request);
      const struck = faults.strike({ path: request.path, platform, operations, userId });
      await putOff.runDue(userId === null ? undefined : { userId, platform });
      const offsetMs = Number(struck.find('clockOff')?.offsetMs ?? 0);
      const now = new Date(clock.now().getTime() + (Number.isFinite(offsetMs) ? offsetMs : 0));
      const words = dialect.words(now);
      const early = await answerBefore(struck, words);
      if (early) return early;
      const counted = limits?.count({ platform, request, userId, now: clock.now(), words });
      if (counted?.refusal) return counted.refusal;
      const ageMs = struck.find('oldPrices')?.ageMs ?? 0;
      const at = new Date(now.getTime() - ageMs);
      const answer = answerAfter(struck, words, await dialect.answer({ request, faults: struck, now: at }));
      return counted?.report(answer) ?? answer;
    },
    async settle(token) {
      await putOff.runDue();
      await settle(token);
    },
    move: (movement) => bookMovement(options.db, movements, movement),
    setFaults: (next) => faults.set(next),
    setContracts: (next) => contracts.set(next),
  };
}
