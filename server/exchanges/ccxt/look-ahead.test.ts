import { afterEach, beforeEach, expect, test } from 'vitest';
import { fakeClock } from '#test/app/fake-clock.ts';
import { type StrictExchange, startStrictExchange } from '#test/venues/strict-exchange.ts';
import type { CallRecord, Exchange, ExchangeAccount } from '../exchange.ts';
import { createExchangeRegistry, type ExchangeRegistry } from '../registry.ts';

const clock = fakeClock();
let site: StrictExchange;
let registry: ExchangeRegistry;
let exchange: Exchange;

beforeEach(async () => {
  site = await startStrictExchange({ perSecondOfKey: () => 1_000, perTwoSecondsOfAddress: 1_000 });
  registry = createExchangeRegistry({
    exchangeMode: 'live',
    bitgetBaseUrl: site.url,
    bybitBaseUrl: site.url,
    exchangeProxyUrls: [],
    exchangeTimeoutMs: 5_000,
    paper: null,
    now: clock.now,
  });
  exchange = registry.get('Bitget');
});
afterEach(async () => {
  await registry.close();
  await site.close();
});

const account: ExchangeAccount = {
  userId: 'user',
  environment: 'live',
  credentials: { apiKey: 'key', apiSecret: 's', passphrase: 'p', accountMode: 'classic' },
};

const asked = () =>
  site.requests
    .map(({ endpoint }) => endpoint)
    .filter((endpoint) => endpoint === 'account' || endpoint === 'set-leverage');

async function expectOrder(of = account): Promise<void> {
  const before = asked().length;
  exchange.expectOrder(of, 'BTC');
  await expect.poll(() => asked().length).toBe(before + 1);
}

async function prepare(leverage = 10): Promise<CallRecord[]> {
  const calls: CallRecord[] = [];
  await exchange.prepareAccount(account, { token: 'BTC', leverage }, { onCall: (call) => calls.push(call) });
  return calls;
}

test('an account that was looked at when its order was expected is not asked again, and the look is told of', async () => {
  await expectOrder();
  expect(await prepare()).toMatchObject([{ type: 'account', success: true }]);
  expect(asked()).toEqual(['account']);
});

test('what differs is set and read back', async () => {
  await expectOrder();
  const calls = await prepare(5);
  expect(calls.map(({ type }) => type)).toEqual(['account', 'set-leverage', 'account']);
  expect(asked()).toEqual(['account', 'set-leverage', 'account']);
});

test('a look counts once', async () => {
  await expectOrder();
  await prepare();
  site.setLeverage('key', '20');
  await prepare();
  expect(asked()).toEqual(['account', 'account', 'set-leverage', 'account']);
});

test('a look counts for two seconds', async () => {
  await expectOrder();
  clock.advance(2_001);
  await prepare();
  expect(asked()).toEqual(['account', 'account']);
});

test('a look with another key says nothing of the account', async () => {
  await expectOrder({ ...account, credentials: { ...account.credentials, apiKey: 'other' } });
  await prepare();
  expect(asked()).toEqual(['account', 'account']);
});

test('where the look failed, the account is asked', async () => {
  site.answerWith('key', 'account', '40725');
  await expectOrder();
  const calls = await prepare();
  expect(calls.map(({ success }) => success)).toEqual([false, true]);
});
