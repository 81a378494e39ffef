import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { settleOnPrice } from './price-settlement.ts';

/** Work that the test completes or fails explicitly. */
function pendingWork<Result>() {
  const ends: { resolve: (result: Result) => void; reject: (error: Error) => void }[] = [];
  return {
    begin: () => new Promise<Result>((resolve, reject) => ends.push({ resolve, reject })),
    end: (result: Result) => ends.shift()?.resolve(result),
    fail: (error: Error) => ends.shift()?.reject(error),
  };
}

describe('settling on a price', () => {
  function recorded() {
    const settled: string[] = [];
    const failures: unknown[] = [];
    const work = pendingWork<void>();
    const onPrice = settleOnPrice({
      settle: (token) => {
        settled.push(token);
        return work.begin();
      },
      onError: (error) => failures.push(error),
    });
    return { onPrice, settled, failures, end: () => work.end(), fail: work.fail };
  }

  test('prices that arrive during a settlement share one more run', async () => {
    const { onPrice, settled, end } = recorded();
    for (let count = 0; count < 5; count += 1) onPrice('BTC');
    expect(settled).toEqual(['BTC']);
    end();
    await turn();
    expect(settled).toEqual(['BTC', 'BTC']);
    end();
    await turn();
    expect(settled).toEqual(['BTC', 'BTC']);
    onPrice('BTC');
    expect(settled).toEqual(['BTC', 'BTC', 'BTC']);
  });

  test('one token does not wait for another', () => {
    const { onPrice, settled } = recorded();
    onPrice('BTC');
    onPrice('ETH');
    expect(settled).toEqual(['BTC', 'ETH']);
  });

  test('a failed settlement is reported and does not stop the next one', async () => {
    const { onPrice, settled, failures, fail } = recorded();
    onPrice('BTC');
    fail(new Error('no database'));
    await turn();
    expect(failures).toHaveLength(1);
    onPrice('BTC');
    expect(settled).toEqual(['BTC', 'BTC']);
  });
});
