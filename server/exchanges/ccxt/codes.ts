import type { AnswerCodes } from './dialect.ts';

const codes = (numbers: number[]): ReadonlySet<string> => new Set(numbers.map(String));

/**
 * Bitget's answer codes by their meaning for an order. An allow-list: a code that is not listed, such as 40010
 * ('Request timed out'), 40015, 40725 and 45001 (seen during releases), leaves the outcome open.
 */
export const BITGET_CODES: AnswerCodes = {
  duplicate: codes([40786, 40708, 43118, 45034, 50060, 25212]),
  credentials: codes([
    // A header is empty, or key, passphrase or signature are wrong.
    40001, 40002, 40003, 40011, 40006, 40009, 40012, 40037,
    // Permission and address.
    40014, 40018,
  ]),
  // Unified account, classic API not supported.
  otherAccountMode: codes([40085]),
  clock: codes([40005, 40008]),
  // Too many requests; server upgrade.
  retryLater: codes([429, 1001, 40200]),
  refused: codes([
    // Parameters, route, scale, length of the client order id.
    40017, 40019, 40020, 40034, 40305, 40404, 40808, 41103, 43011,
    // No position to close; the contract is closed to the API.
    22002, 22004,
    // Balance and margin.
    40711, 40712, 40754, 40762, 43012,
    // Leverage too high; position and margin mode that do not fit, or cannot change while something is open.
    40797, 40774, 40920, 45117,
    // Stop or target on the wrong side of the mark price.
    40915, 40917, 45122,
    // Minimum and maximum of an order.
    45110, 45111, 45112, 45113,
  ]),
  orderUnknown: codes([40109]),
  // No longer open, or never known: only a look-up tells which.
  notCancellable: codes([22001, 31007, 40768, 40819, 43001, 43020, 43025, 43033, 45057, 80011]),
  // Bitget reports success for a setting that is already in place.
  alreadySo: codes([]),
  // Scale, minimum and maximum of an order; the contract is closed to the API.
  otherTerms: codes([22004, 40808, 45110, 45111, 45112, 45113]),
};

/**
 * Bybit's answer codes by their meaning for an order, after its documentation of July 2026 ('Error Codes', UTA) and the
 * client library's table. None was seen live. An allow-list: a code that is not listed leaves the outcome open, such as
 * 10000 (server timeout), 10014 (duplicate request), 10016 (server error), -1 (request expired), 429 as a code (high
 * load) and 110079 (the order is being processed).
 */
export const BYBIT_CODES: AnswerCodes = {
  duplicate: codes([110072]),
  // A key of another environment is invalid (10003); address not listed (10010); key expired (33004).
  credentials: codes([10003, 10004, 10005, 10007, 10010, 33004]),
  otherAccountMode: codes([10020, 10028, 110088]),
  clock: codes([10002]),
  // 10018 (address limit) is withdrawn from the documentation, but still in the library's table.
  retryLater: codes([10006, 10018]),
  refused: codes([
    // Parameters (also a stop on the wrong side, or a position index that does not fit the mode); route; order is illegal.
    10001,
    10017, 110032, 110057,
    // Banned, restricted by region or compliance, contract not on the key's list, terms not agreed to, cooling off.
    10008,
    10009, 10024, 10027, 10029, 110066, 110069, 110123, 110124, 110125, 110132,
    // Price out of range.
    30208, 30209, 110003, 110120, 110121,
    // Balance and margin.
    110004, 110006, 110007, 110012, 110014, 110039, 110044, 110045, 110051, 110052, 110053, 110131,
    // Would be liquidated at once.
    110011, 110040, 110046,
    // Leverage, risk limit, size and number of positions and orders; order value too low.
    110009, 110013, 110020, 110021, 110061, 110068, 110085, 110086, 110087, 110089, 110090, 110094,
    // Position status; nothing to reduce; only reducing is permitted.
    110005, 110017, 110023, 110034, 110042,
    // Delisting, contract not live, pre-market.
    30228, 110074, 110095, 110099, 110100,
    // Modes that do not fit or cannot change while something is open.
    110015, 110024, 110028, 110029, 110036, 110038, 110073, 3400045,
    // Stop and target: position too small, not in full mode, trigger price on the wrong side.
    110058, 110060, 110092, 110093,
    // Not modified: the setting is already in place.
    34040, 110025, 110026, 110043,
  ]),
  orderUnknown: codes([110001]),
  // No longer open, or never known: only a look-up tells which.
  notCancellable: codes([110001, 110008, 110010]),
  alreadySo: codes([34040, 110025, 110026, 110043]),
  // Any field, quantity and price among them; order value too low; only reducing is permitted.
  otherTerms: codes([10001, 110094, 110023]),
};
