import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { ExchangeCredentials } from '../../exchange.ts';
import type { FaultWords } from '../fault-answers.ts';
import type { StruckFaults } from '../faults.ts';
import type { PaperOperation } from '../operations.ts';
import type { PaperRequest, PaperResponse } from '../paper-http.ts';
import type { PaperContext } from '../paper-session.ts';

/** One exchange's REST dialect over the paper books: routes, signatures, envelope and codes. */
export interface PaperDialect {
  platform: ExchangePlatform;
  /** Whose key the request names, whether it is signed right or not. */
  userIdOf(request: PaperRequest): string | null;
  operationsOf(request: PaperRequest): readonly PaperOperation[];
  /** `now` is the time by the exchange's clock. */
  words(now: Date): FaultWords;
  answer(call: { request: PaperRequest; faults: StruckFaults; now: Date }): Promise<PaperResponse>;
}

export interface DialectOptions {
  context: PaperContext;
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
