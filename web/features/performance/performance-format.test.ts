import { expect, test } from 'vitest';
import { formatHolding } from './performance-format.ts';

test.for([
  ['0.33', '20 s'],
  ['0.5', '1 m'],
  ['12', '12 m'],
  ['185', '3 h 05 m'],
  ['3120', '2 d 4 h'],
  [null, '–'],
] as const)('shows a holding time of %s minutes as %s', ([minutes, text]) => {
  expect(formatHolding(minutes)).toBe(text);
});
