import { setImmediate as tick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { settleOnPrice } from './settle-on-price.ts';

function pending() {
  const settled: string[] = [];
  const failures: unknown[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const onPrice = settleOnPrice({
    settle: (token) => {
      settled.push(token);
      return new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve())));
    },
    onError: (error) => failures.push(error),
  });
  return { onPrice, settled, failures, end: (error?: Error) => ends.shift()?.(error) };
}

test('prices that arrive during a settlement share one more', async () => {
  const { onPrice, settled, end } = pending();
  for (let count = 0; count < 5; count += 1) onPrice('BTC');
  expect(settled).toEqual(['BTC']);
  end();
  await tick();
  expect(settled).toEqual(['BTC', 'BTC']);
  end();
  await tick();
  expect(settled).toEqual(['BTC', 'BTC']);
  onPrice('BTC');
  expect(settled).toEqual(['BTC', 'BTC', 'BTC']);
});

test('one token does not wait for another', () => {
  const { onPrice, settled } = pending();
  onPrice('BTC');
  onPrice('ETH');
  expect(settled).toEqual(['BTC', 'ETH']);
});

test('a settlement that fails is told and does not stop the next one', async () => {
  const { onPrice, settled, failures, end } = pending();
  onPrice('BTC');
  end(new Error('no database'));
  await tick();
  expect(failures).toHaveLength(1);
  onPrice('BTC');
  expect(settled).toEqual(['BTC', 'BTC']);
});
