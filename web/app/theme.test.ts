import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { themeVariablesCss } from './theme-variables.ts';

const file = new URL('./theme-variables.css', import.meta.url);
const heading = '/* Written by theme.test.ts (UPDATE=1); the test fails when it and theme.ts differ. */\n';

test('theme-variables.css has exactly the variables of the theme', () => {
  const expected = heading + themeVariablesCss();
  if (process.env.UPDATE === '1') writeFileSync(file, expected);
  expect(readFileSync(file, 'utf8')).toBe(expected);
});
