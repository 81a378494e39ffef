import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

test('a line ends with CRLF, and nothing is an empty field', () => {
  expect(csvLine(['BTC', 97098.872, null, ''])).toBe('BTC,97098.872,,\r\n');
});

test('commas, quotes and line breaks are quoted', () => {
  expect(csvLine(['a,b', 'say "no"', 'two\nlines', '{"a":1}'])).toBe(
    '"a,b","say ""no""","two\nlines","{""a"":1}"\r\n',
  );
});

// Requirements: additions-export-4
test.each(['a;b', 'a\tb', 'a,b', 'say "no"', "it's", 'one\rtwo', 'one\ntwo'])(
  '%j is quoted, so that a spreadsheet with another separator keeps it in one cell',
  (text) => {
    expect(csvLine([text, 1])).toBe(`"${text.replaceAll('"', '""')}",1\r\n`);
  },
);

// Requirements: additions-export-3
test.each([
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(A1)',
  ' =1+1',
  '\t=1+1',
  '\rx',
  '＝1+1',
  '-',
  '+49',
  '-2+3+cmd|" /C calc"!A0',
])('%j is text and not a formula', (text) => {
  expect(csvLine([text])).toBe(`"'${text.replaceAll('"', '""')}"\r\n`);
});

test('a negative number stays a number', () => {
  expect(csvLine(['-12.3', -0.5, '-1e-8', '0.00000001'])).toBe('-12.3,-0.5,-1e-8,0.00000001\r\n');
});

test('text with such a sign inside is left alone', () => {
  expect(csvLine(['ann@example.com', '1-2', 'a=b'])).toBe('ann@example.com,1-2,a=b\r\n');
});
