import { expect, test } from 'vitest';
import { BITGET_LIMITS, BYBIT_LIMITS } from './exchange-limits.ts';
import { endpointOf, priorityOf, rankOf } from './rate-limits.ts';

const NOW = new Date('2026-05-04T10:00:00.000Z');
const answer = (status: number, body: string, headers: Record<string, string> = {}) => ({
  status,
  body,
  headers,
});

test.each([
  ['an order', answer(200, '{"code":"00000","data":{"orderId":"429"}}'), null],
  ['another refusal', answer(400, '{"code":"40762","msg":"429"}'), null],
  ['a server error', answer(503, '<html>429</html>'), null],
  ['a 429', answer(429, '{"code":"429"}'), { of: 'account', waitMs: null }],
  ['a 429 with HTML', answer(429, '<html>'), { of: 'account', waitMs: null }],
  ['a code with status 200', answer(200, '{"code":"429"}'), { of: 'account', waitMs: null }],
  ['a 429 with seconds', answer(429, '', { 'retry-after': '3' }), { of: 'account', waitMs: 3_000 }],
  [
    'a 429 with a date',
    answer(429, '', { 'retry-after': 'Mon, 04 May 2026 10:00:07 GMT' }),
    { of: 'account', waitMs: 7_000 },
  ],
  ['a 429 with nonsense', answer(429, '', { 'retry-after': 'soon' }), { of: 'account', waitMs: null }],
  ['a 429 with a negative time', answer(429, '', { 'retry-after': '-5' }), { of: 'account', waitMs: null }],
  ['a 418', answer(418, ''), { of: 'account', waitMs: null }],
  ['a 403 from a firewall', answer(403, '<html>too frequent</html>'), null],
])('limit refusals of Bitget: %s', (_, given, expected) => {
  expect(BITGET_LIMITS.refusalOf(given, NOW)).toEqual(expected);
});

const reset = (ms: number) => ({ 'x-bapi-limit-reset-timestamp': String(NOW.getTime() + ms) });

test.each([
  ['an order', answer(200, '{"retCode":0,"result":{"orderId":"10006"}}', reset(0)), null],
  ['too many visits', answer(200, '{"retCode":10006}', reset(400)), { of: 'account', waitMs: 400 }],
  [
    'a clock an hour off',
    answer(200, '{"retCode":10006}', reset(3_600_000)),
    { of: 'account', waitMs: 5_000 },
  ],
  ['a reset in the past', answer(200, '{"retCode":10006}', reset(-400)), { of: 'account', waitMs: null }],
  ['a 429', answer(429, ''), { of: 'account', waitMs: null }],
  ['the address, by code', answer(200, '{"retCode":10018}'), { of: 'address', waitMs: null }],
  ['a ban', answer(403, '403, access too frequent'), { of: 'address', waitMs: 600_000 }],
  [
    'an address limit in other words',
    answer(403, 'IP rate limit breached'),
    { of: 'address', waitMs: 600_000 },
  ],
  [
    'a ban with the time until its end',
    answer(403, 'access too frequent', { 'retry-after': '3' }),
    { of: 'address', waitMs: 3_000 },
  ],
  ['another 403', answer(403, '<html>denied</html>'), { of: 'account', waitMs: null }],
  [
    'too many visits in the words of the limit',
    answer(403, '{"retCode":10006,"retMsg":"Too many visits. Exceeded the API Rate Limit."}'),
    { of: 'account', waitMs: null },
  ],
  ['an address that the key does not list', answer(200, '{"retCode":10010}'), null],
])('limit refusals of Bybit: %s', (_, given, expected) => {
  expect(BYBIT_LIMITS.refusalOf(given, NOW)).toEqual(expected);
});

test('both exchanges report what is left of the limit of an account’s endpoint', () => {
  const bitget = (left: string) =>
    BITGET_LIMITS.usageOf(answer(200, '', { 'x-mbx-used-remain-limit': left }), NOW);
  expect(bitget('9')).toEqual({ perSecond: null, left: 9, resetMs: 1_000 });
  for (const text of ['', '-1', 'many']) expect(bitget(text)).toBeNull();
  const bybit = (ms: number) =>
    BYBIT_LIMITS.usageOf(
      answer(200, '', { 'x-bapi-limit': '20', 'x-bapi-limit-status': '0', ...reset(ms) }),
      NOW,
    );
  expect(bybit(0)).toEqual({ perSecond: 20, left: 0, resetMs: 1_000 });
  expect(bybit(300)).toEqual({ perSecond: 20, left: 0, resetMs: 300 });
  expect(BYBIT_LIMITS.usageOf(answer(403, 'access too frequent'), NOW)).toBeNull();
});

test('every endpoint has its own limit', () => {
  expect(endpointOf(BITGET_LIMITS, '/api/v2/mix/account/set-leverage').perSecond).toBe(5);
  expect(endpointOf(BITGET_LIMITS, 'v2/mix/order/place-order')).toEqual(
    endpointOf(BITGET_LIMITS, '/api/v2/mix/order/place-order'),
  );
  const unnamed = endpointOf(BITGET_LIMITS, '/api/v2/spot/account/assets');
  expect(unnamed).toEqual({ name: 'v2/spot/account/assets', perSecond: 10 });
  expect(endpointOf(BITGET_LIMITS, '/api/v2/mix/position/all-position').perSecond).toBe(5);
  expect(endpointOf(BITGET_LIMITS, '/api/v2/mix/position/single-position').perSecond).toBe(10);
  expect(endpointOf(BYBIT_LIMITS, '/v5/order/create').perSecond).toBe(10);
  expect(endpointOf(BYBIT_LIMITS, '/v5/account/set-margin-mode').perSecond).toBe(5);
  expect(endpointOf(BYBIT_LIMITS, '/v5/position/list').perSecond).toBe(50);
});

test('closes and protection go before look-ups, look-ups before entries', () => {
  const ranks = ['place-stop-loss', 'find-order', 'place-order', 'set-leverage', 'closed-positions'].map(
    (type) => rankOf(priorityOf(type)),
  );
  expect(ranks).toEqual([0, 1, 2, 3, 5]);
  for (const type of ['close-position', 'cancel-order', 'place-take-profit'])
    expect(priorityOf(type)).toBe('protect');
});
