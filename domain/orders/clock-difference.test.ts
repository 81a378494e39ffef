import { expect, test } from 'vitest';
import { denyClockApart } from './clock-difference.ts';

test.each([null, 0, 29_999, 30_000, -30_000])('a clock that differs by %s ms denies nothing', (aheadMs) => {
  expect(denyClockApart({ exchange: 'Bitget', aheadMs })).toBeNull();
});

test.each([
  [30_001, 'The clock of Bitget is 30.0 s ahead of the clock of this machine, the limit is 30 s'],
  [-90_000, 'The clock of Bitget is 90.0 s behind the clock of this machine, the limit is 30 s'],
])('a clock that differs by %i ms denies entries and says by how much', (aheadMs, reason) => {
  expect(denyClockApart({ exchange: 'Bitget', aheadMs })).toMatchObject({
    code: 'exchange_clock_apart',
    reason,
  });
});
