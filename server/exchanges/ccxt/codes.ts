import type { AnswerCodes } from './dialect.ts';

const codes = (numbers: number[]): ReadonlySet<string> => new Set(numbers.map(String));

/**
 * Bitget's answer codes by their meaning for an order, after a third party's copy of its error codes of the classic
 * futures API, dated 2026-09-28. Codes that it no longer lists (40708, 40768, 40774, 40786, 40797) stay: not every
 * endpoint may have changed. An allow-list: a code that is not listed leaves the outcome open, such as 40010 and 40910 (timed out), 40015,
 * 40725, 40908 (concurrent), 43002, 43003, 43059, 45023 (pending failed) and 45001 (unknown error).
 */
export const BITGET_CODES: AnswerCodes = {
  duplicate: codes([40786, 40708, 43118, 45034, 50060, 25212]),
  credentials: codes([
    // A header is empty, or key, passphrase or signature are wrong.
    40001, 40002, 40003, 40011, 40006, 40009, 40012, 40036, 40037, 40041,
    // Permission and address.
    40014, 40018, 40038, 22010,
  ]),
  // Unified account, classic API not supported.
  otherAccountMode: codes([40085]),
  clock: codes([40005, 40008]),
  // Too many requests; server upgrade.
  retryLater: codes([429, 1001, 40200]),
  refused: codes([
    // Parameters, route, scale, length of the client order id.
    40017, 40019, 40020, 40034, 40053, 40057, 40058, 40059, 40064, 40072, 40102, 40305, 40404, 40808, 40811,
    40812, 40813, 41002, 41101, 41103, 43011, 43058, 48001, 48002, 400171, 400172,
    // The account may not trade: its state, its region, its verification.
    40013, 40016, 40022, 40023, 40024, 40026, 40031, 40035, 40100, 40101, 40103, 40111, 40710, 40752, 40753,
    40760, 40916, 45009, 45107, 45108,
    // No position to close; the contract is closed to the API, to opening or to closing, or gone.
    22002, 22004, 22039, 22040, 22041, 22043, 22044, 22067, 40309, 40824, 40844, 40845, 40931, 40939, 43043,
    45043, 45119,
    // Balance, margin and position.
    40711, 40712, 40754, 40755, 40757, 40762, 40798, 40800, 40893, 43012, 45002, 45003, 45005, 45006,
    // Leverage too high or unchanged; position and margin mode that do not fit, or cannot change while something is open.
    22005,
    22020, 40730, 40774, 40797, 40814, 40872, 40920, 43050, 43075, 45021, 45044, 45045, 45054, 45097, 45099,
    45100, 45101, 45109, 45117,
    // Stop or target on the wrong side, twice, too many, or of no position.
    40829, 40830, 40831, 40832, 40833, 40834, 40835, 40836, 40837, 40889, 40890, 40891, 40895, 40915, 40917,
    43013, 43014, 43015, 43016, 43023, 43030, 43031, 43034, 43035, 43071, 45060, 45061, 45062, 45064, 45065,
    45066, 45067, 45068, 45122, 45127,
    // Price out of its range or between steps; liquidity.
    22006, 22007, 22008, 22009, 22045, 40706, 40722, 40815, 40816, 40820, 40821, 40826, 43008, 43009, 43028,
    43039, 43040, 45035, 45115, 45121,
    // Minimum, maximum and step of an order; number and size of orders and positions.
    22029, 22034, 22038, 40715, 40717, 40723, 40761, 40804, 40921, 40928, 43005, 43006, 43007, 43010, 43027,
    43029, 43037, 43038, 43041, 43042, 45110, 45111, 45112, 45113, 45114, 45116, 45118, 45120,
  ]),
  orderUnknown: codes([40109]),
  // No longer open, or never known: only a look-up tells which.
  notCancellable: codes([
    22001, 31007, 40768, 40819, 43001, 43004, 43020, 43021, 43025, 43026, 43033, 45031, 45055, 45057, 80011,
  ]),
  // Bitget reports success for a setting that is already in place; its list has codes for a leverage that is.
  alreadySo: codes([40814, 45054]),
  // Scale, minimum and maximum of an order; the contract is closed to the API, to opening, or gone.
  otherTerms: codes([
    22004, 22034, 22038, 22039, 22040, 40309, 40808, 40844, 40845, 43006, 43007, 43028, 43037, 43038, 45035,
    45043, 45110, 45111, 45112, 45113, 45114, 45115, 45119,
  ]),
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
