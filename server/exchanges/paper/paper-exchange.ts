import type { ExchangeCredentials } from '../exchange.ts';
import { createBitgetDialect } from './dialects/bitget.ts';
import { createFaults, type PaperFault } from './faults.ts';
import { createGate } from './gate.ts';
import type { MarkSource } from './mark-source.ts';
import { BUILT_IN_TOKENS } from './paper-contracts.ts';
import type { PaperRequest, PaperResponse } from './paper-http.ts';
import { type PaperContext, type TransactionalPaperDatabase, withAccount } from './paper-session.ts';
import { usersWithOpenBusiness } from './paper-store.ts';

/** A futures exchange of our own, with its books in the database and its prices from the stored signals and candles. */
export interface PaperExchange {
  /** Answers one request of an exchange's REST dialect. */
  handle(request: PaperRequest): Promise<PaperResponse>;
  /** Applies new prices of the token to every account that has a position or a resting order in it. */
  settle(token: string): Promise<void>;
  /** Replaces the faults in force. For tests, by code alone: no request can reach it. */
  setFaults(faults: PaperFault[]): void;
}

export interface PaperExchangeOptions {
  db: TransactionalPaperDatabase;
  clock: { now(): Date };
  marks: MarkSource;
  /** USDT that a new account holds. */
  startBalance: string;
  credentialsFor: (userId: string) => ExchangeCredentials;
  faults?: PaperFault[];
  onError?: (error: unknown) => void;
}

const CONCURRENT_BOOKS = 6;

export function createPaperExchange(options: PaperExchangeOptions): PaperExchange {
  const { db, clock, marks, startBalance, credentialsFor } = options;
  const onError = options.onError ?? (() => undefined);
  const faults = createFaults(options.faults);
  const ordersWithoutStop = new Set<string>();
  const context: PaperContext = {
    db,
    clock,
    marks,
    startBalance,
    gate: createGate(CONCURRENT_BOOKS),
    knownTokens: new Set(BUILT_IN_TOKENS),
    stopIsDropped: (order) => ordersWithoutStop.has(order.clientOrderId),
  };
  const dialect = createBitgetDialect({
    context,
    faults,
    credentialsFor,
    loseStopOf: (clientOrderId) => ordersWithoutStop.add(clientOrderId),
    onError,
  });
  return {
    handle: (request) => dialect.handle(request),
    async settle(token) {
      const userIds = await usersWithOpenBusiness(db, token);
      // One account that cannot be settled does not keep the others from it: it is settled with its next request.
      await Promise.all(
        userIds.map((userId) => withAccount(context, userId, async () => undefined).catch(onError)),
      );
    },
    setFaults: (next) => faults.set(next),
  };
}
