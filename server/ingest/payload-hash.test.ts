import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { payloadHash } from './arrival.ts';

const hashOf = (payload: Record<string, unknown>, hookId = 'hook', kind: 'signal' | 'candle' = 'signal') =>
  payloadHash({ hookId, kind, payload });

// Requirements: webhook-deliveries-23
test('is SHA-256 over hook, kind and the payload with sorted keys', () => {
  const text = '["hook","candle",{"a":[1,{"x":null,"y":"2"}],"b":true}]';
  const expected = createHash('sha256').update(text).digest('hex');
  expect(hashOf({ b: true, a: [1, { y: '2', x: null }] }, 'hook', 'candle')).toBe(expected);
});

test('ignores the order of keys but not the order of a list', () => {
  expect(hashOf({ a: 1, b: { c: 2, d: 3 } })).toBe(hashOf({ b: { d: 3, c: 2 }, a: 1 }));
  expect(hashOf({ a: [1, 2] })).not.toBe(hashOf({ a: [2, 1] }));
});

test('differs for another hook, another kind and any other value', () => {
  const hashes = [
    hashOf({ price: '1' }),
    hashOf({ price: '1' }, 'other'),
    hashOf({ price: '1' }, 'hook', 'candle'),
    hashOf({ price: 1 }),
    hashOf({ price: '1.0' }),
    hashOf({ Price: '1' }),
    hashOf({ price: '1', extra: null }),
    hashOf({}),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});

test('depends on the content of any JSON, not on the order of its keys', () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, inner]) => [key, reversed(inner)]),
    );
  };
  const json = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(json, json, (one, other) => {
      expect(hashOf(reversed(one) as Record<string, unknown>)).toBe(hashOf(one));
      const same = hashOf(one) === hashOf(other);
      // JSON knows no minus zero.
      if (same) expect(JSON.parse(JSON.stringify(one))).toEqual(JSON.parse(JSON.stringify(other)));
    }),
  );
});
