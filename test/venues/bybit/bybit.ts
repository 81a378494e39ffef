import { createDialect, type DialectOptions, type VenueDialect } from '../dialect.ts';
import { jsonAnswer, textAnswer } from '../http.ts';
import { BYBIT_ACCOUNT } from './account.ts';
import { BYBIT_HISTORY } from './history.ts';
import { bybitOperations } from './operations.ts';
import { BYBIT_ORDERS } from './orders.ts';
import { parametersOf, wrong } from './parameters.ts';
import { BYBIT_POSITIONS } from './positions.ts';
import { BYBIT_PUBLIC } from './public.ts';
import { authenticateBybitRequest, KEY_HEADER } from './signature.ts';

/** One account's request limit, reported in headers with every rate-limit refusal. */
const ACCOUNT_LIMIT = '10';

const envelope = (now: Date, code: string, message: string, result: unknown = {}, status = 200) =>
  jsonAnswer(status, {
    // Codes are numbers wherever they are numeric.
    retCode: Number.isFinite(Number(code)) ? Number(code) : code,
    retMsg: message,
    result,
    retExtInfo: {},
    time: now.getTime(),
  });

/** Bybit's v5 REST dialect for linear USDT contracts on unified accounts. Refusals also have HTTP status 200. */
export const createBybitDialect = (options: DialectOptions): VenueDialect =>
  createDialect(options, {
    platform: 'Bybit',
    keyHeader: KEY_HEADER,
    operationsOf: bybitOperations,
    publicRoutes: BYBIT_PUBLIC,
    privateRoutes: { ...BYBIT_ACCOUNT, ...BYBIT_ORDERS, ...BYBIT_POSITIONS, ...BYBIT_HISTORY },
    parametersOf,
    unknownSymbol: () => wrong('params error: symbol invalid'),
    authenticate: authenticateBybitRequest,
    success: (now, result) => envelope(now, '0', 'OK', result),
    refusal: (now, { code, message, details }) => envelope(now, code, message, details ?? {}),
    unknownRoute: () => textAnswer(404, '404 page not found'),
    failure: (now) => envelope(now, '10016', 'Server error.'),
    usual: { code: '10001', message: 'params error' },
    words: (now) => ({
      refusal: (code, message, status) => envelope(now, code, message, {}, status),
      tooManyRequests({ retryAfterMs = 1_000, ofAddress }) {
        // A gateway in front of the exchange enforces the address limit and answers without an envelope.
        if (ofAddress) return textAnswer(403, 'access too frequent');
        const answer = envelope(now, '10006', 'Too many visits. Exceeded the API Rate Limit.');
        const headers = {
          'x-bapi-limit': ACCOUNT_LIMIT,
          'x-bapi-limit-status': '0',
          'x-bapi-limit-reset-timestamp': String(now.getTime() + retryAfterMs),
        };
        return { ...answer, headers: { ...answer.headers, ...headers } };
      },
      internalError: () => envelope(now, '10016', 'Server error.', {}, 500),
      wrongKey: () => envelope(now, '10003', 'API key is invalid.'),
    }),
  });
