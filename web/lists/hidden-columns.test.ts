import { expect, test } from 'vitest';
import { isHidden, readHiddenColumns, writeHiddenColumns } from './hidden-columns.ts';

function storageWith(content: Record<string, string> = {}) {
  const items = new Map(Object.entries(content));
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
  return () => storage;
}

// Requirements: additions-finding-keys-and-columns-5
test('remembers the columns of each table', () => {
  const storage = storageWith();
  writeHiddenColumns(storage, 'signals', ['price', 'users']);
  expect(readHiddenColumns(storage, 'signals')).toEqual(['price', 'users']);
  expect(readHiddenColumns(storage, 'price-logs')).toEqual([]);
});

test.each(['', 'price', '{"price":true}', 'null', '[1,2]', '["price",null]'])(
  'ignores the stored text %j',
  (text) => {
    expect(readHiddenColumns(storageWith({ 'hidden-columns:signals': text }), 'signals')).toEqual([]);
  },
);

test('hides nothing when the browser forbids storage', () => {
  const forbidden = () => {
    throw new DOMException('denied', 'SecurityError');
  };
  expect(readHiddenColumns(forbidden, 'signals')).toEqual([]);
  expect(() => writeHiddenColumns(forbidden, 'signals', ['price'])).not.toThrow();
});

test('never hides the first column, even if it is stored as hidden', () => {
  expect(isHidden(['id', 'price'], 'id', 0)).toBe(false);
  expect(isHidden(['id', 'price'], 'price', 3)).toBe(true);
  expect(isHidden(['id', 'price'], 'token', 1)).toBe(false);
});
