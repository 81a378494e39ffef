import { bitgetRefusal } from '#server/exchanges/paper/bitget-words.ts';
import type { DialectOptions, VenueDialect } from '../dialect.ts';
import { cutConnection, jsonAnswer } from '../http.ts';
import { AnswerLost, refusalWords, VenueRefusal } from '../refusals.ts';
import { bitgetOperations } from './operations.ts';
import { BITGET_PRIVATE } from './private.ts';
import { BITGET_PUBLIC } from './public.ts';
import { authenticateBitgetRequest } from './signature.ts';

const WORDS = { inWords: bitgetRefusal, usual: { code: '40020', message: 'Parameter error' } };

/** Bitget's v2 REST dialect for USDT futures. A refusal has an HTTP status of its own. */
export function createBitgetDialect(options: DialectOptions): VenueDialect {
  const { books, userIdOfKey, credentialsFor, loseStopOf, onError } = options;
  const envelope = (now: Date, status: number, code: string, msg: string, data: unknown) =>
    jsonAnswer(status, { code, msg, requestTime: now.getTime(), data });
  const refusal = (now: Date, code: string, message: string, status = statusOfCode(code)) =>
    envelope(now, status, code, message, null);

  return {
    platform: 'Bitget',
    userIdOf: ({ headers }) => userIdOfKey(headers['access-key'] ?? ''),
    operationsOf: bitgetOperations,
    words: (now) => ({
      refusal: (code, message, status) => refusal(now, code, message, status),
      tooManyRequests({ retryAfterMs }) {
        const answer = refusal(now, '429', 'Too Many Requests', 429);
        if (retryAfterMs === undefined) return answer;
        const seconds = String(Math.ceil(retryAfterMs / 1000));
        return { ...answer, headers: { ...answer.headers, 'retry-after': seconds } };
      },
      internalError: () => refusal(now, '45001', 'Unknown error', 500),
      wrongKey: () => refusal(now, '40006', 'Invalid ACCESS_KEY'),
    }),

    async answer({ request, faults, now }) {
      const route = `${request.method} ${request.path}`;
      try {
        const publicHandler = BITGET_PUBLIC[route];
        if (publicHandler) {
          return envelope(now, 200, '00000', 'success', await publicHandler({ books, request, now }));
        }
        const handler = BITGET_PRIVATE[route];
        if (!handler) return refusal(now, '40404', 'Request URL NOT FOUND');
        const userId = authenticateBitgetRequest({ request, now, userIdOfKey, credentialsFor });
        if (books.keyOf(userId).accountMode === 'unified') throw otherAccountMode();
        const data = await handler({ books, request, userId, faults, loseStopOf });
        return envelope(now, 200, '00000', 'success', data);
      } catch (error) {
        if (error instanceof AnswerLost) return cutConnection();
        const words = refusalWords(error, WORDS);
        if (words) return refusal(now, words.code, words.message);
        onError(error);
        return refusal(now, '500', 'System busy', 500);
      }
    },
  };
}

const HTTP_STATUS: Record<string, number> = { '40404': 404, '429': 429 };

const statusOfCode = (code: string) => HTTP_STATUS[code] ?? 400;

const otherAccountMode = () =>
  new VenueRefusal('40085', 'You are in Unified Account mode, and the Classic Account API is not supported');
