import type { AnswerCodes } from './dialect.ts';

/**
 * Bitget's answer codes by their meaning for an order. An allow-list: a code that is not listed, such as 40010
 * ('Request timed out'), 40015, 40725 and 45001 (seen during releases), leaves the outcome open.
 */
export const BITGET_CODES: AnswerCodes = {
  duplicate: new Set(['40786', '40708', '43118', '45034', '50060', '25212']),
  credentials: new Set([
    '40001', // ACCESS_KEY is empty
    '40002', // ACCESS_SIGN is empty
    '40003', // ACCESS_TIMESTAMP is empty
    '40006', // Invalid ACCESS_KEY
    '40009', // sign signature error
    '40011', // ACCESS_PASSPHRASE is empty
    '40012', // apikey/password is incorrect
    '40014', // Incorrect permissions
    '40018', // Invalid IP
    '40037', // Apikey does not exist
  ]),
  otherAccountMode: new Set([
    '40085', // Unified account, classic API not supported
  ]),
  clock: new Set([
    '40005', // Invalid ACCESS_TIMESTAMP
    '40008', // Request timestamp expired
  ]),
  retryLater: new Set([
    '429', // Too Many Requests
    '1001', // The request is too frequent
    '40200', // Server upgrade
  ]),
  refused: new Set([
    '22002', // No position to close
    '40017', // Parameter verification failed
    '40019', // Parameter cannot be empty
    '40020', // Parameter error
    '40034', // Parameter does not exist
    '40305', // client_oid length
    '40404', // Request URL not found
    '40711', // Insufficient contract account balance
    '40712', // Insufficient margin
    '40754', // balance not enough
    '40762', // The order amount exceeds the balance
    '40774', // Order type does not fit the position mode
    '40797', // Exceeded the maximum settable leverage
    '40808', // Parameter verification exception (scale)
    '40915', // Take profit on the wrong side of the mark price
    '40917', // Stop price for long positions please < mark price
    '40920', // Position or order exists, the position mode cannot be switched
    '41103', // param price scale error
    '43011', // executePrice <= 0
    '43012', // Insufficient balance
    '45110', // less than the minimum amount
    '45111', // less than the minimum order quantity
    '45113', // Maximum order value limit
    '45117', // Holding positions or orders, the margin mode cannot be adjusted
    '45122', // Short position stop loss price please > mark price
  ]),
  orderUnknown: new Set(['40109']),
  /** No longer open, or never known: only a look-up tells which. */
  notCancellable: new Set([
    '22001',
    '31007',
    '40768',
    '40819',
    '43001',
    '43020',
    '43025',
    '43033',
    '45057',
    '80011',
  ]),
  // Bitget reports success for a setting that is already in place.
  alreadySo: new Set(),
};

/**
 * Bybit's answer codes by their meaning for an order, after its documentation of July 2026 ('Error Codes', UTA) and the
 * client library's table. None was seen live. An allow-list: a code that is not listed leaves the outcome open, such as
 * 10000 (server timeout), 10014 (duplicate request), 10016 (server error), -1 (request expired), 429 as a code (high
 * load) and 110079 (the order is being processed).
 */
export const BYBIT_CODES: AnswerCodes = {
  duplicate: new Set([
    '110072', // OrderLinkedID is duplicate
  ]),
  credentials: new Set([
    '10003', // API key is invalid, or belongs to another of the four environments
    '10004', // error sign
    '10005', // permission denied
    '10007', // user authentication failed
    '10010', // unmatched IP
    '33004', // API key has expired
  ]),
  otherAccountMode: new Set([
    '10020', // your account is not a unified margin account
    '10028', // only for unified account users
    '110088', // please upgrade to UTA to trade
  ]),
  clock: new Set([
    '10002', // the request time exceeds the time window
  ]),
  retryLater: new Set([
    '10006', // too many visits
    '10018', // exceeded the IP rate limit (withdrawn from the documentation, still in the library's table)
  ]),
  refused: new Set([
    '10001', // parameter error; also a stop or target on the wrong side, or a position index that does not fit the mode
    '10008', // common banned
    '10009', // access restricted by region, or address banned
    '10017', // route not found
    '10024', // compliance rules
    '10027', // transactions are banned
    '10029', // the symbol is not on the key's list
    '30208', // price above the maximum buying price
    '30209', // price below the minimum selling price
    '30228', // no new positions during delisting
    '34040', // not modified: the stop or target already has this value, or the request was empty
    '110003', // price out of the permitted range
    '110004', // wallet balance insufficient
    '110005', // position status
    '110006', // cannot cover the position margin
    '110007', // available balance insufficient
    '110009', // too many stop orders
    '110011', // would be liquidated immediately
    '110012', // available balance insufficient
    '110013', // leverage not permitted by the risk limit
    '110014', // balance insufficient to add margin
    '110015', // the position is in cross margin mode
    '110017', // reduce-only: nothing to reduce
    '110020', // too many active orders
    '110021', // position limit due to open interest
    '110023', // only reducing is permitted
    '110024', // a position exists, the position mode cannot be switched
    '110025', // position mode not modified
    '110026', // margin mode not modified
    '110028', // open orders exist, the position mode cannot be switched
    '110029', // hedge mode not supported
    '110032', // order is illegal
    '110034', // there is no net position
    '110036', // cross margin: leverage cannot be changed
    '110038', // portfolio margin: leverage cannot be changed
    '110039', // maintenance margin rate too high
    '110040', // would trigger a forced liquidation
    '110042', // only reducing is permitted before delivery
    '110043', // leverage not modified
    '110044', // available margin insufficient
    '110045', // wallet balance insufficient
    '110046', // would be liquidated immediately
    '110051', // balance cannot cover the lowest price
    '110052', // balance insufficient for the price
    '110053', // balance cannot cover the market price
    '110057', // conditional order contains TP/SL parameters
    '110058', // position too small for stop and target
    '110060', // TP/SL cannot be modified in full mode
    '110061', // too many TP/SLs
    '110066', // trading is currently not allowed
    '110068', // leveraged trading is not allowed
    '110069', // lending customer
    '110073', // set margin mode failed
    '110074', // contract not live
    '110085', // risk limit updated
    '110086', // leverage above the risk limit's
    '110087', // leverage above the loan's
    '110089', // above the maximum risk limit
    '110090', // position above the maximum for the leverage
    '110092', // trigger price on the wrong side (expect rising)
    '110093', // trigger price on the wrong side (expect falling)
    '110094', // notional value below the lower limit
    '110095', // pre-market auction
    '110099', // no TP/SL during the pre-market auction
    '110100', // pre-market contracts are not for demo trading
    '110120', // price below the limit
    '110121', // price above the limit
    '110123', // trading terms not agreed to
    '110124', // cooling-off period
    '110125', // trading terms of the contract not agreed to
    '110131', // margin limit
    '110132', // not available in the region
    '3400045', // set margin mode failed
  ]),
  orderUnknown: new Set([
    '110001', // order does not exist
  ]),
  /** No longer open, or never known: only a look-up tells which. */
  notCancellable: new Set([
    '110001', // order does not exist
    '110008', // completed or cancelled
    '110010', // cancelled
  ]),
  alreadySo: new Set([
    '34040', // stop or target not modified
    '110025', // position mode not modified
    '110026', // margin mode not modified
    '110043', // leverage not modified
  ]),
};
