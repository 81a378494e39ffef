import { expect, test } from 'vitest';
import { farthestTargetAtR } from './target-ratio.ts';

test.each([
  ['Risk Management', '2'],
  ['Portfolio Allocation', '2'],
  ['Technical Analysis', '1.5'],
  [null, '2'],
] as const)('the farthest target of %s is %s R away', (method, atR) => {
  expect(farthestTargetAtR(method)).toBe(atR);
});
