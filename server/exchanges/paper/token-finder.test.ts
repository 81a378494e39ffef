import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTokenFinder } from './token-finder.ts';

function recorded(everyMs = 0) {
  const asked: string[][] = [];
  const ends: ((error?: Error) => void)[] = [];
  const find = createTokenFinder<string>({
    everyMs,
    find: (tokens) => {
      asked.push(tokens);
      return new Promise((resolve, reject) =>
        ends.push((error) =>
          error ? reject(error) : resolve(new Map(tokens.map((token) => [token, [`owner of ${token}`]]))),
        ),
      );
    },
  });
  return { find, asked, end: (error?: Error) => ends.shift()?.(error) };
}

const turn = () => sleep(5);

test('what is asked for while a query runs shares the next one, each token once', async () => {
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

test('the first is asked at once, the next one after its pause', async () => {
  const { find, asked, end } = recorded(60_000);
  const first = find('BTC');
  await turn();
  end();
  await first;
  void find('ETH');
  await turn();
  expect(asked).toEqual([['BTC']]);
});

test('a query that fails is told to those who asked, and the next one runs', async () => {
  const { find, asked, end } = recorded();
  const first = find('BTC');
  await turn();
  const second = find('BTC');
  end(new Error('no database'));
  await expect(first).rejects.toThrow('no database');
  await turn();
  expect(asked).toHaveLength(2);
  end();
  expect(await second).toEqual(['owner of BTC']);
});
