import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { ExchangeCredentials } from '#server/exchanges/exchange.ts';
import type { BookOwner } from '#server/exchanges/paper/book.ts';
import type { StopAtFill } from '#server/exchanges/paper/matching.ts';
import {
  type PaperBooks,
  type PaperSession,
  viewAccount,
  withAccount,
} from '#server/exchanges/paper/paper-books.ts';
import { isListed } from '#server/exchanges/paper/paper-contracts.ts';
import { refusalOf } from '#server/exchanges/paper/platform-words.ts';
import { BookRefusal, type RefusalReason, type RefusalWords } from '#server/exchanges/paper/refusals.ts';
import type { VenueStrategies } from './bitget-unified/strategies.ts';
import type { VenueContracts } from './contracts.ts';
import type { FaultWords } from './fault-answers.ts';
import type { StruckFaults } from './faults.ts';
import { cutConnection, type VenueAnswer, type VenueRequest } from './http.ts';
import type { VenueOperation } from './operations.ts';
import { isGiven, type Parameters, tokenOfSymbol } from './parameters.ts';
import type { PutOffTask } from './put-off.ts';
import { AnswerLost, StruckRefusal, VenueRefusal } from './refusals.ts';
import type { VenueKey } from './venue-credentials.ts';
import type { WalletMovement } from './venue-ledger.ts';

/** One exchange's REST dialect on the paper books: routes, signatures, envelope and codes. */
export interface VenueDialect {
  platform: ExchangePlatform;
  /** The owner of the key in the request, whether or not the signature is valid. */
  userIdOf(request: VenueRequest): string | null;
  operationsOf(request: VenueRequest): readonly VenueOperation[];
  /** `now` is the time by the exchange's clock. */
  words(now: Date): FaultWords;
  answer(call: { request: VenueRequest; faults: StruckFaults; now: Date }): Promise<VenueAnswer>;
}

/** The paper books plus account data that only a venue has. */
export interface VenueBooks extends PaperBooks {
  keyOf(userId: string): VenueKey;
  contracts: VenueContracts;
  strategies: VenueStrategies;
  movements: WalletMovement[];
  /** When the first cancel of an order was asked for, by client order id; only while look-ups are stale. */
  cancelAskedAt: Map<string, Date>;
  /** Schedules work for an account that a fault has postponed. */
  putOff(task: PutOffTask): void;
}

export interface DialectOptions {
  books: VenueBooks;
  userIdOfKey: (apiKey: string) => string | null;
  credentialsFor: (userId: string) => ExchangeCredentials;
  strikeStopOf: StrikeStopOf;
  onError: (error: unknown) => void;
}

/** Marks an order whose position does not get its stop loss as ordered whenever it fills. */
export type StrikeStopOf = (clientOrderId: string, stopAtFill: StopAtFill) => void;

export interface PublicCall {
  books: VenueBooks;
  request: VenueRequest;
  /** The time by the exchange's clock. */
  now: Date;
  parameters: Parameters;
  /** The token of the request's contract; refuses the request as the exchange does if no such contract is listed. */
  token(): Promise<string>;
  /** Null if the request names no symbol. */
  optionalToken(): Promise<string | null>;
}

export interface PrivateCall extends PublicCall {
  owner: BookOwner;
  faults: StruckFaults;
  strikeStopOf: StrikeStopOf;
  inAccount<T>(work: (session: PaperSession) => Promise<T>): Promise<T>;
}

export type PublicRoutes = Record<string, (call: PublicCall) => Promise<unknown>>;
export type PrivateRoutes = Record<string, (call: PrivateCall) => Promise<unknown>>;

/** The parts that differ between dialects. */
export interface DialectParts {
  platform: ExchangePlatform;
  keyHeader: string;
  operationsOf: VenueDialect['operationsOf'];
  publicRoutes: PublicRoutes;
  privateRoutes: PrivateRoutes;
  parametersOf(request: VenueRequest): Parameters;
  /** The words of a refusal by the books, where they are not the platform's. */
  bookRefusal?(reason: RefusalReason): RefusalWords | undefined;
  /** The refusal of a request that names no listed contract. */
  unknownSymbol(parameters: Parameters): Error;
  /** Returns the user who signed the request; refuses it if key, time or signature are wrong. */
  authenticate(call: DialectOptions & { request: VenueRequest; now: Date }): string;
  success(now: Date, data: unknown): VenueAnswer;
  refusal(now: Date, words: RefusalWords): VenueAnswer;
  unknownRoute(now: Date): VenueAnswer;
  failure(now: Date): VenueAnswer;
  /** The default refusal of a fault that has no code or message. */
  usual: RefusalWords;
  words: VenueDialect['words'];
}

export function createDialect(options: DialectOptions, parts: DialectParts): VenueDialect {
  const { books, userIdOfKey, strikeStopOf, onError } = options;
  const { platform, operationsOf, words } = parts;

  async function dataOf(request: VenueRequest, now: Date, faults: StruckFaults): Promise<unknown> {
    const route = `${request.method} ${request.path}`;
    const token = async (parameters: Parameters) => {
      const name = tokenOfSymbol(parameters.symbol ?? '');
      if (name === null || !(await isListed(books, platform, name))) throw parts.unknownSymbol(parameters);
      return name;
    };
    const prepare = (): PublicCall => {
      const parameters = parts.parametersOf(request);
      return {
        books,
        request,
        now,
        parameters,
        token: () => token(parameters),
        optionalToken: async () => (isGiven(parameters, 'symbol') ? token(parameters) : null),
      };
    };
    const publicRoute = parts.publicRoutes[route];
    if (publicRoute) return publicRoute(prepare());
    const privateRoute = parts.privateRoutes[route];
    if (!privateRoute) throw new UnknownRoute();
    const owner = { userId: parts.authenticate({ ...options, request, now }), platform };
    const inAccount = request.method === 'GET' ? viewAccount : withAccount;
    return privateRoute({
      ...prepare(),
      owner,
      faults,
      strikeStopOf,
      inAccount: (work) => inAccount(books, owner, work),
    });
  }

  return {
    platform,
    operationsOf,
    words,
    userIdOf: ({ headers }) => userIdOfKey(headers[parts.keyHeader] ?? ''),
    async answer({ request, faults, now }) {
      try {
        return parts.success(now, await dataOf(request, now, faults));
      } catch (error) {
        if (error instanceof AnswerLost) return cutConnection();
        if (error instanceof UnknownRoute) return parts.unknownRoute(now);
        const refused = refusalWords(error, parts);
        if (refused) return parts.refusal(now, refused);
        onError(error);
        return parts.failure(now);
      }
    },
  };
}

class UnknownRoute extends Error {}

/** Code and message of a refusal; null for any other error. */
function refusalWords(error: unknown, { platform, usual, bookRefusal }: DialectParts): RefusalWords | null {
  if (error instanceof VenueRefusal) return error;
  if (error instanceof StruckRefusal) {
    return { code: error.code ?? usual.code, message: error.words ?? usual.message };
  }
  if (!(error instanceof BookRefusal)) return null;
  return bookRefusal?.(error.reason) ?? refusalOf(platform, error.reason);
}

/** The effects of the newest marks reach the tables only in a separate transaction. */
export const settled = ({ inAccount }: PrivateCall) => inAccount(async () => undefined);
