import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTokenFinder, settleOnPrice } from './price-settlement.ts';

/** Work that the test completes or fails explicitly. */
function pendingWork<Result>() {
  const ends: { resolve: (result: Result) => void; reject: (error: Error) => void }[] = [];
  return {
    begin: () => new Promise<Result>((resolve, reject) => ends.push({ resolve, reject })),
    end: (result: Result) => ends.shift()?.resolve(result),
    fail: (error: Error) => ends.shift()?.reject(error),
  };
}

const turn = () => sleep(5);

describe('finding owners by token', () => {
  function recorded(everyMs = 0) {
    const asked: string[][] = [];
    const work = pendingWork<Map<string, string[]>>();
    const find = createTokenFinder<string>({
      everyMs,
      find: (tokens) => {
        asked.push(tokens);
        return work.begin();
      },
    });
    const owners = new Map(['BTC', 'ETH'].map((token) => [token, [`owner of ${token}`]]));
    return { find, asked, end: () => work.end(owners), fail: work.fail };
  }

  test('requests during a query share the next one, each token once', async () => {
    const { find, asked, end } = recorded();
    const first = find('BTC');
    await turn();
    const later = [find('BTC'), find('ETH'), find('BTC')];
    await turn();
    expect(asked).toEqual([['BTC']]);
    end();
    expect(await first).toEqual(['owner of BTC']);
    await turn();
    expect(asked).toEqual([['BTC'], ['BTC', 'ETH']]);
    end();
    expect(await Promise.all(later)).toEqual([['owner of BTC'], ['owner of ETH'], ['owner of BTC']]);
  });

  test('the first query starts immediately, the next one after its pause', async () => {
    const { find, asked, end } = recorded(60_000);
    const first = find('BTC');
    await turn();
    end();
    await first;
    void find('ETH');
    await turn();
    expect(asked).toEqual([['BTC']]);
  });

  test('a failed query rejects for its callers, and the next one runs', async () => {
    const { find, asked, end, fail } = recorded();
    const first = find('BTC');
    await turn();
    const second = find('BTC');
    fail(new Error('no database'));
    await expect(first).rejects.toThrow('no database');
    await turn();
    expect(asked).toHaveLength(2);
    end();
    expect(await second).toEqual(['owner of BTC']);
  });
});

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
