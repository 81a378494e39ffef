import { createDialect, type DialectOptions, type DialectParts, type VenueDialect } from '../dialect.ts';
import { jsonAnswer } from '../http.ts';
import { VenueRefusal } from '../refusals.ts';
import { bitgetOperations } from './operations.ts';
import { parametersOf } from './parameters.ts';
import { BITGET_PRIVATE } from './private.ts';
import { BITGET_PUBLIC } from './public.ts';
import { authenticateBitgetRequest } from './signature.ts';

const envelope = (now: Date, status: number, code: string, msg: string, data: unknown = null) =>
  jsonAnswer(status, { code, msg, requestTime: now.getTime(), data });

const refusal = (now: Date, code: string, message: string, status = STATUSES[code] ?? 400) =>
  envelope(now, status, code, message);

/** How both of Bitget's dialects answer. Refusals use an HTTP error status, 400 by default. */
export const bitgetAnswers: Pick<
  DialectParts,
  'success' | 'refusal' | 'unknownRoute' | 'failure' | 'usual' | 'words'
> = {
  success: (now, data) => envelope(now, 200, '00000', 'success', data),
  refusal: (now, { code, message }) => refusal(now, code, message),
  unknownRoute: (now) => refusal(now, '40404', 'Request URL NOT FOUND'),
  failure: (now) => refusal(now, '500', 'System busy', 500),
  usual: { code: '40020', message: 'Parameter error' },
  words: (now) => ({
    refusal: (code, message, status) => refusal(now, code, message, status),
    tooManyRequests({ retryAfterMs }) {
      const answer = refusal(now, '429', 'Too Many Requests');
      if (retryAfterMs === undefined) return answer;
      const seconds = String(Math.ceil(retryAfterMs / 1000));
      return { ...answer, headers: { ...answer.headers, 'retry-after': seconds } };
    },
    internalError: () => refusal(now, '45001', 'Unknown error', 500),
    wrongKey: () => refusal(now, '40006', 'Invalid ACCESS_KEY'),
  }),
};

/** Bitget's v2 REST dialect for USDT futures. */
export const createBitgetDialect = (options: DialectOptions): VenueDialect =>
  createDialect(options, {
    ...bitgetAnswers,
    platform: 'Bitget',
    keyHeader: 'access-key',
    operationsOf: bitgetOperations,
    publicRoutes: BITGET_PUBLIC,
    privateRoutes: BITGET_PRIVATE,
    parametersOf,
    unknownSymbol: ({ symbol = 'symbol' }) => new VenueRefusal('40034', `Parameter ${symbol} does not exist`),
    authenticate(call) {
      const userId = authenticateBitgetRequest(call);
      if (options.books.keyOf(userId).accountMode !== 'unified') return userId;
      throw new VenueRefusal(
        '40085',
        'You are in Unified Account mode, and the Classic Account API is not supported',
      );
    },
  });

const STATUSES: Record<string, number> = { '40404': 404, '429': 429 };
