import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findJsonFault } from './json-fault.ts';

test.each([
  ['', 1, 1, 'it ends too early'],
  ['{"a":1', 1, 7, 'it ends too early'],
  ['{"price":,"a":1}', 1, 10, 'unexpected ","'],
  ['{"a":1}}', 1, 8, 'unexpected "}"'],
  ['{\n  "a": 1,\n}', 3, 1, 'unexpected "}"'],
  ['{\r\n "a": 1\r\n "b": 2}', 3, 2, 'unexpected quotation mark'],
  ['{"a":"one\ntwo"}', 1, 10, 'unexpected line break'],
  ['{"a":"one\n","b":2}', 1, 10, 'unexpected line break'],
  ['{"a":"say "no" now"}', 1, 12, 'unexpected "n"'],
  ['{"a":"\\x"}', 1, 7, 'unexpected "\\\\"'],
  ['{"a":NaN}', 1, 6, 'unexpected "N"'],
  ['{"a":01}', 1, 7, 'unexpected "1"'],
  ['{"a":1.}', 1, 7, 'unexpected "."'],
  ['BTC crossing 65000', 1, 1, 'unexpected "B"'],
  ['[😀]', 1, 2, 'unexpected "😀"'],
])('%j goes wrong at line %i, column %i', (text, line, column, problem) => {
  expect(findJsonFault(text)).toEqual({ line, column, problem });
});

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const FRAGMENTS = ['{', '}', '[', ']', ',', ':', '"', '\\', 'u00e9', '1', '-', '.', 'e', 'true', 'null', ' '];

test('there is a fault exactly where the parser refuses', () => {
  const fragments = fc.array(fc.constantFrom(...FRAGMENTS, '\n', '"a":'), { maxLength: 12 });
  const broken = fc
    .tuple(fc.json({ maxDepth: 4 }), fc.nat(200), fc.constantFrom('', ...FRAGMENTS))
    .map(
      ([text, at, put]) =>
        text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1),
    );
  const texts = fc.oneof(
    fc.json(),
    fragments.map((parts) => parts.join('')),
    broken,
  );
  fc.assert(
    fc.property(texts, (text) => (findJsonFault(text) === null) === isJson(text)),
    { numRuns: 2000 },
  );
});
