import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Placement } from '#server/exchanges/exchange.ts';

/** What the suites run against: an exchange, or one of its kinds of account. */
export const SUITE_DIALECTS = ['Bitget', 'Bitget unified', 'Bybit'] as const;
export type SuiteDialect = (typeof SUITE_DIALECTS)[number];

export const platformOf = (dialect: SuiteDialect): ExchangePlatform =>
  dialect === 'Bybit' ? 'Bybit' : 'Bitget';

export const accountModeOf = (dialect: SuiteDialect): 'classic' | 'unified' =>
  dialect === 'Bitget' ? 'classic' : 'unified';

/** Differences between the exchanges behind the same port. */
export interface SuiteWords {
  btcQuantityStep: string;
  /** Null if the token has no 1:1 contract. */
  pepe: object | null;
  codes: {
    tooLittleMoney: string;
    tooMuchLeverage: string;
    stopOnWrongSide: string;
    wrongSignature: string;
    nothingToClose: string;
    /** For an account that is not in one-way mode. */
    notPrepared: string;
  };
  /** A code, its HTTP status where it matters, and the outcome for an order that was not accepted. */
  answered: [string, { code: string; status?: number }, Placement['outcome']][];
  firewall: Placement['outcome'];
  /** Placing an order with the client order id of a filled order. */
  usedAgain: Placement['outcome'];
  /** The path endings, in order. */
  preparing: string[];
  stateReading: string[];
  placing: { endpoint: string; requestData: (clientOrderId: string) => object; responseData: object };
  headerPrefix: string;
  readingHistory: string;
}

export const SUITE_WORDS: Record<SuiteDialect, SuiteWords> = {
  Bitget: {
    btcQuantityStep: '0.0001',
    pepe: {
      tickSize: '0.00000001',
      quantityStep: '1',
      minimumQuantity: '1000',
      minimumNotional: '5',
    },
    codes: {
      tooLittleMoney: '40762',
      tooMuchLeverage: '45045',
      stopOnWrongSide: '40917',
      wrongSignature: '40009',
      nothingToClose: '22002',
      notPrepared: '45021',
    },
    answered: [
      ['maintenance', { code: '40200' }, 'retry-later'],
      ['a wrong clock', { code: '40008' }, 'retry-later'],
      ['"request timed out" with a code', { code: '40010' }, 'unknown'],
      ['"system is abnormal"', { code: '40015' }, 'unknown'],
      ['"service return an error"', { code: '40725' }, 'unknown'],
      ['"unknown error"', { code: '45001' }, 'unknown'],
      ['an unknown code', { code: '99999' }, 'unknown'],
      ['a known code with HTTP 500', { code: '40762', status: 500 }, 'unknown'],
      ['a known code with HTTP 200', { code: '40762', status: 200 }, 'refused'],
      ['a missing permission', { code: '40014' }, 'refused'],
      ['an address that is not allowed', { code: '40018' }, 'refused'],
      ['a duplicate', { code: '45034' }, 'duplicate'],
      ['a duplicate by an older code', { code: '40786' }, 'duplicate'],
      ['a duplicate by another older code', { code: '40708' }, 'duplicate'],
      ['too much leverage by an older code', { code: '40797' }, 'refused'],
      ['another position mode by an older code', { code: '40774' }, 'refused'],
    ],
    firewall: 'unknown',
    usedAgain: 'placed',
    preparing: [
      'account/account',
      'account/set-position-mode',
      'account/set-margin-mode',
      'account/set-leverage',
      'account/account',
    ],
    stateReading: ['account/account'],
    placing: {
      endpoint: '/api/v2/mix/order/place-order',
      requestData: (clientOid) => ({ clientOid, presetStopLossPrice: '63000', marginMode: 'isolated' }),
      responseData: { code: '00000' },
    },
    headerPrefix: 'ACCESS-',
    readingHistory: 'history-position',
  },
  'Bitget unified': {
    btcQuantityStep: '0.0001',
    pepe: {
      tickSize: '0.00000001',
      quantityStep: '1',
      minimumQuantity: '1000',
      minimumNotional: '5',
    },
    codes: {
      tooLittleMoney: '25203',
      tooMuchLeverage: '45045',
      stopOnWrongSide: '40917',
      wrongSignature: '40009',
      nothingToClose: '25227',
      notPrepared: '25236',
    },
    answered: [
      ['maintenance', { code: '40200' }, 'retry-later'],
      ['too many requests with a code', { code: '25004' }, 'retry-later'],
      ['a wrong clock', { code: '40008' }, 'retry-later'],
      ['"system error"', { code: '25000' }, 'unknown'],
      ['"operation timed out"', { code: '25001' }, 'unknown'],
      ['"concurrent operation"', { code: '25003' }, 'unknown'],
      ['"unknown error"', { code: '45001' }, 'unknown'],
      ['an unknown order', { code: '25204' }, 'unknown'],
      ['an unknown code', { code: '99999' }, 'unknown'],
      ['a known code with HTTP 500', { code: '25203', status: 500 }, 'unknown'],
      ['a known code with HTTP 200', { code: '25203', status: 200 }, 'refused'],
      ['a missing permission', { code: '40014' }, 'refused'],
      ['an address that is not allowed', { code: '40018' }, 'refused'],
      ['an account that is not unified', { code: '40084' }, 'refused'],
      ['a duplicate', { code: '25212' }, 'duplicate'],
      ['a duplicate by its other code', { code: '40786' }, 'duplicate'],
    ],
    firewall: 'unknown',
    usedAgain: 'placed',
    preparing: ['account/settings', 'account/set-hold-mode', 'account/set-leverage', 'account/settings'],
    stateReading: ['account/settings'],
    placing: {
      endpoint: '/api/v3/trade/place-order',
      requestData: (clientOid) => ({
        clientOid,
        stopLoss: '63000',
        slTriggerBy: 'mark',
        tpTriggerBy: 'mark',
        marginMode: 'isolated',
      }),
      responseData: { code: '00000' },
    },
    headerPrefix: 'ACCESS-',
    readingHistory: 'history-position',
  },
  Bybit: {
    btcQuantityStep: '0.001',
    pepe: null,
    codes: {
      tooLittleMoney: '110007',
      tooMuchLeverage: '110013',
      stopOnWrongSide: '10001',
      wrongSignature: '10004',
      nothingToClose: '110017',
      notPrepared: '10001',
    },
    answered: [
      ['too many requests with a code', { code: '10006' }, 'retry-later'],
      ['a wrong clock', { code: '10002' }, 'retry-later'],
      ['"server timeout" with a code', { code: '10000' }, 'unknown'],
      ['"server error"', { code: '10016' }, 'unknown'],
      ['"duplicate request"', { code: '10014' }, 'unknown'],
      ['"request expired"', { code: '-1' }, 'unknown'],
      ['"high server load"', { code: '429' }, 'unknown'],
      ['"the order is processing"', { code: '110079' }, 'unknown'],
      ['an unknown code', { code: '99999' }, 'unknown'],
      ['a known code with HTTP 500', { code: '110007', status: 500 }, 'unknown'],
      ['a known code with HTTP 200', { code: '110007', status: 200 }, 'refused'],
      ['a missing permission', { code: '10005' }, 'refused'],
      ['an address that is not allowed', { code: '10010' }, 'refused'],
      ['an account that is not unified', { code: '10028' }, 'refused'],
      ['an unknown code with HTTP 403', { code: '99999', status: 403 }, 'retry-later'],
      ['a gateway that rejects the key', { code: '99999', status: 401 }, 'refused'],
      ['a duplicate', { code: '110072' }, 'duplicate'],
    ],
    firewall: 'retry-later',
    usedAgain: 'placed',
    preparing: [
      'account/info',
      'position/list',
      'account/set-margin-mode',
      'position/set-leverage',
      'account/info',
      'position/list',
    ],
    stateReading: ['account/info', 'position/list'],
    placing: {
      endpoint: '/v5/order/create',
      requestData: (orderLinkId) => ({ orderLinkId, stopLoss: '63000', slTriggerBy: 'MarkPrice' }),
      responseData: { retCode: 0 },
    },
    headerPrefix: 'X-BAPI-',
    readingHistory: 'execution/list',
  },
};
