import type { AnswerCodes } from './dialect.ts';

const CREDENTIALS = [
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
  '40085', // Unified account, classic API not supported
];

const OTHER_ACCOUNT_MODE = ['40085'];

const CLOCK = [
  '40005', // Invalid ACCESS_TIMESTAMP
  '40008', // Request timestamp expired
];

/**
 * Bitget's answer codes by what they mean for an order. An allow-list: a code that is not here, such as 40010
 * ('Request timed out'), 40015, 40725 and 45001 (seen during releases), leaves the outcome open.
 */
export const BITGET_CODES: AnswerCodes = {
  duplicate: new Set(['40786', '40708', '43118', '45034', '50060', '25212']),
  credentials: new Set(CREDENTIALS),
  otherAccountMode: new Set(OTHER_ACCOUNT_MODE),
  clock: new Set(CLOCK),
  retryLater: new Set([
    ...CLOCK,
    '429', // Too Many Requests
    '1001', // The request is too frequent
    '40200', // Server upgrade
  ]),
  refused: new Set([
    ...CREDENTIALS,
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
  /** Not open any more, or never known: which of them, only a look-up says. */
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
  // Bitget answers success to what is so already.
  alreadySo: new Set(),
};
