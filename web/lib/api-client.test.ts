import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACTING_USER_HEADER } from '#contract/acting-user.ts';
import { ApiError, actAs, requestJson, serverMessage, withParams } from './api-client.ts';

let server: Server;
let origin: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/message') {
      response.writeHead(409, { 'content-type': 'application/json' });
      response.end('{"message":"You already have a webhook"}');
    } else if (request.url === '/empty') {
      response.writeHead(503, 'Service Unavailable').end();
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      const { 'content-type': contentType = null, [ACTING_USER_HEADER]: user = null } = request.headers;
      response.end(JSON.stringify({ contentType, user }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

const failure = async (path: string) => {
  try {
    await requestJson(origin + path);
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure');
};

// Requirements: accounts-messages-2, accounts-messages-3, trading-messages-2
test('keeps the status, body and message field of a refusal', async () => {
  const error = await failure('/message');
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).message).toBe('409: {"message":"You already have a webhook"}');
  expect(serverMessage(error, 'Failed to create webhook')).toBe('You already have a webhook');
});

// Requirements: accounts-messages-2, accounts-messages-3, trading-messages-2
test('replaces an empty body with the status text', async () => {
  const error = await failure('/empty');
  expect((error as ApiError).message).toBe('503: Service Unavailable');
  expect(serverMessage(error, 'Failed to fetch stats')).toBe('Failed to fetch stats');
});

// Requirements: accounts-messages-4
test('reports a missing answer in plain words, and keeps an abort an abort', async () => {
  await expect(requestJson('http://127.0.0.1:1/')).rejects.toThrow(/^The server cannot be reached$/);
  const signal = AbortSignal.abort();
  await expect(requestJson(`${origin}/echo`, { signal })).rejects.toMatchObject({ name: 'AbortError' });
});

// Requirements: accounts-calls-2
test('sends a JSON content type only with a body', async () => {
  expect(await requestJson(`${origin}/echo`)).toMatchObject({ contentType: null });
  expect(await requestJson(`${origin}/echo`, { method: 'POST' })).toMatchObject({ contentType: null });
  expect(await requestJson(`${origin}/echo`, { method: 'POST', body: {} })).toMatchObject({
    contentType: 'application/json',
  });
});

test("sends the user with a screen's requests, but not with the session look-up", async () => {
  actAs('ann');
  try {
    expect(await requestJson(`${origin}/echo`, { method: 'PUT', body: {} })).toMatchObject({ user: 'ann' });
    expect(await requestJson(`${origin}/echo`, { anyUser: true })).toMatchObject({ user: null });
  } finally {
    actAs(null);
  }
  expect(await requestJson(`${origin}/echo`)).toMatchObject({ user: null });
});

test('drops an answer that arrives after another user signed in', async () => {
  actAs('ann');
  const asked = requestJson(`${origin}/echo`);
  actAs('bob');
  try {
    await expect(asked).rejects.toThrow('Another user has signed in to this browser');
  } finally {
    actAs(null);
  }
});

// Requirements: trading-validation-13
test('omits empty filters from the URL', () => {
  expect(withParams('/api/signals', { page: 1, token: '', action: undefined, timeframe: '15' })).toBe(
    '/api/signals?page=1&timeframe=15',
  );
});
