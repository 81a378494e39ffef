import { describe, expect, test } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { jsonAnswer } from './http.ts';
import { createRequestLimits } from './request-limits.ts';
import { signedRequest, venueUnderTest } from './venue-under-test.ts';

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
  { platform: 'Bitget', path: '/api/v2/mix/position/single-position', perSecond: 10 },
  { platform: 'Bybit', path: '/v5/order/create', perSecond: 10 },
  { platform: 'Bybit', path: '/v5/account/set-margin-mode', perSecond: 5 },
  { platform: 'Bybit', path: '/v5/position/list', perSecond: 50 },
  { platform: 'Bybit', path: '/v5/account/wallet-balance', perSecond: 50 },
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

describe("refusals in each exchange's own words", () => {
  const under = venueUnderTest();
  const PATHS = {
    Bitget: { account: '/api/v2/mix/account/accounts', time: '/api/v2/public/time' },
    Bybit: { account: '/v5/account/wallet-balance', time: '/v5/market/time' },
  };
  const FIELDS = { productType: 'USDT-FUTURES', accountType: 'UNIFIED' };

  const open = (platform: ExchangePlatform) => {
    const venue = under.openAgain({ limits: 'documented' });
    const request = (path: string, userId: string) =>
      signedRequest(platform, { ...under, userId }, { method: 'GET', path, fields: FIELDS });
    return {
      ask: (userId = under.userId) => venue.handle(request(PATHS[platform].account, userId)),
      time: (address: string) => venue.handle({ ...request(PATHS[platform].time, ''), headers: {}, address }),
    };
  };

  test.each([
    ['Bitget', 10, 429, '"code":"429"', { 'x-mbx-used-remain-limit': '0', 'retry-after': '1' }],
    ['Bybit', 50, 200, '"retCode":10006', { 'x-bapi-limit': '50', 'x-bapi-limit-status': '0' }],
  ] as const)('%s: one account beyond %i a second', async (platform, perSecond, status, code, headers) => {
    const { ask } = open(platform);
    for (const left of times(perSecond).reverse()) {
      const answer = await ask();
      expect(answer.status).toBe(200);
      expect(Object.values(answer.headers)).toContain(String(left));
    }
    expect(await ask()).toMatchObject({ status, body: expect.stringContaining(code), headers });
    expect((await ask('11111111-1111-4111-8111-111111111111')).body).not.toContain(code);
    under.clock.advance(1_000);
    expect((await ask()).body).not.toContain(code);
  });

  test.each([
    ['Bitget', 6_000, 300_000, 429, '"code":"429"'],
    ['Bybit', 600, 600_000, 403, 'access too frequent'],
  ] as const)('%s: an address beyond %i', async (platform, most, recoveryMs, status, words) => {
    const { time } = open(platform);
    for (const _ of times(most)) await time('192.0.2.1');
    const refused = { status, body: expect.stringContaining(words) };
    expect(await time('192.0.2.1')).toMatchObject(refused);
    expect((await time('192.0.2.2')).status).toBe(200);
    under.clock.advance(recoveryMs - 1);
    expect(await time('192.0.2.1')).toMatchObject(refused);
    under.clock.advance(1);
    expect((await time('192.0.2.1')).status).toBe(200);
  });
});
