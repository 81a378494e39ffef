import { expect, test } from 'vitest';
import { isSameEnd } from './compare-ends.ts';

const trade = (fields: object) =>
  JSON.stringify({ outcome: 'success', fillStatus: 'filled', protectionStatus: 'verified', ...fields });
const end = (trades: string[], fields: object = {}) =>
  JSON.stringify({ trades, holding: { side: 'long', size: '99' }, exits: 'success 198.6', ...fields });
const first = trade({ filledQuantity: '198.6' });
const control = end([first, trade({ filledQuantity: '99' })]);

test('an entry after a close that overtook its entry may have another size', () => {
  const own = end([first, trade({ filledQuantity: '100.8' })], { holding: { side: 'long', size: '100.8' } });
  expect(isSameEnd(own, control, 'overtake')).toBe(true);
  expect(isSameEnd(own, control, 'close')).toBe(false);
});

test('a position may have reached its stop before a later close', () => {
  const closed = end([first], { holding: null });
  expect(isSameEnd(end([first], { holding: null, exits: 'skipped 0' }), closed, 'overtake')).toBe(true);
  expect(isSameEnd(end([first], { holding: null, exits: 'success 99' }), closed, 'overtake')).toBe(false);
  expect(isSameEnd(end([first], { exits: 'skipped 0' }), closed, 'overtake')).toBe(false);
  expect(isSameEnd(end([first], { holding: null, exits: 'skipped 0' }), closed, 'close')).toBe(false);
});

test.each([
  ['the first entry has another size', end([trade({ filledQuantity: '198' }), trade({})])],
  ['a later entry is not filled', end([first, trade({ fillStatus: 'unfilled' })])],
  ['a later entry is not traded', end([first, 'skipped'])],
  ['a later entry is missing', end([first])],
  ['nothing is held', end([first, trade({})], { holding: null })],
  ['the other side is held', end([first, trade({})], { holding: { side: 'short' } })],
  ['less was closed', end([first, trade({})], { exits: 'success 198' })],
])('it is another end when %s', (_, own) => {
  expect(isSameEnd(own, control, 'overtake')).toBe(false);
});
