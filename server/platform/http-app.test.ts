import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startTestApp, type TestApp } from '#test/test-app.ts';
import { systemClock } from './clock.ts';
import { openPool } from './database/pool.ts';
import { type App, createHttpApp } from './http-app.ts';
import { createLog } from './log.ts';

let board: TestApp;
let webFolder: string;

beforeAll(async () => {
  webFolder = mkdtempSync(join(tmpdir(), 'signal-board-web-'));
  mkdirSync(join(webFolder, 'assets'));
  writeFileSync(join(webFolder, 'index.html'), '<!doctype html><title>Signal Board</title>');
  writeFileSync(join(webFolder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(webFolder, 'assets/index-4f2a.js'), 'export {}');
  board = await startTestApp({ webFolder });
});
afterAll(async () => {
  await board.close();
  rmSync(webFolder, { recursive: true });
});

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

describe('security headers', () => {
  test.each([
    ['a page', 'GET', '/signals', 200],
    ['a built file', 'GET', '/assets/index-4f2a.js', 200],
    ['a built file that is gone', 'GET', '/assets/index-0000.js', 404],
    ['an answer', 'GET', '/healthz', 200],
    ['a missing session', 'GET', '/api/auth/user', 401],
    ['an unknown path of the API', 'GET', '/api/nothing', 404],
    ['an unknown path of the webhooks', 'POST', '/hooks/nothing', 404],
    ['a write to a page', 'POST', '/signals', 404],
    ['an address that cannot be decoded', 'GET', '/api/%zz', 400],
    ['a refused body', 'POST', '/api/auth/login', 400],
  ] as const)('are on %s', async (_name, method, url, status) => {
    const answer = await board.anonymous.send({ method, url });
    expect(answer.statusCode).toBe(status);
    expect(answer.headers).toMatchObject(HEADERS);
    expect(answer.headers).not.toHaveProperty('strict-transport-security');
    expect(answer.headers).not.toHaveProperty('server');
    expect(answer.headers).not.toHaveProperty('x-powered-by');
    if (/^\/(api|hooks)/.test(url)) {
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    }
  });

  test('demand HTTPS for a year only when a trusted proxy says that it was HTTPS', async () => {
    const forwarded = { headers: { 'x-forwarded-proto': 'https' } };
    const untrusted = await board.anonymous.get('/healthz', forwarded);
    expect(untrusted.headers).not.toHaveProperty('strict-transport-security');
    const proxied = await startTestApp({ config: { trustProxy: ['127.0.0.1'] } });
    const trusted = await proxied.anonymous.get('/healthz', forwarded);
    expect(trusted.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
    await proxied.close();
  });
});

describe('unknown paths', () => {
  test('of the API are JSON, never the page', async () => {
    for (const url of ['/api', '/api/', '/api/nothing', '/api/users/../nothing?x=1', '/hooks', '/hooks/x']) {
      const answer = await board.anonymous.get(url);
      expect(answer.statusCode, url).toBe(404);
      expect(answer.json(), url).toMatchObject({ message: 'Not found' });
    }
  });

  test('are the single page otherwise, always checked for a newer one', async () => {
    for (const url of ['/', '/signals', '/settings?userId=1', '/no/such/page', '/apiary']) {
      const answer = await board.anonymous.get(url);
      expect(answer.statusCode, url).toBe(200);
      expect(answer.headers['content-type'], url).toBe('text/html; charset=utf-8');
      expect(answer.headers['cache-control'], url).toBe('no-cache');
    }
  });
});

describe('the built frontend', () => {
  test('hashed files are kept for good, files beside the page are not', async () => {
    const hashed = await board.anonymous.get('/assets/index-4f2a.js');
    expect(hashed.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const icon = await board.anonymous.get('/favicon.svg');
    expect(icon.headers['content-type']).toContain('image/svg+xml');
    expect(icon.headers['cache-control']).toBe('no-cache');
  });

  test.each([
    '/assets/../../package.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/..%2fpackage.json',
    '/assets/.env',
  ])('nothing outside its folder is served: %s', async (url) => {
    const answer = await board.anonymous.get(url);
    expect(answer.body).not.toContain('"name"');
    expect([200, 400, 403, 404]).toContain(answer.statusCode);
  });

  test('comes compressed where the build left a compressed copy and the caller takes it', async () => {
    const zipped = gzipSync('export {}');
    writeFileSync(join(webFolder, 'assets/index-4f2a.js.gz'), zipped);
    const headers = { 'accept-encoding': 'gzip' };
    const answer = await board.anonymous.get('/assets/index-4f2a.js', { headers });
    expect(answer.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': expect.stringContaining('javascript'),
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    });
    expect(answer.rawPayload).toEqual(zipped);
    const page = await board.anonymous.get('/signals', { headers });
    expect(page.headers).not.toHaveProperty('content-encoding');
    expect(page.body).toContain('<title>Signal Board</title>');
  });

  test('says plainly when it was not built', async () => {
    const unbuilt = await startTestApp({ webFolder: join(webFolder, 'nowhere') });
    const answer = await unbuilt.anonymous.get('/');
    expect(answer.statusCode).toBe(503);
    expect(answer.body).toBe('The web pages have not been built yet. Start the program with: npm start\n');
    await unbuilt.close();
  });
});

describe('writes from other sites', () => {
  const logout = (headers: Record<string, string>) =>
    board.anonymous.post('/api/auth/logout', undefined, { headers: { host: 'board.example', ...headers } });

  test.each([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'https://board.example.evil.example' }],
    [{ origin: 'https://board.example:8443' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ origin: 'https://board.example', 'sec-fetch-site': 'cross-site' }],
    [{ origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }],
  ])('are refused: %j', async (headers) => {
    const answer = await logout(headers);
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toEqual({ message: 'Cross-site requests are refused' });
  });

  test.each([
    [{}],
    [{ origin: 'https://board.example' }],
    [{ origin: 'http://board.example', 'sec-fetch-site': 'same-origin' }],
    [{ 'sec-fetch-site': 'none' }],
  ])('are told from our own: %j', async (headers) => {
    expect((await logout(headers)).statusCode).toBe(200);
  });

  test('are told by the forwarded host behind a trusted proxy', async () => {
    const proxied = await startTestApp({ config: { trustProxy: ['127.0.0.1'] } });
    const headers = {
      host: 'inner:3000',
      'x-forwarded-host': 'board.example',
      origin: 'https://board.example',
    };
    expect((await proxied.anonymous.post('/api/auth/logout', undefined, { headers })).statusCode).toBe(200);
    await proxied.close();
  });

  test('leave everything as it was, whatever route they aim at', async () => {
    const { client, user, password } = await board.createUser();
    const headers = { origin: 'https://evil.example' };
    const answers = [
      await client.put('/api/user-settings', { signalProcessor: 'Any' }, { headers }),
      await client.post('/api/hooks', {}, { headers }),
      await client.put(
        '/api/user-settings/change-password',
        { currentPassword: password, newPassword: 'stolen' },
        { headers },
      ),
      await client.post('/api/auth/logout', undefined, { headers }),
      await board.admin.patch(`/api/admin/users/${user.id}/deactivate`, undefined, { headers }),
    ];
    expect(answers.map((answer) => answer.statusCode)).toEqual(Array(5).fill(403));
    expect((await board.admin.get(`/api/admin/user/${user.id}`)).json()).toEqual({ user });
    expect((await client.get('/api/hooks')).json()).toEqual([]);
  });

  test('cannot come as a form or as text: a body is JSON', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      '',
    ]) {
      const answer = await board.anonymous.send({
        method: 'POST',
        url: '/api/auth/login',
        headers: { 'content-type': type },
        payload: '{"username":"a","password":"b"}',
      });
      expect(answer.statusCode, type).toBe(415);
      expect(answer.json()).toEqual({ message: 'Send the body as application/json' });
    }
  });
});

describe('bodies', () => {
  const login = (payload: string | Buffer, type = 'application/json') =>
    board.anonymous.send({
      method: 'POST',
      url: '/api/auth/login',
      headers: { 'content-type': type },
      payload,
    });

  test.each([
    ['malformed', '{"username":', 'The body is not valid JSON'],
    [
      'too deep',
      `{"username":${'['.repeat(21)}${']'.repeat(21)}}`,
      'The body is nested deeper than 20 levels',
    ],
    ['with a prototype', '{"__proto__":{"isAdmin":true}}', 'The body contains a forbidden key'],
    ['with NUL', '{"username":"a\\u0000b"}', 'The body contains characters that cannot be stored'],
    ['with half a character', '{"username":"\\ud83d"}', 'The body contains characters that cannot be stored'],
  ])('%s are 400', async (_name, payload, message) => {
    const answer = await login(payload);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({ message });
  });

  test('of another shape than the contract are 400 with the fields', async () => {
    const answer = await login('{"username":5,"password":["x"]}');
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors.map((error: { path: string }) => error.path)).toEqual([
      'username',
      'password',
    ]);
    expect((await login('[]')).statusCode).toBe(400);
    expect((await login('null')).statusCode).toBe(400);
    expect((await login('')).json()).toMatchObject({ message: 'The request has no body' });
  });

  test('over 256 KiB are 413, up to it they are read', async () => {
    const body = (bytes: number) => JSON.stringify({ username: 'a', password: 'b', x: 'x'.repeat(bytes) });
    const answer = await login(body(256 * 1024));
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toEqual({ message: 'The request is too large' });
    expect((await login(body(255 * 1024))).statusCode).toBe(401);
  });

  test('may say their character set', async () => {
    expect(
      (await login('{"username":"a","password":"b"}', 'application/json; charset=utf-8')).statusCode,
    ).toBe(401);
  });
});

test('an address with NUL is 400 before it meets the database', async () => {
  for (const url of ['/api/users?x=%00', '/api/admin/user/%00', '/hooks/%00']) {
    expect((await board.admin.get(url)).statusCode).toBe(400);
  }
});

describe('failures', () => {
  let app: App;
  const lines: string[] = [];
  const config = { access: 'public' } as const;

  beforeAll(async () => {
    app = await createHttpApp({
      config: { trustProxy: [] },
      log: createLog({ level: 'info', destination: { write: (line) => lines.push(line) } }),
      clock: systemClock,
      db: board.database.db,
    });
    app.get('/api/bug', { config }, async () => {
      throw new Error('the detail that nobody may see');
    });
    app.get('/api/database', { config }, async () => {
      throw new Error('Failed query', { cause: Object.assign(new Error('x'), { code: '57P01' }) });
    });
    app.get(
      '/api/shape',
      { config, schema: { response: { 200: z.object({ count: z.number() }) } } },
      async () => ({ count: 'three' }) as unknown as { count: number },
    );
    app.get(
      '/api/more',
      { config, schema: { response: { 200: z.object({ name: z.string() }) } } },
      async () => ({ name: 'a', passwordHash: 'secret' }),
    );
  });
  afterAll(() => app.close());

  test('of ours are 500 without a word of them, and are logged with their cause', async () => {
    const answer = await app.inject('/api/bug');
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toEqual({ message: 'Internal server error' });
    expect(answer.headers).toMatchObject(HEADERS);
    const line = lines.map((text) => JSON.parse(text)).find((entry) => entry.msg === 'request failed');
    expect(line).toMatchObject({ level: 'error', req: { path: '/api/bug' } });
    expect(line.err.message).toBe('the detail that nobody may see');
  });

  test('of the database are 503 with the time to wait', async () => {
    const answer = await app.inject('/api/database');
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.json()).toEqual({ message: 'The service is not available at the moment' });
  });

  test('to reach the database at all are 503 soon, and the pages and the health of the process stay', async () => {
    const log = createLog({ level: 'silent' });
    const lost = openPool({ connection: { connectionString: 'postgres://nobody@127.0.0.1:1/none' }, log });
    const apart = await createHttpApp(
      { config: { trustProxy: [] }, log, clock: systemClock, db: lost.db },
      { webFolder },
    );
    apart.get('/api/mine', { config: { access: 'user' } }, async () => ({}));
    const start = performance.now();
    const answer = await apart.inject({ url: '/api/mine', headers: { cookie: `sid=${'x'.repeat(43)}` } });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    expect(performance.now() - start).toBeLessThan(2_500);
    expect((await apart.inject('/login')).statusCode).toBe(200);
    await apart.close();
    await lost.close();
  });

  test('to keep the contract of an answer are 500, and fields beyond it are dropped', async () => {
    expect((await app.inject('/api/shape')).json()).toEqual({ message: 'Internal server error' });
    expect((await app.inject('/api/more')).json()).toEqual({ name: 'a' });
  });
});

test('bytes that are no HTTP are answered 400 with the same headers', async () => {
  const address = await board.app.listen({ port: 0, host: '127.0.0.1' });
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect({ port: Number(new URL(address).port), host: '127.0.0.1' }, () =>
      socket.write('NONSENSE\r\n\r\n'),
    );
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answer).toContain('x-content-type-options: nosniff');
  expect(answer).toContain('{"message":"Bad Request"}');
});

describe('the API description', () => {
  test('is open to administrators alone', async () => {
    const { client } = await board.createUser();
    for (const url of [
      '/api/docs',
      '/api/docs/',
      '/api/docs/json',
      '/api/docs/static/swagger-ui-bundle.js',
    ]) {
      expect((await board.anonymous.get(url)).statusCode, url).toBe(401);
      expect((await client.get(url)).statusCode, url).toBe(403);
      expect((await board.admin.get(url)).statusCode, url).toBe(200);
    }
  });

  test('names the routes with what they take and answer', async () => {
    const { openapi, paths } = (await board.admin.get('/api/docs/json')).json();
    expect(openapi).toMatch(/^3\.1/);
    const login = paths['/api/auth/login'].post;
    expect(login.requestBody.content['application/json'].schema.required).toEqual(['username', 'password']);
    expect(login.responses['200'].content['application/json'].schema.properties).toHaveProperty('user');
    expect(Object.keys(paths)).not.toContain('/assets/{*}');
  });

  test('may use inline styles and nothing more', async () => {
    const page = await board.admin.get('/api/docs/');
    expect(page.headers['content-security-policy']).toBe(
      HEADERS['content-security-policy'].replace("style-src 'self'", "style-src 'self' 'unsafe-inline'"),
    );
  });
});

describe('health', () => {
  test('the process is alive for anyone who asks', async () => {
    const answer = await board.anonymous.get('/healthz');
    expect(answer.json()).toEqual({ status: 'ok' });
    expect(answer.headers['cache-control']).toBe('no-store');
  });
});
