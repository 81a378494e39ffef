import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestJson } from './api-client.ts';
import { createQueryClient } from './query-client.ts';
import { sessionKey } from './session-key.ts';

let server: Server;
let origin: string;
let requests = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests += 1;
    response.writeHead(request.url === '/gone' ? 401 : 500, { 'content-type': 'application/json' });
    response.end('{"message":"no"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

const signedInClient = () => {
  const client = createQueryClient();
  client.setQueryData(sessionKey, { user: { username: 'ann@example.com' } });
  client.setQueryData(['/api/signals'], { signals: [], total: 0 });
  return client;
};

const get = (client: ReturnType<typeof createQueryClient>, path: string) =>
  client
    .fetchQuery({ queryKey: [path], queryFn: () => requestJson(origin + path) })
    .catch((error: Error) => error);

test('an ended session signs out and forgets what the user had loaded', async () => {
  const client = signedInClient();
  await get(client, '/gone');
  expect(client.getQueryData(sessionKey)).toBeNull();
  expect(client.getQueryData(['/api/signals'])).toBeUndefined();
});

test('another failure keeps the session and is not tried twice', async () => {
  const client = signedInClient();
  const before = requests;
  expect(await get(client, '/broken')).toMatchObject({ status: 500 });
  expect(requests - before).toBe(1);
  expect(client.getQueryData(sessionKey)).not.toBeNull();
});

test('what was loaded never goes stale by itself', () => {
  const { queries } = createQueryClient().getDefaultOptions();
  expect(queries).toMatchObject({
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchInterval: false,
  });
});
