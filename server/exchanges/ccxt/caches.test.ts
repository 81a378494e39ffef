import { describe, expect, test } from 'vitest';
import { fakeClock } from '#test/app/fake-clock.ts';
import { createGate } from '../paper/gate.ts';
import { createTickerCache } from '../ticker-cache.ts';
import type { CcxtClient } from './dialect.ts';
import { createMarketCache } from './market-cache.ts';

describe('the ticker cache', () => {
  test('keeps a price for a second', async () => {
    const clock = fakeClock();
    let calls = 0;
    const cache = createTickerCache<number>({ now: clock.now, maxAgeMs: 1_000 });
    const get = () => cache.get('BTC', async () => ++calls);
    expect([await get(), await get()]).toEqual([1, 1]);
    clock.advance(1_000);
    expect(await get()).toBe(2);
  });

  test('gives no price from before a step back of the clock', async () => {
    const clock = fakeClock();
    let calls = 0;
    const cache = createTickerCache<number>({ now: clock.now, maxAgeMs: 1_000 });
    const get = () => cache.get('BTC', async () => ++calls);
    expect(await get()).toBe(1);
    clock.advance(-600_000);
    expect(await get()).toBe(2);
  });

  test('asks again for a price that has become too old meanwhile', async () => {
    const clock = fakeClock();
    let calls = 0;
    const cache = createTickerCache<number>({ now: clock.now, maxAgeMs: 1_000 });
    const get = (oldest: number) =>
      cache.get(
        'BTC',
        async () => ++calls,
        (value) => value >= oldest,
      );
    expect([await get(1), await get(1), await get(2)]).toEqual([1, 1, 2]);
  });

  test('does not keep a failure', async () => {
    const cache = createTickerCache<number>({ now: fakeClock().now, maxAgeMs: 1_000 });
    const failing = () => Promise.reject(new Error('down'));
    await expect(cache.get('BTC', failing)).rejects.toThrow('down');
    expect(await cache.get('BTC', async () => 7)).toBe(7);
  });
});

describe('the market cache', () => {
  function open() {
    const clock = fakeClock();
    const state = { loads: 0, fails: false, tokens: ['BTC'] };
    const load = async () => {
      state.loads += 1;
      if (state.fails) throw new Error('down');
      const markets = Object.fromEntries(
        state.tokens.map((token) => [`${token}/USDT:USDT`, { symbol: `${token}/USDT:USDT` }]),
      );
      return { markets } as unknown as CcxtClient;
    };
    return { clock, state, load, cache: createMarketCache({ now: clock.now, missingRefreshMs: 60_000 }) };
  }

  test('reads the list once for all callers', async () => {
    const { cache, state, load } = open();
    await Promise.all([cache.marketOf('BTC', load), cache.marketOf('BTC', load), cache.ready(load)]);
    expect(state.loads).toBe(1);
  });

  test('reloads after an hour, and keeps the old list if that fails', async () => {
    const { cache, clock, state, load } = open();
    await cache.ready(load);
    clock.advance(3_600_001);
    state.fails = true;
    expect(await cache.marketOf('BTC', load)).not.toBeNull();
    expect(state.loads).toBe(2);
  });

  test('retries a missing token at most once a minute', async () => {
    const { cache, clock, state, load } = open();
    expect(await cache.marketOf('DOGE', load)).toBeNull();
    expect(await cache.marketOf('DOGE', load)).toBeNull();
    expect(state.loads).toBe(1);
    clock.advance(60_000);
    state.tokens.push('DOGE');
    expect(await cache.marketOf('DOGE', load)).not.toBeNull();
    expect(state.loads).toBe(2);
  });
});

test('a gate limits concurrency to its width and lets everyone through eventually', async () => {
  const gate = createGate(3);
  let inside = 0;
  let most = 0;
  const order: number[] = [];
  await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      gate(async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        order.push(index);
        if (index % 5 === 0) throw new Error('one of them fails');
      }),
    ),
  );
  expect(most).toBe(3);
  expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
});
