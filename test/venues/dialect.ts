import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { ExchangeCredentials } from '#server/exchanges/exchange.ts';
import type { PaperBooks } from '#server/exchanges/paper/paper-books.ts';
import type { FaultWords } from './fault-answers.ts';
import type { StruckFaults } from './faults.ts';
import type { VenueAnswer, VenueRequest } from './http.ts';
import type { VenueOperation } from './operations.ts';
import type { PutOffTask } from './put-off.ts';
import type { VenueKey } from './venue-key.ts';

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

/** The fields of a JSON body; none when it is not an object. */
export function bodyFields(body: string): Record<string, unknown> {
  try {
    const fields: unknown = JSON.parse(body || '{}');
    return fields !== null && typeof fields === 'object' && !Array.isArray(fields)
      ? (fields as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}
