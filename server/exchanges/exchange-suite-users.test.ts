import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { firstCases, oneOfEachKind } from '#test/app/in-turn.ts';
import { documentedAnswer, parametersIn } from '#test/venues/exchange-suite-answers.ts';
import { signatureProblem } from '#test/venues/exchange-suite-signatures.ts';
import { accountModeOf, platformOf, type SuiteDialect } from '#test/venues/exchange-suite-words.ts';
import { jsonAnswer, type VenueRequest } from '#test/venues/http.ts';
import { buy, inTime, testRegistry } from '#test/venues/test-registry.ts';
import { BITGET } from './ccxt/bitget.ts';
import { BYBIT } from './ccxt/bybit.ts';
import { callScope } from './ccxt/call-scope.ts';
import { openScope } from './ccxt/connection.ts';
import type { CcxtDialect } from './ccxt/dialect.ts';
import { createTransport } from './ccxt/transport.ts';
import { TransportError } from './ccxt/transport-error.ts';
import {
  type EntryOrder,
  type ExchangeAccount,
  type ExchangeEnvironment,
  ExchangeError,
} from './exchange.ts';
import type { ExchangeRegistryOptions } from './registry.ts';

const USERS = inject('everyCase') ? 1_000 : 250;
/** The clients of Bitget's two kinds of account share what tells users apart. */
const DIALECTS = oneOfEachKind(
  ['Bitget', 'Bitget unified', 'Bybit'] as const,
  (dialect) => dialect !== 'Bitget unified',
);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function open(options: Partial<ExchangeRegistryOptions> & { exchangeMode: ExchangeEnvironment }) {
  const registry = testRegistry({ exchangeTimeoutMs: 30_000, ...options });
  closing.push(() => registry.close());
  return registry;
}

const accountOf = (
  dialect: SuiteDialect,
  environment: ExchangeEnvironment,
  user: number,
): ExchangeAccount => ({
  userId: `user-${user}`,
  environment,
  credentials: {
    apiKey: `key-${environment}-${user}`,
    apiSecret: `secret-${environment}-${user}`,
    ...(dialect === 'Bybit' ? {} : { passphrase: `phrase-${user}` }),
    accountMode: accountModeOf(dialect),
  },
});

const keyIn = ({ headers }: Pick<VenueRequest, 'headers'>) =>
  headers['access-key'] ?? headers['x-bapi-api-key'] ?? null;

const entryOf = (user: number): EntryOrder =>
  buy({
    side: user % 2 === 0 ? 'buy' : 'sell',
    clientOrderId: `order-of-${user}`,
    price: `${60_000 + user}`,
    stopLoss: user % 2 === 0 ? '59000' : '99000',
    takeProfit: user % 2 === 0 ? '99000' : '59000',
  });

describe.each(DIALECTS)('many concurrent users on one client of %s', (dialect) => {
  test('signs every request with its user’s key and matches every answer to its order', async () => {
    const problems: string[] = [];
    const requestsOf = new Map<string, number>();
    let privateRequests = 0;
    const registry = open({
      exchangeMode: 'paper',
      venue: {
        async handle(request) {
          // Answers arrive in a different order than the requests.
          for (let turns = Math.floor(Math.random() * 4); turns > 0; turns -= 1) await nextTurn();
          const key = keyIn(request);
          if (key !== null) {
            privateRequests += 1;
            requestsOf.set(key, (requestsOf.get(key) ?? 0) + 1);
            const user = key.replace('key-paper-', '');
            const problem = signatureProblem(dialect, request, `secret-paper-${user}`);
            if (problem !== null) problems.push(problem);
            const phrase = request.headers['access-passphrase'];
            if (dialect !== 'Bybit' && phrase !== `phrase-${user}`) problems.push(`${key} with ${phrase}`);
            const { clientOid, orderLinkId } = parametersIn(request);
            if ((clientOid ?? orderLinkId) !== `order-of-${user}`)
              problems.push(`${key} names another order`);
          }
          return jsonAnswer(200, documentedAnswer(dialect, request));
        },
      },
    });
    const exchange = registry.get(platformOf(dialect));
    await exchange.fetchContract('BTC');
    const done = await Promise.all(
      Array.from({ length: USERS }, async (_, user) => {
        const account = accountOf(dialect, 'paper', user);
        const order = entryOf(user);
        const placed = await exchange.placeOrder(account, order, inTime());
        const found = await exchange.findOrder(account, order);
        return { placed: placed.outcome, found: found?.clientOrderId, asked: order.clientOrderId };
      }),
    );
    expect(problems).toEqual([]);
    expect(done.filter(({ placed, found, asked }) => placed !== 'placed' || found !== asked)).toEqual([]);
    expect(privateRequests).toBe(2 * USERS);
    expect(new Set(requestsOf.values())).toEqual(new Set([2]));
  }, 30_000);
});

/** An exchange's site for one environment, which records the keys that reach it. */
async function openSite(dialect: SuiteDialect) {
  const keys: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const headers = Object.fromEntries(Object.entries(request.headers).map(([k, v]) => [k, String(v)]));
    const key = keyIn({ headers });
    if (key !== null) keys.push(`${headers.paptrading === '1' ? 'demo header, ' : ''}${key}`);
    const body = Buffer.concat(chunks).toString();
    const asked = { method: request.method ?? '', path, query, headers, body };
    response.end(JSON.stringify(documentedAnswer(dialect, asked)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { keys, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe.each(firstCases(DIALECTS))('demo and live of %s', (dialect) => {
  test('never mix: each of many mixed orders reaches the site of its own account or none', async () => {
    const sites = { demo: await openSite(dialect), live: await openSite(dialect) };
    const exchanges = (['demo', 'live'] as const).map((exchangeMode) => {
      const { url } = sites[exchangeMode];
      return open({ exchangeMode, bitgetBaseUrl: url, bybitBaseUrl: url }).get(platformOf(dialect));
    });
    for (const exchange of exchanges) await exchange.fetchContract('BTC');
    const outcomes = await Promise.all(
      Array.from({ length: 1_000 }, async (_, user) => {
        const accountIs = user % 2 === 0 ? 'demo' : 'live';
        const over = user % 4 < 2 ? 'demo' : 'live';
        const exchange = exchanges[over === 'demo' ? 0 : 1];
        const account = accountOf(dialect, accountIs, user);
        const placement = await exchange?.placeOrder(account, entryOf(user), inTime());
        return { isOwn: accountIs === over, placement };
      }),
    );
    for (const { isOwn, placement } of outcomes) {
      expect(placement).toMatchObject(
        isOwn ? { outcome: 'placed' } : { outcome: 'refused', code: 'not-sent' },
      );
    }
    const prefix = dialect === 'Bybit' ? '' : 'demo header, ';
    expect(sites.demo.keys).toHaveLength(250);
    expect(sites.demo.keys.filter((key) => !key.startsWith(`${prefix}key-demo-`))).toEqual([]);
    expect(sites.live.keys).toHaveLength(250);
    expect(sites.live.keys.filter((key) => !key.startsWith('key-live-'))).toEqual([]);
  }, 30_000);
});

describe('the origins of an exchange', () => {
  const originNamedBy = async (dialect: CcxtDialect, environment: ExchangeEnvironment) => {
    const named: string[] = [];
    const client = await dialect.createClient({
      environment,
      userAgent: 'test',
      now: () => new Date(),
      transport: {
        async fetch(url: string) {
          named.push(new URL(url).origin);
          throw new TransportError('not-sent', 'seen');
        },
        turn: async () => {},
        close: async () => {},
      },
    });
    const account = accountOf(dialect.platform, environment, 1);
    await callScope
      .run(openScope({ type: 'balance', account }), () => dialect.fetchBalance(client))
      .catch((error: unknown) => error);
    await callScope
      .run(openScope({ type: 'contracts' }), () => client.loadMarkets())
      .catch((error: unknown) => error);
    return new Set(named);
  };

  test.each([
    [BYBIT, 'live', 'https://api.bybit.com'],
    [BYBIT, 'demo', 'https://api-demo.bybit.com'],
    [BITGET, 'live', 'https://api.bitget.com'],
    [BITGET, 'demo', 'https://api.bitget.com'],
  ] as const)('$platform in %s mode uses only %s', async (dialect, environment, origin) => {
    expect(await originNamedBy(dialect, environment)).toEqual(new Set([origin]));
    expect(dialect.origins[environment]).toBe(origin);
  });

  test.each([
    ['demo', 'https://api.bybit.com'],
    ['live', 'https://api-demo.bybit.com'],
  ] as const)(
    'in %s mode a client that uses the origin of the other mode cannot send',
    async (environment, other) => {
      const site = await openSite('Bybit');
      const transport = createTransport({
        environment,
        origins: { [BYBIT.origins[environment]]: site.url },
        timeoutMs: 1_000,
        clock: systemClock,
        isSuccess: () => true,
      });
      closing.push(() => transport.close());
      const scope = openScope({ type: 'place-order', account: accountOf('Bybit', environment, 1) });
      const sent = callScope.run(scope, () =>
        transport.fetch(`${other}/v5/order/create`, { method: 'POST' }),
      );
      await expect(sent).rejects.toMatchObject({ phase: 'not-sent' });
      expect(site.keys).toEqual([]);
    },
  );

  test.each([
    ['demo', 'https://api.bybit.com'],
    ['demo', 'https://api.bytick.com'],
    ['live', 'https://api-demo.bybit.com'],
    ['paper', 'https://api.bybit.com'],
  ] as const)('in %s mode the address %s is rejected for Bybit', (exchangeMode, bybitBaseUrl) => {
    const venue = { handle: async () => jsonAnswer(200, {}) };
    expect(() => open({ exchangeMode, bybitBaseUrl, venue })).toThrow(/^Bybit cannot be reached at/);
  });

  test.each([
    ['live', 'https://api.bybit.nl'],
    ['demo', 'https://api-demo.bybit.com'],
    ['demo', 'http://127.0.0.1:4010'],
  ] as const)('in %s mode the address %s is accepted for Bybit', (exchangeMode, bybitBaseUrl) => {
    expect(open({ exchangeMode, bybitBaseUrl }).get('Bybit').apiEndpoint).toBe(bybitBaseUrl);
  });
});

describe.each(['Bitget', 'Bitget unified'] as const)('an account of one kind: %s', (dialect) => {
  test('reaches the API of its kind only', async () => {
    const paths: string[] = [];
    const venue = {
      async handle(request: VenueRequest) {
        if (keyIn(request) !== null) paths.push(request.path);
        return jsonAnswer(200, documentedAnswer(dialect, request));
      },
    };
    const exchange = open({ exchangeMode: 'paper', venue }).get('Bitget');
    const account = accountOf(dialect, 'paper', 1);
    const position = { token: 'BTC', side: 'long' as const, quantity: '0.012', clientOrderId: 'c' };
    const stop = { ...position, stopLoss: '62000', takeProfit: null };
    for (const call of [
      () => exchange.fetchBalance(account),
      () => exchange.readTradeAccount(account, { token: 'BTC', leverage: 5 }),
      () => exchange.prepareAccount(account, { token: 'BTC', leverage: 5 }),
      () => exchange.placeOrder(account, entryOf(1), inTime()),
      () => exchange.findOrder(account, entryOf(1)),
      () => exchange.cancelOrder(account, entryOf(1)),
      () => exchange.fetchOpenOrders(account, 'BTC'),
      () => exchange.fetchPosition(account, 'BTC'),
      () => exchange.fetchHolding(account, 'BTC'),
      ...(dialect === 'Bitget' ? [] : [() => exchange.fetchFill(account, entryOf(1))]),
      () => exchange.fetchProtection(account, 'BTC'),
      () => exchange.placeProtection(account, stop, inTime()),
      () => exchange.moveProtection(account, stop, inTime()),
      () => exchange.fetchHoldings(account),
      () => exchange.fetchClosedPositions(account, { since: new Date(1_795_272_000_000) }),
      () => exchange.fetchLedger(account, { from: new Date(1_795_272_000_000), to: new Date() }),
      () => exchange.cancelProtection(account, 'BTC'),
      () => exchange.closePosition(account, position, inTime()),
    ]) {
      const before = paths.length;
      await call().catch((error: unknown) => expect(error).toBeInstanceOf(ExchangeError));
      expect(paths.length, call.toString()).toBeGreaterThan(before);
    }
    const own = dialect === 'Bitget' ? '/api/v2/' : '/api/v3/';
    expect(paths.filter((path) => !path.startsWith(own))).toEqual([]);
  });
});

describe('an account of the unsupported kind on Bybit', () => {
  test('is refused before anything is sent', async () => {
    let requests = 0;
    const venue = {
      async handle(request: VenueRequest) {
        requests += keyIn(request) === null ? 0 : 1;
        return jsonAnswer(200, documentedAnswer('Bybit', request));
      },
    };
    const exchange = open({ exchangeMode: 'paper', venue }).get('Bybit');
    const other = accountOf('Bybit', 'paper', 1);
    other.credentials.accountMode = 'classic';
    expect(await exchange.placeOrder(other, entryOf(1), inTime())).toMatchObject({ outcome: 'refused' });
    for (const call of [
      exchange.fetchBalance(other),
      exchange.fetchHoldings(other),
      exchange.findOrder(other, entryOf(1)),
      exchange.prepareAccount(other, { token: 'BTC', leverage: 5 }),
      exchange.fetchClosedPositions(other, { since: new Date() }),
    ]) {
      const error = await call.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ExchangeError);
      expect(error).toMatchObject({ kind: 'credentials', code: 'not-sent' });
    }
    expect(requests).toBe(0);
  });
});
