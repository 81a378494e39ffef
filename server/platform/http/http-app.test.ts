import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startWorld, type World } from '#test/world.ts';
import { systemClock } from '../clock.ts';
import { openPool } from '../db/pool.ts';
import { createLog } from '../log.ts';
import { createHttpApp, type HttpDeps } from './create-http-app.ts';
import { registerHealthRoutes } from './health.ts';
import type { App } from './http-app.ts';
import { CHANGES_NOTHING } from './write-rules.ts';

let board: World;
let webFolder: string;

beforeAll(async () => {
  webFolder = mkdtempSync(join(tmpdir(), 'signal-board-web-'));
  mkdirSync(join(webFolder, 'assets'));
  writeFileSync(join(webFolder, 'index.html'), '<!doctype html><title>Signal Board</title>');
  writeFileSync(join(webFolder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  writeFileSync(join(webFolder, 'assets/index-4f2a.js'), 'export {}');
  board = await startWorld({ webFolder });
});
afterAll(async () => {
  await board.close();
  rmSync(webFolder, { recursive: true });
});

/** The app without the features. */
const createBareApp = (
  deps: Partial<HttpDeps> = {},
  options?: Parameters<typeof createHttpApp>[1],
): Promise<App> =>
  createHttpApp(
    {
      config: { trustProxy: [], metricsToken: null, publicUrl: null, exchangeMode: 'paper' },
      untrustedProxies: { note() {} },
      log: createLog({ level: 'silent' }),
      clock: systemClock,
      db: board.database.db,
      ...deps,
    },
    options,
  );

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
  // Requirements: sign-in-and-sessions-22
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

  test('demand HTTPS for a year only when a trusted proxy reports HTTPS', async () => {
    const forwarded = { headers: { 'x-forwarded-proto': 'https' } };
    const untrusted = await board.anonymous.get('/healthz', forwarded);
    expect(untrusted.headers).not.toHaveProperty('strict-transport-security');
    const proxied = await startWorld({ config: { trustProxy: ['127.0.0.1'] } });
    const trusted = await proxied.anonymous.get('/healthz', forwarded);
    expect(trusted.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
    await proxied.close();
  });
});

describe('failures', () => {
  let app: App;
  const lines: string[] = [];
  const config = { access: 'public' } as const;

  beforeAll(async () => {
    const destination = { write: (line: string) => lines.push(line) };
    app = await createBareApp({ log: createLog({ level: 'info', destination }) });
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

  // Requirements: answers-7
  test('of the program are 500 without their message, and are logged with their cause', async () => {
    const answer = await app.inject('/api/bug');
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toEqual({ message: 'Internal server error' });
    expect(answer.headers).toMatchObject(HEADERS);
    const line = lines.map((text) => JSON.parse(text)).find((entry) => entry.msg === 'request failed');
    expect(line).toMatchObject({ level: 'error', req: { path: '/api/bug' } });
    expect(line.err.message).toBe('the detail that nobody may see');
  });

  // Requirements: answers-7
  test('of the database are 503 with the time to wait', async () => {
    const answer = await app.inject('/api/database');
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.json()).toEqual({ message: 'The service is not available at the moment' });
  });

  test('to reach the database are 503, while pages and the health of the process still answer', async () => {
    const connection = { connectionString: 'postgres://nobody@127.0.0.1:1/none' };
    const lost = openPool({ connection, log: createLog({ level: 'silent' }) });
    const apart = await createBareApp({ db: lost.db }, { webFolder });
    apart.get('/api/mine', { config: { access: 'user' } }, async () => ({}));
    const answer = await apart.inject({ url: '/api/mine', headers: { cookie: `sid=${'x'.repeat(43)}` } });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    expect((await apart.inject('/login')).statusCode).toBe(200);
    await apart.close();
    await lost.close();
  });

  test('to keep the contract of an answer are 500, and fields beyond it are dropped', async () => {
    expect((await app.inject('/api/shape')).json()).toEqual({ message: 'Internal server error' });
    expect((await app.inject('/api/more')).json()).toEqual({ name: 'a' });
  });
});

describe('answers bytes that never become a request', () => {
  test.each([
    ['bytes that are no HTTP', 'NONSENSE\r\n\r\n', '400 Bad Request'],
    [
      'a head that is too large',
      `GET / HTTP/1.1\r\nhost: board\r\nmuch: ${'x'.repeat(20_000)}\r\n\r\n`,
      '431 Request Header Fields Too Large',
    ],
  ])('%s', async (_what, bytes, status) => {
    const address = await listen();
    const socket = connect({ port: Number(new URL(address).port), host: '127.0.0.1' });
    socket.write(bytes);
    const answer = await text(socket);
    expect(answer).toContain(`HTTP/1.1 ${status}\r\n`);
    expect(answer).toContain('x-content-type-options: nosniff');
    expect(answer).toContain(`{"message":"${status.slice(4)}"}`);
  });

  let address: Promise<string> | undefined;
  function listen(): Promise<string> {
    address ??= board.app.listen({ port: 0, host: '127.0.0.1' });
    return address;
  }
});

test.each([
  ['the head', 'POST /api/echo HTTP/1.1\r\nhost: a\r\n'],
  [
    'the body',
    'POST /api/echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"token":',
  ],
])('answers 408 in time to a request that stalls in %s, and ends its connection', async (_where, bytes) => {
  const app = await createBareApp({}, { requestTimeoutMs: 120 });
  app.post('/api/echo', { config: { access: 'public', write: CHANGES_NOTHING } }, async ({ body }) => body);
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  const answered = text(socket);
  socket.write(bytes);
  const answer = await answered;
  await app.close();

  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  for (const header of ['connection: close', 'x-content-type-options: nosniff']) {
    expect(answer).toContain(`\r\n${header}\r\n`);
  }
  expect(answer).toMatch(/\{"message":"Request Timeout"\}$/);
});

// Requirements: answers-8
test('answers 503 on an open connection of a program that is ending, so that the request may be sent again', async () => {
  const app = await createBareApp();
  const held = Promise.withResolvers<void>();
  app.get('/api/slow', { config: { access: 'public' } }, async () => {
    await held.promise;
    return { done: true };
  });
  const ending = Promise.withResolvers<void>();
  app.addHook('preClose', async () => ending.resolve());
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  const answered = text(socket);
  socket.write('GET /api/slow HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(app.server, 'request');
  const closed = app.close();
  await ending.promise;
  socket.write('POST /hooks/trading_view_signal HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n');
  await once(app.server, 'request');
  held.resolve();
  const [, slow, refused] = (await answered).split('HTTP/1.1 ');
  await closed;

  expect(slow).toMatch(/^200 OK\r\n[\s\S]*\{"done":true\}$/);
  expect(refused).toMatch(/^503 Service Unavailable\r\n/);
  for (const header of ['connection: close', 'retry-after: 5', 'x-content-type-options: nosniff']) {
    expect(refused).toContain(`\r\n${header}\r\n`);
  }
  expect(refused).toMatch(/\{"success":false,"message":"The service is not available at the moment"\}$/);
});

describe('the API description', () => {
  test('is open only to administrators', async () => {
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

  test('names the routes with their input and answers', async () => {
    const { openapi, paths } = (await board.admin.get('/api/docs/json')).json();
    expect(openapi).toMatch(/^3\.1/);
    const login = paths['/api/auth/login'].post;
    expect(login.requestBody.content['application/json'].schema.required).toEqual(['username', 'password']);
    expect(login.responses['200'].content['application/json'].schema.anyOf[0].properties).toHaveProperty(
      'user',
    );
    expect(Object.keys(paths)).not.toContain('/assets/{*}');
  });

  test('may use inline styles and nothing more', async () => {
    const page = await board.admin.get('/api/docs/');
    expect(page.headers['content-security-policy']).toBe(
      HEADERS['content-security-policy'].replace("style-src 'self'", "style-src 'self' 'unsafe-inline'"),
    );
  });
});

// Requirements: settings-of-the-program-10
test('answers readiness with 200 when every part is ready and 503 otherwise, and liveness either way', async () => {
  const app = await createBareApp();
  let running = true;
  registerHealthRoutes(app, {
    readiness: async () => ({ ready: running, checks: { database: true, positionMaker: running } }),
  });
  for (const [isRunning, status] of [
    [true, 200],
    [false, 503],
  ] as const) {
    running = isRunning;
    const answer = await app.inject('/readyz');
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({ ready: running, checks: { database: true, positionMaker: running } });
    const alive = await app.inject('/healthz');
    expect([alive.statusCode, alive.json()]).toEqual([200, { status: 'ok' }]);
    expect(alive.headers['cache-control']).toBe('no-store');
  }
  await app.close();
});

describe('the built frontend', () => {
  test('keeps hashed files permanently, but not the files next to the page', async () => {
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
  ])('serves nothing outside its folder: %s', async (url) => {
    const answer = await board.anonymous.get(url);
    expect(answer.body).not.toContain('"name"');
    expect([200, 400, 403, 404]).toContain(answer.statusCode);
  });

  test('is compressed where the build left a compressed copy and the caller accepts it', async () => {
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
    const unbuilt = await startWorld({ webFolder: join(webFolder, 'nowhere') });
    const answer = await unbuilt.anonymous.get('/');
    expect(answer.statusCode).toBe(503);
    expect(answer.body).toBe('The web pages have not been built yet. Start the program with: npm start\n');
    await unbuilt.close();
  });
});
