import { describe, expect, test } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { jsonAnswer } from './http.ts';
import { createRequestLimits } from './request-limits.ts';

const START = Date.parse('2026-07-01T00:00:00Z');

/** A venue that counts requests from `ms` after the start on. */
function limitsOf(platform: ExchangePlatform) {
  const limits = createRequestLimits();
  const words = {
    refusal: () => jsonAnswer(400, 'refused'),
    tooManyRequests: (limit: { retryAfterMs: number | undefined; ofAddress: boolean }) =>
      jsonAnswer(limit.ofAddress ? 403 : 429, limit.retryAfterMs),
    internalError: () => jsonAnswer(500, ''),
    wrongKey: () => jsonAnswer(400, ''),
  };
  return (ms: number, path: string, userId: string | null = 'ada', address = '127.0.0.1') => {
    const now = new Date(START + ms);
    const counted = limits.count({ platform, request: { path, address }, userId, now, words });
    return counted.refusal ?? counted.report(jsonAnswer(200, 'answered'));
  };
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

describe.each([
  { platform: 'Bitget', path: '/api/v2/mix/order/place-order', perSecond: 10 },
  { platform: 'Bitget', path: '/api/v2/mix/account/set-leverage', perSecond: 5 },
  { platform: 'Bitget', path: '/api/v2/mix/position/all-position', perSecond: 5 },
  { platform: 'Bybit', path: '/v5/order/create', perSecond: 10 },
  { platform: 'Bybit', path: '/v5/account/set-margin-mode', perSecond: 5 },
  { platform: 'Bybit', path: '/v5/position/list', perSecond: 50 },
] as const)('$platform $path', ({ platform, path, perSecond }) => {
  test(`takes ${perSecond} requests a second of one account and refuses the next until the second is over`, () => {
    const send = limitsOf(platform);
    const answers = times(perSecond).map((ms) => send(ms, path).status);
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(send(400, path)).toMatchObject({ status: 429, body: '600' });
    expect(send(999, path)).toMatchObject({ status: 429, body: '1' });
    expect(send(1_000, path).status).toBe(200);
  });

  test('counts other accounts and other endpoints apart', () => {
    const send = limitsOf(platform);
    for (const ms of times(perSecond)) send(ms, path);
    expect(send(500, path, 'grace').status).toBe(200);
    expect(send(500, `${path}-other`).status).toBe(200);
  });
});

test("reports what remains of an account's limit in the exchange's headers", () => {
  const bitget = limitsOf('Bitget');
  expect(bitget(0, '/api/v2/mix/order/detail').headers['x-mbx-used-remain-limit']).toBe('9');
  expect(bitget(1, '/api/v2/mix/order/detail').headers['x-mbx-used-remain-limit']).toBe('8');
  expect(limitsOf('Bybit')(7, '/v5/order/create').headers).toMatchObject({
    'x-bapi-limit': '10',
    'x-bapi-limit-status': '9',
    'x-bapi-limit-reset-timestamp': String(START + 7),
  });
});

describe.each([
  { platform: 'Bitget', most: 6_000, recoveryMs: 300_000 },
  { platform: 'Bybit', most: 600, recoveryMs: 600_000 },
] as const)("$platform's limit of an address", ({ platform, most, recoveryMs }) => {
  test(`refuses everybody behind the address for ${recoveryMs / 60_000} minutes, and nobody elsewhere`, () => {
    const send = limitsOf(platform);
    for (const at of times(most)) expect(send(0, '/any', `user ${at}`).status).toBe(200);
    expect(send(1, '/any', 'ada')).toMatchObject({ status: 403, body: String(recoveryMs) });
    expect(send(recoveryMs, '/other', 'grace').status).toBe(403);
    expect(send(1, '/any', 'ada', '127.0.0.2').status).toBe(200);
    expect(send(recoveryMs + 1, '/any', 'ada').status).toBe(200);
  });
});

test('limits public requests by address', () => {
  const send = limitsOf('Bitget');
  const path = '/api/v2/mix/market/ticker';
  for (const ms of times(20)) expect(send(ms, path, null).status).toBe(200);
  expect(send(30, path, null).status).toBe(429);
  expect(send(30, path, null, '127.0.0.2').status).toBe(200);
});
