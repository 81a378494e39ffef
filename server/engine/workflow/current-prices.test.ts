import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';
import { readCurrentPrices } from './current-prices.ts';

let engine: TestEngine;
beforeAll(async () => {
  // Longer than any test may take: whoever waits for an answer does not end in time.
  engine = await startTestEngine({ config: { exchangeTimeoutMs: 60_000 } });
});
afterAll(() => engine?.close());
beforeEach(() => engine.venue.setFaults([]));

const SIGNAL = { token: 'BTC', fromAdmin: true, ownerUserId: randomUUID() };

test('prices are asked of the exchanges that somebody trades on, of the first where nobody does', async () => {
  await engine.storeSignal({ token: 'BTC', price: '65000' });
  expect(await readCurrentPrices(engine.deps, SIGNAL)).toEqual([{ exchange: 'Bitget', price: '65000' }]);
  await engine.createUser({ exchangePlatform: 'Bybit' });
  expect(await readCurrentPrices(engine.deps, SIGNAL)).toEqual([{ exchange: 'Bybit', price: '65000' }]);
  await engine.createUser({ exchangePlatform: 'Bitget' });
  expect(await readCurrentPrices(engine.deps, SIGNAL)).toEqual([
    { exchange: 'Bitget', price: '65000' },
    { exchange: 'Bybit', price: '65000' },
  ]);
});

test('an exchange that does not answer is not waited for by those who trade elsewhere', async () => {
  const silent = { operation: 'ticker', platform: 'Bybit', times: Number.POSITIVE_INFINITY } as const;
  engine.venue.setFaults([{ kind: 'timeout', on: silent }]);
  expect(await readCurrentPrices(engine.deps, SIGNAL, 100)).toEqual([
    { exchange: 'Bitget', price: '65000' },
    { exchange: 'Bybit', price: null },
  ]);
});
