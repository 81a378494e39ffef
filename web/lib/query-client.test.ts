import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onlineManager } from '@tanstack/react-query';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OTHER_USER } from '#contract/acting-user.ts';
import { ApiError, requestJson } from './api-client.ts';
import { createQueryClient } from './query-client.ts';
import { sessionKey, signingOutKey } from './session.ts';

let server: Server;
let origin: string;
let requests = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests += 1;
    if (request.url?.startsWith('/echo')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ method: request.method, url: request.url }));
    }
    if (request.url === '/other-user') {
      response.writeHead(409, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ message: 'no', failureType: OTHER_USER }));
    }
    response.writeHead(request.url === '/gone' ? 401 : 500, { 'content-type': 'application/json' });
    response.end('{"message":"no"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

const signedInClient = () => {
  const client = createQueryClient();
  client.setQueryData(sessionKey, { user: { id: 'ann' } });
  client.setQueryData(['/api/signals'], { signals: [], total: 0 });
  return client;
};

const get = (client: ReturnType<typeof createQueryClient>, path: string) =>
  client
    .fetchQuery({ queryKey: [path], queryFn: () => requestJson(origin + path) })
    .catch((error: Error) => error);

// Requirements: accounts-states-3
test("signs out when the session has ended, and forgets the user's data", async () => {
  const client = signedInClient();
  await get(client, '/gone');
  expect(client.getQueryData(sessionKey)).toBeNull();
  expect(client.getQueryData(['/api/signals'])).toBeUndefined();
});

test('sends no request of a screen whose user has signed out', async () => {
  const client = signedInClient();
  client.setQueryData(sessionKey, null);
  const before = requests;
  await expect(client.fetchQuery({ queryKey: [`${origin}/echo`] })).rejects.toThrow('Signed out');
  expect(requests).toBe(before);
});

test('sends no request of a screen whose user is signing out', async () => {
  const client = signedInClient();
  client.setQueryData(signingOutKey, true);
  const before = requests;
  await expect(client.fetchQuery({ queryKey: [`${origin}/echo`] })).rejects.toThrow('Signed out');
  expect(requests).toBe(before);
  client.setQueryData(signingOutKey, false);
  expect(await client.fetchQuery({ queryKey: [`${origin}/echo`] })).toMatchObject({ method: 'GET' });
});

// Requirements: accounts-states-4
test('forgets loaded data when another user signs in, but not when the same user is looked up again', () => {
  const client = signedInClient();
  client.setQueryData(sessionKey, { user: { id: 'ann', firstName: 'Ann' } });
  expect(client.getQueryData(['/api/signals'])).toBeDefined();
  client.setQueryData(sessionKey, { user: { id: 'bob' } });
  expect(client.getQueryData(['/api/signals'])).toBeUndefined();
  expect(client.getQueryData(sessionKey)).toEqual({ user: { id: 'bob' } });
});

test('looks up the session after a refusal as another user', async () => {
  const client = signedInClient();
  const askedFor: unknown[] = [];
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type === 'updated' && query.state.fetchStatus === 'fetching') askedFor.push(query.queryKey[0]);
  });
  expect(await get(client, '/other-user')).toMatchObject({ status: 409 });
  await expect.poll(() => askedFor).toContain(sessionKey[0]);
});

// Requirements: accounts-calls-24, trading-constants-21
test('keeps the session after any other failure, and does not retry', async () => {
  const client = signedInClient();
  const before = requests;
  expect(await get(client, '/broken')).toMatchObject({ status: 500 });
  expect(requests - before).toBe(1);
  expect(client.getQueryData(sessionKey)).not.toBeNull();
});

// Requirements: accounts-calls-21
test('sends a GET to the first element of the key for a query without its own function', async () => {
  const client = createQueryClient();
  expect(await client.fetchQuery({ queryKey: [`${origin}/echo`] })).toEqual({ method: 'GET', url: '/echo' });
  expect(await client.fetchQuery({ queryKey: [`${origin}/echo`, { page: 2 }] })).toEqual({
    method: 'GET',
    url: '/echo?page=2',
  });
});

// Requirements: accounts-calls-22
test('treats 401 as an error by default', async () => {
  const client = createQueryClient();
  const answer = client.fetchQuery({ queryKey: [`${origin}/gone`] });
  await expect(answer).rejects.toBeInstanceOf(ApiError);
  await expect(answer).rejects.toMatchObject({ status: 401, message: '401: {"message":"no"}' });
});

// Requirements: accounts-calls-24
test('does not retry a failed write', async () => {
  const client = createQueryClient();
  const before = requests;
  const write = client
    .getMutationCache()
    .build(client, { mutationFn: () => requestJson(`${origin}/broken`, { method: 'POST' }) });
  await expect(write.execute(undefined)).rejects.toMatchObject({ status: 500 });
  expect(requests - before).toBe(1);
});

// Requirements: accounts-calls-23, trading-constants-21
test('keeps loaded data fresh and does not refetch it', async () => {
  const client = createQueryClient();
  const queryKey = [`${origin}/echo`];
  await client.fetchQuery({ queryKey });
  const before = requests;
  await client.ensureQueryData({ queryKey });
  await client.fetchQuery({ queryKey });
  expect(requests).toBe(before);
  expect(client.getDefaultOptions().queries).toMatchObject({
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    refetchInterval: false,
    retry: false,
  });
});

test('sends requests while the browser is offline, because the server may be on the same machine', async () => {
  const client = createQueryClient();
  onlineManager.setOnline(false);
  try {
    expect(await client.fetchQuery({ queryKey: [`${origin}/echo`] })).toMatchObject({ url: '/echo' });
  } finally {
    onlineManager.setOnline(true);
  }
});
