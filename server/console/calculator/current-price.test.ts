import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { CurrentPriceAnswer } from '#contract/position-generator.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorldByHand } from '#test/world/by-hand.ts';
import { startWorld } from '#test/world.ts';
import { createCurrentPrices } from './current-price.ts';

const trading = await startWorldByHand({ engine: false });
afterEach(async () => {
  trading.site.setFaults([]);
  await trading.clearPriceLimit();
});
afterAll(() => trading.close());

const ask = (symbol: string, query = '') =>
  trading.admin.get(`/api/current-price/${symbol}?marketType=Futures&timestamp=${Date.now()}${query}`);

async function answerOf(symbol: string, query?: string): Promise<CurrentPriceAnswer> {
  const answer = await ask(symbol, query);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<CurrentPriceAnswer>();
}

// Requirements: trading-fields-16, trading-calls-20
test('returns the current price with its source, without browser caching', async () => {
  const token = trading.nextToken();
  await trading.site.push(token, '123.45');
  const answer = await ask(`${token}USDT`);
  expect(answer.json()).toEqual({
    success: true,
    data: { currentPrice: '123.45', source: 'Bitget (demo)' },
    fallbackRequired: false,
  });
  expect(answer.headers['cache-control']).toBe('no-store');
});

// Requirements: trading-calls-21
test.each([
  'BTC',
  'btcUSDT',
  'USDT',
  'BTC%2FUSDT',
  'BTC%3Fx%3D1USDT',
  '..%2F..%2FUSDT',
  `${'A'.repeat(21)}USDT`,
])('answers 400 to the symbol %s and asks no exchange', async (symbol) => {
  const answer = await ask(symbol);
  expect(answer.statusCode).toBe(400);
  expect(answer.json().message).toBe('The symbol must be a token of 1 to 20 of A-Z and 0-9, and USDT');
  const rows = await trading.query(`select 1 from rate_limits where key like 'current-price%'`);
  expect(rows).toEqual([]);
});

// Requirements: trading-fields-16
test('requests the fallback when there is no price and says why', async () => {
  expect(await answerOf('NOSUCHTOKENUSDT')).toEqual({
    success: false,
    data: null,
    fallbackRequired: true,
    message: 'NOSUCHTOKEN is not listed on Bitget',
  });
  trading.site.setFaults([{ kind: 'badGatewayBefore', on: { path: 'ticker' } }]);
  const failed = await answerOf(`${trading.nextToken()}USDT`);
  expect(failed).toMatchObject({ success: false, data: null, fallbackRequired: true });
  expect(failed.message).toMatch(/^Bitget could not be asked: /);
  const spot = await trading.admin.get('/api/current-price/BTCUSDT?marketType=Spot');
  expect(spot.json()).toMatchObject({ fallbackRequired: true, data: null });
});

// Requirements: trading-constants-22
test('requests the fallback when the newest price of the exchange is an hour old', async () => {
  trading.site.setFaults([{ kind: 'oldPrices', ageMs: 3_600_000 }]);
  const token = trading.nextToken();
  const old = await answerOf(`${token}USDT`);
  expect(old).toMatchObject({ success: false, data: null, fallbackRequired: true });
  expect(old.message).toMatch(new RegExp(`the price of ${token} is from .*, which is not the present`));
});

test('requests the fallback at the exchange’s own rate limit and names it', async () => {
  trading.site.setFaults([
    { kind: 'tooManyRequests', on: { path: 'ticker', times: Number.POSITIVE_INFINITY } },
  ]);
  const limited = await answerOf(`${trading.nextToken()}USDT`);
  expect(limited).toMatchObject({ success: false, data: null, fallbackRequired: true });
  expect(limited.message).toMatch(/^Bitget is at its rate limit: /);
});

test('asks the exchange of the requested user', async () => {
  const { userId } = await trading.createTrader({ exchangePlatform: 'Bybit' });
  expect((await answerOf('BTCUSDT', `&userId=${userId}`)).data?.source).toBe('Bybit (demo)');
  const unknown = await ask('BTCUSDT', `&userId=${randomUUID()}`);
  expect([unknown.statusCode, unknown.json().message]).toEqual([404, 'User settings not found']);
  expect((await ask('BTCUSDT', '&userId=me')).statusCode).toBe(400);
});

test('uses a user’s own signal as a paper price only for that user', async () => {
  const paper = await startWorld();
  try {
    const { client, user } = await paper.createUser();
    const sender = await createSender({ app: paper.app, client });
    await sender.signal({ symbol: 'SOLUSDT', price: '150' });
    const own = await paper.admin.get(`/api/current-price/SOLUSDT?userId=${user.id}`);
    expect(own.json().data).toEqual({ currentPrice: '150', source: 'Bitget (paper)' });
    const everyones = await paper.admin.get('/api/current-price/SOLUSDT');
    expect(everyones.json()).toMatchObject({
      fallbackRequired: true,
      data: null,
      message: expect.stringContaining('Bitget has no price of SOL yet'),
    });
  } finally {
    await paper.close();
  }
});

// Requirements: trading-constants-9
testEveryCase('requests the fallback beyond two requests a second across instances', async () => {
  const second = await trading.startInstance({ engine: false });
  await trading.usePriceLimit(0);
  const tokens = [trading.nextToken(), trading.nextToken(), trading.nextToken(), trading.nextToken()];
  const answers = await Promise.all(
    tokens.map((token, index) =>
      (index % 2 === 0 ? trading.admin : second.admin).get(`/api/current-price/${token}USDT`),
    ),
  );
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  const bodies = answers.map((answer) => answer.json<CurrentPriceAnswer>());
  const limited = bodies.filter(({ fallbackRequired }) => fallbackRequired);
  expect(limited).toHaveLength(2);
  for (const body of limited) {
    expect(body).toEqual({
      success: false,
      data: null,
      fallbackRequired: true,
      message: 'The price service is at its limit (Maximum 2 requests per second)',
    });
  }
});

// Requirements: trading-constants-9
test('the limit lasts one second', async () => {
  await answerOf(`${trading.nextToken()}USDT`);
  const rows = await trading.query(`select expire from rate_limits where key = 'current-price:all'`);
  expect(Number(rows[0]?.expire) - Date.now()).toBeLessThanOrEqual(1_000);
});

test('makes at most two requests, without queueing, for 1,000 concurrent callers in three instances', async () => {
  await trading.clearPriceLimit();
  const token = trading.nextToken();
  const { deps } = trading;
  const exchange = deps.exchanges.get('Bitget');
  await exchange.fetchContract(token);
  let requests = 0;
  const counted = {
    ...exchange,
    fetchTicker: (...call: Parameters<typeof exchange.fetchTicker>) => {
      requests += 1;
      return exchange.fetchTicker(...call);
    },
  };
  const instances = Array.from({ length: 3 }, () => createCurrentPrices(deps));
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, caller) =>
      (instances[caller % 3] as (typeof instances)[0]).read({
        exchange: counted,
        token,
        viewerUserId: `user-${caller}`,
      }),
    ),
  );
  expect(requests).toBeGreaterThan(0);
  expect(requests).toBeLessThanOrEqual(2);
  const limited = answers.filter((answer) => !answer.ok && answer.isLimited);
  expect(answers.filter(({ ok }) => ok).length + limited.length).toBe(1_000);
});
