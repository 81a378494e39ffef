import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { ExchangeCredentials } from '#server/exchanges/exchange.ts';
import type { BookOwner } from '#server/exchanges/paper/book.ts';
import {
  type PaperBooks,
  type PaperSession,
  viewAccount,
  withAccount,
} from '#server/exchanges/paper/paper-books.ts';
import { isListed } from '#server/exchanges/paper/paper-contracts.ts';
import { refusalOf } from '#server/exchanges/paper/platform-words.ts';
import { BookRefusal, type RefusalWords } from '#server/exchanges/paper/refusals.ts';
import type { FaultWords } from './fault-answers.ts';
import type { StruckFaults } from './faults.ts';
import { cutConnection, type VenueAnswer, type VenueRequest } from './http.ts';
import type { VenueOperation } from './operations.ts';
import { isGiven, type Parameters, tokenOfSymbol } from './parameters.ts';
import type { PutOffTask } from './put-off.ts';
import { AnswerLost, StruckRefusal, VenueRefusal } from './refusals.ts';
import type { VenueKey } from './venue-credentials.ts';

/** One exchange's REST dialect over the paper books: routes, signatures, envelope and codes. */
export interface VenueDialect {
  platform: ExchangePlatform;
  /** Whose key the request names, whether it is signed right or not. */
  userIdOf(request: VenueRequest): string | null;
  operationsOf(request: VenueRequest): readonly VenueOperation[];
  /** `now` is the time by the exchange's clock. */
  words(now: Date): FaultWords;
  answer(call: { request: VenueRequest; faults: StruckFaults; now: Date }): Promise<VenueAnswer>;
}

/** The paper books, and what only a venue knows of their accounts. */
export interface VenueBooks extends PaperBooks {
  keyOf(userId: string): VenueKey;
  /** Does something for an account when its time has come: what a fault has put off. */
  putOff(task: PutOffTask): void;
}

export interface DialectOptions {
  books: VenueBooks;
  userIdOfKey: (apiKey: string) => string | null;
  credentialsFor: (userId: string) => ExchangeCredentials;
  loseStopOf: LoseStopOf;
  onError: (error: unknown) => void;
}

/** Orders whose stop loss a fault makes the exchange lose, whenever they fill. */
export type LoseStopOf = (clientOrderId: string, when: 'always' | 'while partly filled') => void;

export interface PublicCall {
  books: VenueBooks;
  request: VenueRequest;
  /** The time by the exchange's clock. */
  now: Date;
  parameters: Parameters;
  /** The token of the request's contract; refused as the exchange does when no such contract is listed. */
  token(): Promise<string>;
  /** Null when the request names no symbol. */
  optionalToken(): Promise<string | null>;
}

export interface PrivateCall extends PublicCall {
  owner: BookOwner;
  faults: StruckFaults;
  loseStopOf: LoseStopOf;
  inAccount<T>(work: (session: PaperSession) => Promise<T>): Promise<T>;
}

export type PublicRoutes = Record<string, (call: PublicCall) => Promise<unknown>>;
export type PrivateRoutes = Record<string, (call: PrivateCall) => Promise<unknown>>;

/** What is particular to a dialect. */
export interface DialectParts {
  platform: ExchangePlatform;
  keyHeader: string;
  operationsOf: VenueDialect['operationsOf'];
  publicRoutes: PublicRoutes;
  privateRoutes: PrivateRoutes;
  parametersOf(request: VenueRequest): Parameters;
  /** Refuses a request that names no listed contract. */
  unknownSymbol(parameters: Parameters): Error;
  /** Whose request it is; refuses it when key, time or signature are not right. */
  authenticate(call: DialectOptions & { request: VenueRequest; now: Date }): string;
  success(now: Date, data: unknown): VenueAnswer;
  refusal(now: Date, words: RefusalWords): VenueAnswer;
  unknownRoute(now: Date): VenueAnswer;
  failure(now: Date): VenueAnswer;
  /** What a fault refuses with, unless it brings words of its own. */
  usual: RefusalWords;
  words: VenueDialect['words'];
}

export function createDialect(options: DialectOptions, parts: DialectParts): VenueDialect {
  const { books, userIdOfKey, loseStopOf, onError } = options;
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
      loseStopOf,
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

/** The code and words of a refusal; null for any other error. */
function refusalWords(error: unknown, { platform, usual }: DialectParts): RefusalWords | null {
  if (error instanceof VenueRefusal) return error;
  if (error instanceof StruckRefusal) {
    return { code: error.code ?? usual.code, message: error.words ?? usual.message };
  }
  return error instanceof BookRefusal ? refusalOf(platform, error.reason) : null;
}

/** What the newest marks did is in the tables only after a transaction of its own. */
export const settled = ({ inAccount }: PrivateCall) => inAccount(async () => undefined);
