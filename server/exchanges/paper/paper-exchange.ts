import type { ExchangeCredentials } from '../exchange.ts';
import { createBitgetDialect } from './dialects/bitget.ts';
import { createBybitDialect } from './dialects/bybit.ts';
import type { DialectOptions } from './dialects/dialect.ts';
import { answerAfter, answerBefore } from './fault-answers.ts';
import { createFaults, type PaperFault } from './faults.ts';
import { createGate } from './gate.ts';
import type { MarkSource } from './mark-source.ts';
import type { StopDrop } from './matching.ts';
import { BUILT_IN_TOKENS } from './paper-contracts.ts';
import { userIdOfPaperKey } from './paper-credentials.ts';
import type { PaperRequest, PaperResponse } from './paper-http.ts';
import { type PaperKey, TRADING_KEY } from './paper-key.ts';
import { booksWithOpenBusiness } from './paper-queries.ts';
import { type PaperContext, type TransactionalPaperDatabase, withAccount } from './paper-session.ts';
import { createAccountReader } from './paper-store.ts';
import { createPutOff } from './put-off.ts';
import { createTokenFinder } from './token-finder.ts';

/** Futures exchanges of our own, with their books in the database and their prices from the stored signals and candles. */
export interface PaperExchange {
  /** Answers one request of an exchange's REST dialect: Bybit's under /v5/, else Bitget's. The books of the two are apart. */
  handle(request: PaperRequest): Promise<PaperResponse>;
  /** Applies new prices of the token to every account that has a position or a resting order in it. */
  settle(token: string): Promise<void>;
  /** Replaces the faults in force. For tests, by code alone: no request can reach it. */
  setFaults(faults: readonly PaperFault[]): void;
}

export interface PaperExchangeOptions {
  db: TransactionalPaperDatabase;
  clock: { now(): Date };
  marks: MarkSource;
  /** USDT that a new account holds. */
  startBalance: string;
  credentialsFor: (userId: string) => ExchangeCredentials;
  /** Whose key it is; keys name their user when not given. */
  userIdOfKey?: (apiKey: string) => string | null;
  /** What an account's key may do; everything but withdraw when not given. */
  keyOf?: (userId: string) => PaperKey;
  faults?: readonly PaperFault[];
  onError?: (error: unknown) => void;
}

const CONCURRENT_BOOKS = 6;
/** A price is applied so much later at most; under load that is one query for hundreds of prices. */
const FIND_BOOKS_EVERY_MS = 20;

export function createPaperExchange(options: PaperExchangeOptions): PaperExchange {
  const { db, clock, marks, startBalance, credentialsFor, userIdOfKey = userIdOfPaperKey } = options;
  const onError = options.onError ?? (() => undefined);
  const faults = createFaults(options.faults);
  const stopDrops = new Map<string, StopDrop>();
  const putOff = createPutOff({ clock, onError });
  const findBooks = createTokenFinder({
    find: (tokens) => booksWithOpenBusiness(db, tokens),
    everyMs: FIND_BOOKS_EVERY_MS,
  });
  const context: PaperContext = {
    db,
    clock,
    marks,
    readAccount: createAccountReader(marks),
    startBalance,
    gate: createGate(CONCURRENT_BOOKS),
    knownTokens: new Set(BUILT_IN_TOKENS),
    keyOf: options.keyOf ?? (() => TRADING_KEY),
    putOff: putOff.add,
    stopDropOf: (order) => stopDrops.get(order.clientOrderId),
  };
  const dialectOptions: DialectOptions = {
    context,
    userIdOfKey,
    credentialsFor,
    loseStopOf: (clientOrderId, when) => stopDrops.set(clientOrderId, when),
    onError,
  };
  const bitget = createBitgetDialect(dialectOptions);
  const bybit = createBybitDialect(dialectOptions);

  return {
    async handle(request) {
      const dialect = request.path.startsWith('/v5/') ? bybit : bitget;
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
      return answerAfter(struck, words, await dialect.answer({ request, faults: struck, now }));
    },
    async settle(token) {
      await putOff.runDue();
      const owners = await findBooks(token);
      // One account that cannot be settled does not keep the others from it: it is settled with its next request.
      await Promise.all(
        owners.map((owner) => withAccount(context, owner, async () => undefined).catch(onError)),
      );
    },
    setFaults: (next) => faults.set(next),
  };
}
