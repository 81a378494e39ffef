import { bybitRefusal } from '#server/exchanges/paper/bybit-words.ts';
import type { DialectOptions, VenueDialect } from '../dialect.ts';
import { cutConnection, jsonAnswer, textAnswer } from '../http.ts';
import { AnswerLost, refusalWords } from '../refusals.ts';
import { BYBIT_ACCOUNT } from './account.ts';
import type { BybitHandler } from './call.ts';
import { BYBIT_HISTORY } from './history.ts';
import { bybitOperations } from './operations.ts';
import { BYBIT_ORDERS } from './orders.ts';
import { BYBIT_POSITIONS } from './positions.ts';
import { BYBIT_PUBLIC } from './public.ts';
import { authenticateBybitRequest, KEY_HEADER } from './signature.ts';

const PRIVATE: Record<string, BybitHandler> = {
  ...BYBIT_ACCOUNT,
  ...BYBIT_ORDERS,
  ...BYBIT_POSITIONS,
  ...BYBIT_HISTORY,
};

const WORDS = { inWords: bybitRefusal, usual: { code: '10001', message: 'params error' } };

/** The limit of one account, told in headers with every refusal for it. */
const ACCOUNT_LIMIT = '10';

/** Bybit's v5 REST dialect for linear USDT contracts on unified accounts. Refusals have HTTP status 200 as well. */
export function createBybitDialect(options: DialectOptions): VenueDialect {
  const { books, userIdOfKey, credentialsFor, loseStopOf, onError } = options;
  const envelope = (now: Date, status: number, code: string, message: string, result: unknown) =>
    jsonAnswer(status, {
      // Codes are numbers, as far as they are any.
      retCode: Number.isFinite(Number(code)) ? Number(code) : code,
      retMsg: message,
      result,
      retExtInfo: {},
      time: now.getTime(),
    });

  return {
    platform: 'Bybit',
    userIdOf: ({ headers }) => userIdOfKey(headers[KEY_HEADER] ?? ''),
    operationsOf: bybitOperations,
    words: (now) => ({
      refusal: (code, message, status = 200) => envelope(now, status, code, message, {}),
      tooManyRequests({ retryAfterMs = 1_000, ofAddress }) {
        // The address's limit is kept by what stands before the exchange, which speaks no envelope.
        if (ofAddress) return textAnswer(403, 'access too frequent');
        const answer = envelope(now, 200, '10006', 'Too many visits. Exceeded the API Rate Limit.', {});
        const headers = {
          'x-bapi-limit': ACCOUNT_LIMIT,
          'x-bapi-limit-status': '0',
          'x-bapi-limit-reset-timestamp': String(now.getTime() + retryAfterMs),
        };
        return { ...answer, headers: { ...answer.headers, ...headers } };
      },
      internalError: () => envelope(now, 500, '10016', 'Server error.', {}),
      wrongKey: () => envelope(now, 200, '10003', 'API key is invalid.', {}),
    }),

    async answer({ request, faults, now }) {
      const route = `${request.method} ${request.path}`;
      try {
        const publicHandler = BYBIT_PUBLIC[route];
        if (publicHandler) return envelope(now, 200, '0', 'OK', await publicHandler({ books, request, now }));
        const handler = PRIVATE[route];
        if (!handler) return textAnswer(404, '404 page not found');
        const userId = authenticateBybitRequest({ request, now, userIdOfKey, credentialsFor });
        const owner = { userId, platform: 'Bybit' } as const;
        const result = await handler({ books, request, owner, now, faults, loseStopOf });
        return envelope(now, 200, '0', 'OK', result);
      } catch (error) {
        if (error instanceof AnswerLost) return cutConnection();
        const words = refusalWords(error, WORDS);
        if (words) return envelope(now, 200, words.code, words.message, words.details ?? {});
        onError(error);
        return envelope(now, 200, '10016', 'Server error.', {});
      }
    },
  };
}
