import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import type { CallRecord } from '../exchange.ts';
import { type CallScope, callScope } from './call-scope.ts';
import { createTransport, type Transport, type TransportOptions } from './transport.ts';
import { TransportError } from './transport-error.ts';

const EXCHANGE = 'https://exchange.test';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        if ('closeAllConnections' in server)
          (server as ReturnType<typeof createServer>).closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (handle: (request: IncomingMessage, response: ServerResponse) => void) =>
  listen(createServer(handle));

function open(changes: Partial<TransportOptions> & { target?: string } = {}): Transport {
  const { target = 'http://127.0.0.1:1', ...options } = changes;
  const transport = createTransport({
    environment: 'live',
    origins: { [EXCHANGE]: target },
    timeoutMs: 500,
    clock: systemClock,
    isSuccess: ({ status }) => status === 200,
    ...options,
  });
  closing.push(() => transport.close());
  return transport;
}

function scopeOf(changes: Partial<CallScope> = {}): CallScope {
  return {
    type: 'test',
    account: null,
    notAfter: null,
    onCall: null,
    viewerUserId: null,
    sent: false,
    answer: null,
    ...changes,
  };
}

const account = (userId: string, environment: 'live' | 'demo' = 'live') => ({
  userId,
  environment,
  credentials: { apiKey: 'k', apiSecret: 's', accountMode: 'classic' as const },
});

const post = (transport: Transport, scope = scopeOf(), url = `${EXCHANGE}/orders?a=1`) =>
  callScope.run(scope, () => transport.fetch(url, { method: 'POST', body: '{"size":"1"}' }));

const failure = async (work: Promise<unknown>): Promise<TransportError> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof TransportError)) throw new Error(`not a transport error: ${String(error)}`);
  return error;
};

describe('the phase of a failure', () => {
  test('a refused connection certainly placed nothing', async () => {
    const scope = scopeOf();
    expect((await failure(post(open(), scope))).phase).toBe('connect');
    expect(scope.sent).toBe(false);
  });

  async function refusingProxy(): Promise<string> {
    const proxy = createServer();
    proxy.on('connect', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    return listen(proxy);
  }

  test.each<[string, () => Promise<Parameters<typeof open>[0]>]>([
    ['a host name that does not resolve', async () => ({ target: 'http://no-such-host.invalid' })],
    ['a proxy that refuses the tunnel', async () => ({ proxies: [await refusingProxy()] })],
    ['a proxy that is down', async () => ({ proxies: ['http://127.0.0.1:1'] })],
  ])('%s certainly placed nothing', async (_, options) => {
    expect((await failure(post(open(await options())))).phase).toBe('connect');
  });

  test('a connection cut after the request may have placed something', async () => {
    const target = await listen(createTcpServer((socket) => socket.on('data', () => socket.destroy())));
    const scope = scopeOf();
    expect((await failure(post(open({ target }), scope))).phase).toBe('sent');
    expect(scope.sent).toBe(true);
  });

  test('an answer cut in the middle may have placed something', async () => {
    const half = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"code"';
    const target = await listen(createTcpServer((socket) => socket.on('data', () => socket.end(half))));
    expect((await failure(post(open({ target })))).phase).toBe('sent');
  });

  test('the deadline covers the body, not only the headers', async () => {
    const target = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{');
    });
    const error = await failure(post(open({ target })));
    expect(error).toMatchObject({ phase: 'sent', message: 'no answer within 500 ms' });
  });

  test('a redirect is not followed', async () => {
    let hits = 0;
    const elsewhere = await serve((_, response) => {
      hits += 1;
      response.end();
    });
    const target = await serve((_, response) => response.writeHead(302, { location: elsewhere }).end());
    expect((await failure(post(open({ target })))).phase).toBe('sent');
    expect(hits).toBe(0);
  });
});

describe('an answer that is not read', () => {
  const MIB = 1024 * 1024;
  const answering = async (body: string) => ({ target: await serve((_, response) => response.end(body)) });
  const venueOf = (body: string) => ({
    venue: { handle: async () => ({ status: 200, headers: {}, body, delivery: 'whole' as const }) },
  });

  test.each([
    ['over the network', answering],
    ['from a venue', async (body: string) => venueOf(body)],
  ])('%s has more than 1 MiB, unless it is a list', async (_, optionsFor) => {
    const transport = open({ timeoutMs: 10_000, ...(await optionsFor(`"${'x'.repeat(MIB)}"`)) });
    const error = await failure(post(transport, scopeOf({ type: 'find-order' })));
    expect(error).toMatchObject({ phase: 'sent', isUnreadable: true, message: 'the answer is too long' });
    expect(await (await post(transport, scopeOf({ type: 'positions' }))).text()).toHaveLength(MIB + 2);
  });

  test.each([
    ['of 65 digits', `{"price":"${'6'.repeat(65)}"}`],
    ['of 65 digits, not as text', `{"price":${'6'.repeat(65)}}`],
    ['of 900,000 decimals', `{"price":"0.${'6'.repeat(900_000)}"}`],
  ])('holds a number %s', async (_, body) => {
    for (const options of [await answering(body), venueOf(body)]) {
      const error = await failure(post(open({ timeoutMs: 10_000, ...options })));
      expect(error).toMatchObject({ phase: 'sent', isUnreadable: true });
    }
  });

  test('is not one with numbers of 64 digits, or with long texts that hold other characters', async () => {
    const body = `{"a":"${'6'.repeat(64)}","b":"${'12345678-9abc'.repeat(20)}","c":[${'1,'.repeat(100)}1]}`;
    expect(await (await post(open(await answering(body)))).text()).toBe(body);
  });
});

describe('never sends', () => {
  const unreachable = () => {
    let hits = 0;
    const venue = {
      async handle() {
        hits += 1;
        return { status: 200, headers: {}, body: '{}', delivery: 'whole' as const };
      },
    };
    return { venue, hits: () => hits };
  };

  test.each([
    ['http://169.254.169.254/latest'],
    ['https://exchange.test.evil.example/x'],
    ['https://exchange.test:444/x'],
    ['https://__proto__/x'],
  ])('a request to another origin: %s', async (url) => {
    const { venue, hits } = unreachable();
    expect((await failure(post(open({ venue }), scopeOf(), url))).phase).toBe('not-sent');
    expect(hits()).toBe(0);
  });

  test('a request to the origin of another environment, where the origins differ', async () => {
    const { venue, hits } = unreachable();
    const demo = open({
      venue,
      environment: 'demo',
      origins: { 'https://demo.exchange.test': 'http://127.0.0.1:1' },
    });
    const scope = scopeOf({ account: account('u', 'demo') });
    expect((await failure(post(demo, scope))).phase).toBe('not-sent');
    await post(demo, scope, 'https://demo.exchange.test/orders');
    expect(hits()).toBe(1);
  });

  test('a request for an account of another environment', async () => {
    const { venue, hits } = unreachable();
    const scope = scopeOf({ account: account('u', 'demo') });
    expect((await failure(post(open({ venue }), scope))).phase).toBe('not-sent');
    expect(hits()).toBe(0);
  });

  test('a request after its `notAfter`', async () => {
    const { venue, hits } = unreachable();
    const clock = fakeClock('2026-01-01T00:00:01Z');
    const scope = scopeOf({ notAfter: new Date('2026-01-01T00:00:00Z') });
    expect((await failure(post(open({ venue, clock }), scope))).message).toContain('too late');
    expect(hits()).toBe(0);
  });
});

test('drops undefined headers and sends the body as signed', async () => {
  const seen: { headers: IncomingMessage['headers']; url: string | undefined; body: string }[] = [];
  const target = await serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ headers: request.headers, url: request.url, body });
    response.end('{}');
  });
  const headers = { 'X-CHANNEL-API-CODE': undefined, 'Content-Type': 'application/json' };
  await callScope.run(scopeOf(), () =>
    open({ target }).fetch(`${EXCHANGE}/orders?b=2&a=%23`, {
      method: 'POST',
      headers,
      body: '{"b":1,"a":2}',
    }),
  );
  expect(seen).toMatchObject([{ url: '/orders?b=2&a=%23', body: '{"b":1,"a":2}' }]);
  expect(seen[0]?.headers).not.toHaveProperty('x-channel-api-code');
});

test('keeps connections open and shares them between users', async () => {
  const ports = new Set<number | undefined>();
  const target = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    response.end('{}');
  });
  const transport = open({ target });
  for (let user = 0; user < 30; user += 1) await post(transport, scopeOf({ account: account(`u${user}`) }));
  expect(ports.size).toBeLessThan(5);
});

/** A forward proxy that calls `note` for each request. */
async function startProxy(note: () => void): Promise<string> {
  const server = createServer();
  server.on('connect', (request, socket) => {
    note();
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  return listen(server);
}

test('with one of two proxies down, calls of its users were certainly not placed, and public calls go on', async () => {
  const target = await serve((_, response) => response.end('{}'));
  let tunnels = 0;
  const proxies = [
    'http://127.0.0.1:1',
    await startProxy(() => {
      tunnels += 1;
    }),
  ];
  const transport = open({ target, proxies });
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const call = post(transport, scopeOf({ account: account(`user-${index}`) }));
      return call.then(
        () => 'answered',
        (error: TransportError) => error.phase,
      );
    }),
  );
  expect(new Set(outcomes)).toEqual(new Set(['answered', 'connect']));
  const callOf = (index: number) => post(transport, scopeOf({ account: account(`user-${index}`) }));
  const bound = outcomes.indexOf('connect');
  for (let call = 0; call < 6; call += 1) await post(transport);
  expect((await failure(callOf(bound))).phase).toBe('connect');
  expect(tunnels).toBeGreaterThan(0);
});

test('also records a failed call, without an answer', async () => {
  const calls: CallRecord[] = [];
  await failure(post(open(), scopeOf({ onCall: (call) => calls.push(call) })));
  expect(calls).toMatchObject([
    {
      type: 'test',
      method: 'POST',
      endpoint: '/orders',
      success: false,
      status: null,
      requestData: { size: '1' },
    },
  ]);
});

test('removes secrets that a refusal repeats from the answer, the record and the error', async () => {
  const credentials = {
    apiKey: 'key-of-this-test',
    apiSecret: 'secret+of/this test',
    passphrase: 'phrase "of" this test',
    accountMode: 'classic' as const,
  };
  const body = JSON.stringify({
    code: '40006',
    msg: `no key-of-this-test, ${encodeURIComponent(credentials.apiSecret)}`,
    data: Object.values(credentials),
  });
  const target = await serve((_, response) => response.writeHead(400).end(body));
  const calls: CallRecord[] = [];
  const scope = scopeOf({
    account: { ...account('u'), credentials },
    onCall: (call) => calls.push(call),
  });
  const response = await post(open({ target }), scope);
  const clean = {
    code: '40006',
    msg: 'no [redacted], [redacted]',
    data: ['[redacted]', '[redacted]', '[redacted]', 'classic'],
  };
  expect(JSON.parse(await response.text())).toEqual(clean);
  expect(JSON.parse(scope.answer?.body ?? '')).toEqual(clean);
  expect(calls).toMatchObject([{ responseData: clean }]);
});

test('leaves a successful answer unchanged, even if it contains words of the passphrase', async () => {
  const credentials = {
    apiKey: 'key-of-this-test',
    apiSecret: 'secret',
    passphrase: 'partially_filled',
    accountMode: 'classic' as const,
  };
  const target = await serve((_, response) => response.end('{"state":"partially_filled"}'));
  const calls: CallRecord[] = [];
  const scope = scopeOf({ account: { ...account('u'), credentials }, onCall: (call) => calls.push(call) });
  const response = await post(open({ target }), scope);
  expect(await response.text()).toBe('{"state":"partially_filled"}');
  expect(calls).toMatchObject([{ responseData: { state: '[redacted]' } }]);
});
