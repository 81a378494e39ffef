import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutText } from './cut-text.ts';

test.each([
  ['short', 10, 'short'],
  ['exactly', 7, 'exactly'],
  ['too long', 3, 'too'],
  ['a🔑b', 1, 'a'],
  ['a🔑b', 2, 'a'],
  ['a🔑b', 3, 'a🔑'],
  ['🔑', 0, ''],
])('%j cut to %d is %j', (text, maximum, cut) => {
  expect(cutText(text, maximum)).toBe(cut);
});

test('keeps well-formed text well-formed wherever it is cut', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, maximum) => {
      const cut = cutText(text, maximum);
      expect(cut.isWellFormed()).toBe(true);
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, maximum) - 1);
    }),
  );
});
