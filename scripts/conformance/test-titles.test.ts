import { expect, test } from 'vitest';
import { readTestTitles } from './test-titles.ts';

const SOURCE = `
import { describe, expect, test } from 'vitest';

test.beforeEach(() => {});

test('plain', () => {
  expect(test).toBeDefined();
});

describe('outer', () => {
  test("the server's", async () => {});

  test.each([
    ['a', /b\\)/],
    ['c', /d/],
  ] as const)('of a table: %s', () => {});

  test.each(['x', 'y'])(
    'of a short table',
    () => {},
  );

  test.each<[name: string, find: () => string]>([['a', () => 'b']])('of a typed table: %s', () => {});

  describe('inner', () => {
    test('deep', () => {});
  });
});

for (const name of ['one', 'two']) {
  test(\`called \${name}\`, () => {});
}

test.describe('of the browser', () => {
  test('wide', async () => {});
});

// test('in a comment', () => {});
`;

test('titles are read as they are written, with what they stand in', () => {
  expect(readTestTitles(SOURCE)).toEqual([
    'plain',
    "outer › the server's",
    'outer › of a table: %s',
    'outer › of a short table',
    'outer › of a typed table: %s',
    'outer › inner › deep',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the source
    'called ${name}',
    'of the browser › wide',
  ]);
});
