import { BITGET_CODES } from './codes.ts';
import type { AnswerCodes } from './dialect.ts';

const withMore = (known: ReadonlySet<string>, ...numbers: number[]): ReadonlySet<string> =>
  new Set([...known, ...numbers.map(String)]);

/**
 * Bitget's answer codes by their meaning for an order of a unified account: those of the classic list, which its
 * endpoints also answer, and 25xxx, after the list of JKorf/Bitget.Net of August 2026. An allow-list: what is not listed
 * leaves the outcome open, such as 25000 (system error), 25001 (timed out) and 25003 (concurrent).
 */
export const BITGET_UNIFIED_CODES: AnswerCodes = {
  ...BITGET_CODES,
  credentials: withMore(BITGET_CODES.credentials, 25620),
  // Classic account, unified API not supported.
  otherAccountMode: new Set(['40084']),
  retryLater: withMore(BITGET_CODES.retryLater, 25004),
  refused: withMore(
    BITGET_CODES.refused,
    // The contract is closed to the API, unknown or not available; parameters.
    ...[25013, 25100, 25101, 25102, 25104, 25105, 25108, 25200, 25201],
    // Balance and margin; no position; the side of the position does not fit the mode.
    ...[25202, 25203, 25227, 25228, 25230, 25231, 25236, 25601],
    // Price and quantity: range, step, minimum.
    ...[25205, 25206, 25207, 25208, 25244, 25610, 25611],
    // Stop and target: on the wrong side, twice, too many.
    ...[25579, 25580, 25581, 25582, 25583, 25584, 25585, 25586, 25587, 25588, 25589, 25590, 25591, 25592],
    ...[25599, 25602, 25603, 25604, 25605, 25606, 25607, 25608, 25609, 25650, 25651, 25652, 25653],
  ),
  orderUnknown: withMore(BITGET_CODES.orderUnknown, 25204),
  notCancellable: withMore(BITGET_CODES.notCancellable, 25204),
  otherTerms: withMore(
    BITGET_CODES.otherTerms,
    25013,
    25101,
    25205,
    25206,
    25207,
    25208,
    25244,
    25610,
    25611,
  ),
};
