import { describe, expect, it } from 'vitest';
import { matchesProcessor, sameProcessor } from './processor.ts';

describe('processors', () => {
  // Requirements: trading-workflows-and-eligibility-8
  it.each([
    ['Tesla', 'tesla', true],
    ['Tesla', ' Tesla ', true],
    ['Any', 'Something', true],
    ['UD Bot', 'ANY', true],
    ['UD Bot', 'Tesla', false],
  ])('a setting of %j and a signal of %j match: %s', (setting, signal, matches) => {
    expect(matchesProcessor(setting, signal)).toBe(matches);
  });

  it('does not treat Any as the same processor as another', () => {
    expect(sameProcessor('Any', 'Tesla')).toBe(false);
    expect(sameProcessor('UD BOT', 'ud bot')).toBe(true);
  });
});
