import { describe, expect, test } from 'vitest';
import { denyHalted, type TradingHalt, worstHalt } from './trading-halt.ts';

const since = new Date('2026-05-04T10:00:00Z');
const halt = (changes: Partial<TradingHalt> = {}): TradingHalt => ({
  kind: 'unprotected',
  reason: 'The BTC position on Bitget has no stop loss',
  since,
  ...changes,
});

describe('a halt', () => {
  test.each([
    ['unprotected', 'an administrator has to resume it'],
    ['unverified', 'it goes on when the exchange shows the stop'],
  ] as const)('that is %s says how it ends', (kind, ending) => {
    expect(denyHalted(halt({ kind })).reason).toBe(
      `Trading of this user is halted since 2026-05-04T10:00:00.000Z: The BTC position on Bitget has no stop loss; ${ending}`,
    );
  });

  test('of several is the one that somebody has to end, then the oldest', () => {
    const later = new Date(since.getTime() + 1);
    const byItself = halt({ kind: 'unverified' });
    const second = halt({ since: later });
    expect(worstHalt([byItself, second])).toBe(second);
    const first = halt();
    expect(worstHalt([second, byItself, first])).toBe(first);
    expect(worstHalt([])).toBeNull();
  });
});
