import { expect, test } from 'vitest';
import { parseStrictJson } from './strict-json.ts';

const parse = (text: string) => parseStrictJson(Buffer.from(text));
const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

test('parses ordinary JSON, with or without a byte order mark', () => {
  const text = '{"a":[1,"\\u00e9",null,{"b":true}]}';
  expect(parse(text)).toEqual({ ok: true, value: { a: [1, 'é', null, { b: true }] }, text });
  expect(parse('\uFEFF{"a":1}')).toEqual({ ok: true, value: { a: 1 }, text: '{"a":1}' });
  expect(parse('"\\ud83d\\udd11"')).toMatchObject({ ok: true, value: '🔑' });
  expect(parse('{"a":{"b":"\\":"},"b":[{"a":1},{"a":1}]}').ok).toBe(true);
});

test('accepts twenty levels but not twenty-one, and ignores brackets in texts', () => {
  expect(parse(nested(20)).ok).toBe(true);
  expect(parse(nested(21))).toEqual({ ok: false, reason: 'The body is nested deeper than 20 levels' });
  expect(parse(nested(100_000)).ok).toBe(false);
  expect(parse(JSON.stringify({ text: `"\\${'[{'.repeat(50)}` })).ok).toBe(true);
});

test('accepts a thousand values but not one more, and ignores commas in texts', () => {
  const reason = 'The body has more than 1000 values';
  const list = (values: number) => JSON.stringify(Array.from({ length: values }, () => 1));
  expect(parse(list(1000)).ok).toBe(true);
  expect(parse(list(1001))).toEqual({ ok: false, reason });
  const fields = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`f${at}`, 1]));
  expect(parse(JSON.stringify(fields))).toEqual({ ok: false, reason });
  expect(parse(`[${'[[]],'.repeat(500)}1]`)).toEqual({ ok: false, reason });
  expect(parse(JSON.stringify({ text: ','.repeat(5000) })).ok).toBe(true);
});

test.each([
  [
    'The body is not valid JSON',
    ['', '{', '{"a":1}}', "{'a':1}", 'undefined', '{"a":1} trailing', '[1,]', '\u0000'],
  ],
  [
    'The body contains a forbidden key',
    ['{"__proto__":{"a":1}}', '{"a":[{"__pr\\u006fto__":1}]}', '{"constructor":{"prototype":{}}}'],
  ],
  [
    'The body contains characters that cannot be stored',
    ['"a\\u0000b"', '{"\\u0000":1}', '["\\ud800"]', '{"a":{"b":"\\udc00\\ud800"}}'],
  ],
  [
    'a is given twice',
    [
      '{"a":1,"a":1}',
      '{"a":{"b":1},"a":2}',
      '[{"b":1},{"a":[],"\\u0061":null}]',
      '{"b":{"a":{"c":1},"a":1}}',
    ],
  ],
  ['The body is not valid UTF-8', [Buffer.from([0x22, 0xff, 0x22])]],
])('refuses with: %s', (reason, bodies) => {
  for (const body of bodies)
    expect(parseStrictJson(Buffer.from(body)), String(body)).toMatchObject({ ok: false, reason });
  expect(({} as Record<string, unknown>).a).toBeUndefined();
});
