import { afterEach, beforeEach, expect, test } from 'vitest';
import { fakeClock } from '#test/app/fake-clock.ts';
import { type StrictExchange, startStrictExchange } from '#test/venues/strict-exchange.ts';
import { accountOn, testRegistry } from '#test/venues/test-registry.ts';
import type { CallRecord, Exchange } from '../exchange.ts';
import type { ExchangeRegistry } from '../registry.ts';

const clock = fakeClock();
let site: StrictExchange;
let registry: ExchangeRegistry;
let exchange: Exchange;

beforeEach(async () => {
  site = await startStrictExchange({ perSecondOfKey: () => 1_000, perTwoSecondsOfAddress: 1_000 });
  registry = testRegistry({ exchangeMode: 'live', bitgetBaseUrl: site.url, now: clock.now });
  exchange = registry.get('Bitget');
});
afterEach(async () => {
  await registry.close();
  await site.close();
});

const account = accountOn('Bitget', { environment: 'live' });
const { apiKey } = account.credentials;

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

test('does not request prefetched account state again, and records its request', async () => {
  await expectOrder();
  expect(await prepare()).toMatchObject([{ type: 'account', success: true }]);
  expect(asked()).toEqual(['account']);
});

test('sets only differing settings and reads them back', async () => {
  await expectOrder();
  const calls = await prepare(5);
  expect(calls.map(({ type }) => type)).toEqual(['account', 'set-leverage', 'account']);
  expect(asked()).toEqual(['account', 'set-leverage', 'account']);
});

test('uses prefetched state only once', async () => {
  await expectOrder();
  await prepare();
  site.setLeverage(apiKey, '20');
  await prepare();
  expect(asked()).toEqual(['account', 'account', 'set-leverage', 'account']);
});

test('uses prefetched state for two seconds', async () => {
  await expectOrder();
  clock.advance(2_001);
  await prepare();
  expect(asked()).toEqual(['account', 'account']);
});

test('ignores state that was prefetched with another key', async () => {
  await expectOrder({ ...account, credentials: { ...account.credentials, apiKey: 'other' } });
  await prepare();
  expect(asked()).toEqual(['account', 'account']);
});

test('asks the exchange if prefetching failed', async () => {
  site.answerWith(apiKey, 'account', '40725');
  await expectOrder();
  const calls = await prepare();
  expect(calls.map(({ success }) => success)).toEqual([false, true]);
});
