import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRaw, type SendRaw } from '#test/app/raw-target.ts';
import { startWorld, type World } from '#test/world.ts';

let board: World;
let webFolder: string;
let send: SendRaw;

beforeAll(async () => {
  webFolder = mkdtempSync(join(tmpdir(), 'signal-board-areas-'));
  mkdirSync(join(webFolder, 'assets'));
  writeFileSync(join(webFolder, 'index.html'), '<!doctype html><title>Signal Board</title>');
  board = await startWorld({ webFolder });
  send = await openRaw(board.app);
});
afterAll(async () => {
  await board.close();
  rmSync(webFolder, { recursive: true });
});

const NOT_FOUND = { message: 'Not found' };

describe('an address that the router maps to the API', () => {
  // Requirements: answers-3, sign-in-and-sessions-21
  test.each([
    ['/api/auth/user', 401],
    ['/%61pi/auth/user', 401],
    ['/a%70%69/auth/user?x=%61', 401],
    ['http://board.example/api/auth/user', 401],
    ['HTTP://board.example/%61pi/auth/user', 401],
    ['/api/nothing', 404],
    ['/api', 404],
    ['/api/', 404],
    ['/api?x=1', 404],
    ['/api#x', 404],
    ['/%61pi', 404],
    ['/%61pi/nothing', 404],
    ['/api/../healthz', 404],
    ['/%61pi/..%2fhealthz', 404],
    ['/%61pi/docs/static/nothing', 401],
    ['http://board.example/api/nothing', 404],
    ['http://board.example/%61pi?x=1', 404],
    ['/%61pi/%zz', 400],
    ['http://board.example/api/%zz', 400],
  ])('is answered as JSON that is not cached: GET %s', async (target, status) => {
    const { headers, body, ...answer } = await send({ method: 'GET', target });
    expect(answer.status).toBe(status);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({ message: expect.any(String) });
  });

  // Requirements: sign-in-and-sessions-13
  test.each(['/%61pi/auth/logout', 'http://board.example/api/auth/logout'])(
    'accepts writes only from our own site: POST %s',
    async (target) => {
      const write = (origin: string) =>
        send({ method: 'POST', target, headers: { host: 'board.example', origin } });
      const [own, other] = [await write('http://board.example'), await write('https://evil.example')];
      expect(own.status).toBe(200);
      expect(other).toMatchObject({ status: 403, body: { message: 'Cross-site requests are refused' } });
    },
  );

  // Requirements: sign-in-and-sessions-21
  test.each(['/%61pi/auth/logout', 'http://board.example/api/auth/logout', '/%61pi/nothing'])(
    'is logged as a write: POST %s',
    async (target) => {
      const { status: statusCode } = await send({ method: 'POST', target });
      const lines = board.logged().trimEnd().split('\n');
      const line = lines.map((text) => JSON.parse(text)).findLast(({ msg }) => msg === 'request answered');
      expect(line).toMatchObject({
        level: 'info',
        req: { method: 'POST', path: target },
        res: { statusCode },
      });
    },
  );
});

describe('an address that the router maps to the webhooks', () => {
  // Requirements: sign-in-and-sessions-21
  test.each([
    ['POST', '/hooks/trading_view_signal?hkid=none', 401],
    ['POST', '/%68ooks/trading_view_signal?hkid=none', 401],
    ['POST', 'http://board.example/hooks/trading_view_signal?hkid=none', 401],
    ['POST', '/%68ooks/trading_view_signal?hkid=%00', 401],
    ['POST', '/hooks', 404],
    ['POST', '/%68ooks?x', 404],
    ['POST', '/%68ooks/nothing', 404],
    ['GET', '/%68ooks/trading_view_signal', 404],
    ['POST', '/hooks/trading_view_signal%', 400],
  ])('is answered in the shape of the webhooks and never cached: %s %s', async (method, target, status) => {
    const { headers, body, ...answer } = await send({
      method,
      target,
      headers: { origin: 'https://evil.example' },
    });
    expect(answer.status).toBe(status);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({ success: false, message: expect.any(String) });
  });
});

describe('an address that the router maps to a page', () => {
  test.each([
    '/',
    '/no/such/page?userId=1',
    '/%2561pi/auth/user',
    '/API/auth/user',
    '//api/auth/user',
    '/./api/auth/user',
    '/x/../api/auth/user',
    '/api;x',
    '/api./auth/user',
    '/apis',
    '/api%2Fauth%2Fuser',
    '/hookshop',
    'http://board.example',
    'http://board.example//api/auth/user',
  ])('is a page for reads and 404 for writes: %s', async (target) => {
    const page = await send({ method: 'GET', target });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/html/),
      'cache-control': 'no-cache',
    });
    const headers = { origin: 'https://evil.example', cookie: board.admin.cookie };
    expect(await send({ method: 'POST', target, headers })).toMatchObject({ status: 404, body: NOT_FOUND });
  });
});

test('answers 404 for a missing built file, however its address is written', async () => {
  const headers = { cookie: board.admin.cookie };
  for (const target of ['/assets/gone.js', '/%61ssets/gone.js', '/%61pi/docs/static/gone.js']) {
    const { status, body } = await send({ method: 'GET', target, headers });
    expect({ status, body }, target).toEqual({ status: 404, body: NOT_FOUND });
  }
});

test('does not log queries, whichever mark they begin with', async () => {
  for (const mark of ['?', '#']) {
    await send({ method: 'POST', target: `/hooks/trading_view_signal${mark}%68kid=canary-5d1e` });
  }
  expect(board.logged()).toContain('"path":"/hooks/trading_view_signal"');
  expect(board.logged()).not.toContain('canary-5d1e');
});

test('answers 400 for an address with NUL, however it is written', async () => {
  for (const target of [
    '/api/admin/user/%00',
    '/%61pi/users?x=%00',
    'http://board.example/api/users?x=%00',
    '/signals%00',
  ]) {
    const headers = { cookie: board.admin.cookie };
    expect((await send({ method: 'GET', target, headers })).status, target).toBe(400);
  }
});
