import { describe, expect, test } from 'vitest';
import { missingProtection, protectionNeed } from './protection.ts';

const planned = { stopLoss: '98', takeProfit: '104' };
const both = { stopLoss: '98', takeProfit: '104' };
const neither = { stopLoss: null, takeProfit: null };

describe('what a position lacks', () => {
  test.each([
    ['nothing, with stop and target', 'long', '100', both, 'nothing'],
    [
      'nothing, with prices other than planned',
      'long',
      '100',
      { stopLoss: '90', takeProfit: '140' },
      'nothing',
    ],
    ['its stop', 'long', '100', { ...both, stopLoss: null }, 'stop'],
    ['its stop before its target', 'long', '100', neither, 'stop'],
    ['its stop, at a price that is not told', 'long', null, neither, 'stop'],
    ['closing, at the stop', 'long', '98', neither, 'close'],
    ['closing, beyond the stop', 'long', '97.9', { ...both, stopLoss: null }, 'close'],
    ['its target', 'long', '100', { ...both, takeProfit: null }, 'target'],
    ['nothing, at the target', 'long', '104', { ...both, takeProfit: null }, 'nothing'],
  ] as const)('is %s', (_name, side, markPrice, held, need) => {
    expect(protectionNeed({ side, markPrice, held, planned })).toBe(need);
  });

  test.each([
    ['100', neither, 'stop'],
    ['102', neither, 'close'],
    ['102.1', neither, 'close'],
    ['100', { stopLoss: '102', takeProfit: null }, 'target'],
    ['96', { stopLoss: '102', takeProfit: null }, 'nothing'],
  ] as const)('of a short at %s is the mirror image', (markPrice, held, need) => {
    const short = { stopLoss: '102', takeProfit: '96' };
    expect(protectionNeed({ side: 'short', markPrice, held, planned: short })).toBe(need);
  });
});

test.each([
  ['both', '100', neither, { stopLoss: '98', takeProfit: '104' }],
  ['the stop alone', '100', { ...both, stopLoss: null }, { stopLoss: '98', takeProfit: null }],
  ['the target alone', '100', { ...both, takeProfit: null }, { stopLoss: null, takeProfit: '104' }],
  ['no target that would trigger at once', '104.1', neither, { stopLoss: '98', takeProfit: null }],
] as const)('what is missing is placed: %s', (_name, markPrice, held, expected) => {
  expect(missingProtection({ side: 'long', markPrice, held, planned })).toEqual(expected);
});
