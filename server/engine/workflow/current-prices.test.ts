import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ALWAYS, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { readCurrentPrices } from './current-prices.ts';

// Longer than a test may take: a test that waits for an answer fails.
const engine = sharedTestEngine({ config: { exchangeTimeoutMs: 60_000 }, settles: false });

const signal = { token: 'BTC', fromAdmin: true, ownerUserId: randomUUID() };

/** A workflow of its own, which shares no price with another one. */
const stored = async () => {
  const { workflowId } = await engine.storeSignal({ token: 'BTC', price: '65000' });
  return { workflowId, signal };
};

test('reads prices from the exchanges in use, or from the first exchange when none is', async () => {
  const of = await stored();
  expect(await readCurrentPrices(engine.deps, of)).toEqual([{ exchange: 'Bitget', price: '65000' }]);
  await engine.createUser({ exchangePlatform: 'Bybit' });
  expect(await readCurrentPrices(engine.deps, of)).toEqual([{ exchange: 'Bybit', price: '65000' }]);
  await engine.createUser({ exchangePlatform: 'Bitget' });
  expect(await readCurrentPrices(engine.deps, of)).toEqual([
    { exchange: 'Bitget', price: '65000' },
    { exchange: 'Bybit', price: '65000' },
  ]);
});

test('does not keep users of other exchanges waiting for one that does not answer', async () => {
  await engine.createUser({ exchangePlatform: 'Bybit' });
  await engine.createUser({ exchangePlatform: 'Bitget' });
  const silent = { operation: 'ticker', platform: 'Bybit', times: ALWAYS } as const;
  engine.venue.setFaults([{ kind: 'timeout', on: silent }]);
  expect(await readCurrentPrices(engine.deps, await stored(), 100)).toEqual([
    { exchange: 'Bitget', price: '65000' },
    { exchange: 'Bybit', price: null },
  ]);
});
