import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startTestApp, type TestApp } from '#test/app/test-app.ts';
import { systemClock } from '../clock.ts';
import { openPool } from '../db/pool.ts';
import { createLog } from '../log.ts';
import { createHttpApp } from './create-http-app.ts';
import type { App } from './http-app.ts';

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

describe('failures', () => {
  let app: App;
  const lines: string[] = [];
  const config = { access: 'public' } as const;

  beforeAll(async () => {
    app = await createHttpApp({
      config: { trustProxy: [], metricsToken: null, publicUrl: null },
      untrustedProxies: { note() {} },
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

  // Requirements: answers-7
  test('of ours are 500 without a word of them, and are logged with their cause', async () => {
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

  test('to reach the database at all are 503 soon, and the pages and the health of the process stay', async () => {
    const log = createLog({ level: 'silent' });
    const lost = openPool({ connection: { connectionString: 'postgres://nobody@127.0.0.1:1/none' }, log });
    const apart = await createHttpApp(
      {
        config: { trustProxy: [], metricsToken: null, publicUrl: null },
        untrustedProxies: { note() {} },
        log,
        clock: systemClock,
        db: lost.db,
      },
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

describe('what never becomes a request is answered all the same', () => {
  test.each([
    ['bytes that are no HTTP', 'NONSENSE\r\n\r\n', '400 Bad Request'],
    [
      'a head that is too large',
      `GET / HTTP/1.1\r\nhost: board\r\nmuch: ${'x'.repeat(20_000)}\r\n\r\n`,
      '431 Request Header Fields Too Large',
    ],
  ])('%s', async (_what, bytes, status) => {
    const address = await listen();
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect({ port: Number(new URL(address).port), host: '127.0.0.1' }, () =>
        socket.write(bytes),
      );
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
    });
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
])('a request that stalls in %s is answered 408 in time, and its connection ends', async (_where, bytes) => {
  const app = await createHttpApp(
    {
      config: { trustProxy: [], metricsToken: null, publicUrl: null },
      untrustedProxies: { note() {} },
      log: createLog({ level: 'silent' }),
      clock: systemClock,
      db: board.database.db,
    },
    { requestTimeoutMs: 120 },
  );
  app.post('/api/echo', { config: { access: 'public' } }, async ({ body }) => body);
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
test('a request on an open connection of a program that is ending is 503 like any other, and may be sent again', async () => {
  const app = await createHttpApp({
    config: { trustProxy: [], metricsToken: null, publicUrl: null },
    untrustedProxies: { note() {} },
    log: createLog({ level: 'silent' }),
    clock: systemClock,
    db: board.database.db,
  });
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  app.get('/api/slow', { config: { access: 'public' } }, async () => {
    await held;
    return { done: true };
  });
  const ending = new Promise<void>((resolve) => app.addHook('preClose', async () => resolve()));
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  const answered = text(socket);
  socket.write('GET /api/slow HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(app.server, 'request');
  const closed = app.close();
  await ending;
  socket.write('POST /hooks/trading_view_signal HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n');
  await once(app.server, 'request');
  release();
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
