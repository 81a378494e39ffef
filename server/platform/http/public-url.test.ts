import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '#test/world.ts';
import { ConfigError, parseConfig } from '../config/config.ts';
import { checkPublicUrl } from './public-url.ts';

const ORIGIN = 'https://board.example.com';
const HOST = 'board.example.com';
const REFUSED = {
  message: `Signal Board answers at ${ORIGIN} only (PUBLIC_URL); a proxy in front has to pass on the Host`,
};

describe('a start', () => {
  const check = (env: Record<string, string>) => () => checkPublicUrl(parseConfig(env));

  test.each([
    [{}],
    [{ HOST: '0.0.0.0' }],
    [{ HOST: '0.0.0.0', PUBLIC_URL: 'http://board.lan:3000' }],
    [{ EXCHANGE_MODE: 'live' }],
    [{ EXCHANGE_MODE: 'live', HOST: 'localhost' }],
    [{ EXCHANGE_MODE: 'live', HOST: '127.5.0.1' }],
    [{ EXCHANGE_MODE: 'demo', HOST: '::1', PUBLIC_URL: 'http://[::1]:3000' }],
    [{ EXCHANGE_MODE: 'demo', PUBLIC_URL: 'http://localhost:3000' }],
    [{ EXCHANGE_MODE: 'live', HOST: '0.0.0.0', PUBLIC_URL: ORIGIN }],
    [{ EXCHANGE_MODE: 'live', HOST: '127.0.0.1', PUBLIC_URL: ORIGIN }],
  ])('continues with %j', (env) => {
    expect(check(env)).not.toThrow();
  });

  const takesHttps = (got: string, mode: string, host: string) =>
    `PUBLIC_URL is ${got}; with EXCHANGE_MODE=${mode} and HOST=${host}, which other machines can reach,`;

  test.each([
    [{ EXCHANGE_MODE: 'live', HOST: '0.0.0.0' }, takesHttps('unset', 'live', '0.0.0.0')],
    [{ EXCHANGE_MODE: 'demo', HOST: '::' }, takesHttps('unset', 'demo', '::')],
    [{ EXCHANGE_MODE: 'demo', HOST: '10.0.0.5' }, takesHttps('unset', 'demo', '10.0.0.5')],
    [{ EXCHANGE_MODE: 'live', HOST: 'board' }, takesHttps('unset', 'live', 'board')],
    [
      { EXCHANGE_MODE: 'live', HOST: '0.0.0.0', PUBLIC_URL: 'http://localhost:3000' },
      takesHttps('"http://localhost:3000"', 'live', '0.0.0.0'),
    ],
    [
      { EXCHANGE_MODE: 'live', PUBLIC_URL: 'http://board.example.com' },
      'PUBLIC_URL is "http://board.example.com"; with EXCHANGE_MODE=live it takes an https:// address, or an http:// address of this machine such as http://localhost:3000',
    ],
  ])('is refused with %j', (env, message) => {
    expect(check(env)).toThrow(ConfigError);
    expect(check(env)).toThrow(message);
  });
});

describe('with an https address outside', () => {
  let board: World;
  beforeAll(async () => {
    board = await startWorld({ config: { publicUrl: ORIGIN } });
  });
  afterAll(() => board.close());

  test('makes the session cookie Secure and host-bound, however the request came', async () => {
    const answer = await board.anonymous.post(
      '/api/auth/login',
      { username: 'admin@example.com', password: 'correct horse battery' },
      { headers: { host: HOST, 'x-forwarded-proto': 'http' } },
    );
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-sid=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    const who = (text: string) =>
      board.anonymous.get('/api/auth/user', { headers: { host: HOST, cookie: text } });
    expect((await who(cookie)).statusCode).toBe(200);
    expect((await who(cookie.replace('__Host-', ''))).statusCode).toBe(401);
  });

  test.each(['/healthz', '/signals', '/api/auth/user', '/api/%zz'])(
    'demands HTTPS for a year in the answer to %s',
    async (url) => {
      const answer = await board.anonymous.get(url, { headers: { host: HOST } });
      expect(answer.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
    },
  );

  test.each([HOST, 'BOARD.example.com', 'board.example.com:443'])('answers pages under %s', async (host) => {
    expect((await board.anonymous.get('/api/auth/user', { headers: { host } })).statusCode).toBe(401);
  });

  test.each([
    'evil.example',
    'localhost:3000',
    '127.0.0.1',
    'board.example.com.evil.example',
    'board.example.com:8443',
    'x@board.example.com',
    '',
  ])('answers nothing else under the host %j', async (host) => {
    for (const [method, url] of [
      ['GET', '/'],
      ['GET', '/assets/x.js'],
      ['GET', '/api/auth/user'],
      ['POST', '/api/auth/login'],
      ['GET', '/healthz/x'],
    ] as const) {
      const answer = await board.anonymous.send({ method, url, headers: { host } });
      expect([answer.statusCode, answer.json()], `${method} ${url}`).toEqual([421, REFUSED]);
    }
  });

  test('answers health and metrics under any host, for containers, balancers and scrapers', async () => {
    const headers = { host: '127.0.0.1:3000' };
    expect((await board.anonymous.get('/healthz', { headers })).statusCode).toBe(200);
    expect((await board.anonymous.get('/readyz', { headers })).json()).toHaveProperty('ready');
    expect((await board.anonymous.get('/metrics', { headers })).statusCode).toBe(200);
    expect((await board.anonymous.get('/metrics', { headers: { host: 'evil.example' } })).statusCode).toBe(
      401,
    );
  });

  test('takes deliveries under any host: a 421 would lose the alert', async () => {
    const { json } = await board.admin.post('/api/hooks', {});
    const answer = await board.anonymous.post(
      `/hooks/trading_view_signal?hkid=${json().hookKey}`,
      { symbol: 'BTCUSDT', action: 'buy', price: '1', timeframe: '15', processor: 'Tesla' },
      { headers: { host: '203.0.113.7' } },
    );
    expect([answer.statusCode, answer.json()]).toMatchObject([200, { success: true }]);
  });

  test('accepts writes only from that origin, including its protocol', async () => {
    const logout = async (origin: string) =>
      (await board.anonymous.post('/api/auth/logout', undefined, { headers: { host: HOST, origin } }))
        .statusCode;
    expect(await logout(ORIGIN)).toBe(200);
    for (const origin of [
      'http://board.example.com',
      'https://board.example.com:8443',
      'https://evil.example',
      'null',
    ])
      expect(await logout(origin), origin).toBe(403);
  });

  test('uses the forwarded host behind a trusted proxy', async () => {
    const proxied = await startWorld({ config: { publicUrl: ORIGIN, trustProxy: ['127.0.0.1'] } });
    const ask = async (headers: Record<string, string>) =>
      (await proxied.anonymous.get('/api/auth/user', { headers })).statusCode;
    expect(await ask({ host: 'inner:3000', 'x-forwarded-host': HOST })).toBe(401);
    expect(await ask({ host: HOST, 'x-forwarded-host': 'evil.example' })).toBe(421);
    await proxied.close();
  });
});

test('sets plain cookies and answers only its host with a plain http address outside', async () => {
  const board = await startWorld({ config: { publicUrl: 'http://board.lan:3000' } });
  expect(board.admin.cookie).toMatch(/^sid=/);
  expect((await board.admin.get('/api/auth/user')).headers).not.toHaveProperty('strict-transport-security');
  expect((await board.admin.get('/api/auth/user', { headers: { host: 'board.lan' } })).statusCode).toBe(421);
  await board.close();
});
