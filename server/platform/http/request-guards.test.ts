import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '#test/world.ts';

let board: World;

beforeAll(async () => {
  board = await startWorld();
});
afterAll(() => board.close());

describe('writes from other sites', () => {
  const logout = (headers: Record<string, string>) =>
    board.anonymous.post('/api/auth/logout', undefined, { headers: { host: 'board.example', ...headers } });

  // Requirements: sign-in-and-sessions-13
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
  ])('do not include our own: %j', async (headers) => {
    expect((await logout(headers)).statusCode).toBe(200);
  });

  test('are recognized by the forwarded host behind a trusted proxy', async () => {
    const proxied = await startWorld({ config: { trustProxy: ['127.0.0.1'] } });
    const headers = {
      host: 'inner:3000',
      'x-forwarded-host': 'board.example',
      origin: 'https://board.example',
    };
    expect((await proxied.anonymous.post('/api/auth/logout', undefined, { headers })).statusCode).toBe(200);
    await proxied.close();
  });

  test('change nothing, whatever route they target', async () => {
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

  test('cannot be sent as a form or as text, because a body is JSON', async () => {
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

  // strict-json.test.ts covers all other refusals.
  test.each([
    ['malformed', '{"username":', 'The body is not valid JSON'],
    ['with a prototype', '{"__proto__":{"isAdmin":true}}', 'The body contains a forbidden key'],
  ])('%s are 400', async (_name, payload, message) => {
    const answer = await login(payload);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({ message });
  });

  // Requirements: answers-3
  test('that do not match the contract are 400 with the fields', async () => {
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

  test('over 256 KiB are 413, and up to that they are read', async () => {
    const create = (bytes: number) => board.admin.post('/api/hooks', { name: '', x: 'x'.repeat(bytes) });
    const answer = await create(256 * 1024);
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toEqual({ message: 'The request is too large' });
    expect((await create(255 * 1024)).json()).toMatchObject({ message: 'Name is required' });
  });

  test('may name their character set', async () => {
    expect(
      (await login('{"username":"a","password":"b"}', 'application/json; charset=utf-8')).statusCode,
    ).toBe(401);
  });
});

describe('a request that names two hosts', () => {
  let port: number;
  beforeAll(async () => {
    port = Number(new URL(await board.app.listen({ port: 0, host: '127.0.0.1' })).port);
  });

  async function ask(lines: string[]): Promise<{ status: string | undefined; body: unknown }> {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.write(`${[...lines, 'connection: close'].join('\r\n')}\r\n\r\n`);
    const answer = await text(socket);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    return { status: head.split(' ')[1], body: JSON.parse(body) };
  }

  const REFUSED = { status: '400', body: { message: 'The request names more than one host' } };

  test.each([
    ['in two headers', 'GET /healthz HTTP/1.1', ['Host: board.example', 'Host: evil.example']],
    ['twice the same', 'GET /healthz HTTP/1.1', ['Host: board.example', 'hOST: board.example']],
    ['in its target', 'GET http://evil.example/healthz HTTP/1.1', ['Host: board.example']],
    [
      'in its target only by the port',
      'GET http://board.example:81/healthz HTTP/1.1',
      ['Host: board.example'],
    ],
  ])('%s is 400', async (_how, first, hosts) => {
    expect(await ask([first, ...hosts])).toEqual(REFUSED);
  });

  test('is 400 in the shape of the webhooks when it is a delivery', async () => {
    const first = 'POST /hooks/trading_view_signal?hkid=x HTTP/1.1';
    const answer = await ask([first, 'Host: a', 'Host: b', 'content-length: 0']);
    expect(answer).toEqual({ ...REFUSED, body: { success: false, ...REFUSED.body } });
  });

  test.each([
    ['GET /healthz HTTP/1.1', 'Host: board.example'],
    ['GET http://board.example/healthz HTTP/1.1', 'Host: BOARD.example'],
    ['GET http://board.example:81/healthz?x=http://other HTTP/1.1', 'Host: board.example:81'],
    ['GET /healthz?to=http://evil.example/ HTTP/1.1', 'Host: board.example'],
  ])('does not include a request that names one host: %s, %s', async (first, host) => {
    expect(await ask([first, host])).toEqual({ status: '200', body: { status: 'ok' } });
  });
});
