import { describe, expect, test } from 'vitest';
import {
  isFurtherThanPlanned,
  missingProtection,
  moveProblems,
  plannedProtection,
  protectionNeed,
  risksMore,
  standingProtection,
  targetText,
} from './protection.ts';

const planned = { stopLoss: '98', takeProfit: '104' };
const both = { stopLoss: '98', takeProfit: '104' };
const neither = { stopLoss: null, takeProfit: null };
const ofShort = { stopLoss: '102', takeProfit: '96' };
const raised = { stopLoss: '108', takeProfit: '120' };
const lowered = { stopLoss: '92', takeProfit: '80' };

test.each([
  [{ ...both }, '104'],
  [{ ...neither }, 'none'],
  [{ ...neither, targetProblem: 'it has no price' }, 'not known (it has no price)'],
])('a target that is not known is not called none', (held, text) => {
  expect(targetText(held)).toBe(text);
});

describe('the missing protection of a position', () => {
  test.each([
    ['nothing, with stop and target', 'long', '100', both, 'nothing'],
    [
      'nothing, with other prices than planned',
      'long',
      '100',
      { stopLoss: '90', takeProfit: '140' },
      'nothing',
    ],
    ['its stop', 'long', '100', { ...both, stopLoss: null }, 'stop'],
    ['its stop before its target', 'long', '100', neither, 'stop'],
    ['its stop, at an unknown price', 'long', null, neither, 'stop'],
    ['closing, at the stop', 'long', '98', neither, 'close'],
    ['closing, beyond the stop', 'long', '97.9', { ...both, stopLoss: null }, 'close'],
    ['its target', 'long', '100', { ...both, takeProfit: null }, 'target'],
    ['nothing, at the target', 'long', '104', { ...both, takeProfit: null }, 'nothing'],
  ] as const)('is %s', (_name, side, markPrice, held, need) => {
    expect(protectionNeed({ side, entryPrice: '100', markPrice, held, planned })).toBe(need);
  });

  test.each([
    ['100', neither, 'stop'],
    ['102', neither, 'close'],
    ['102.1', neither, 'close'],
    ['100', { stopLoss: '102', takeProfit: null }, 'target'],
    ['96', { stopLoss: '102', takeProfit: null }, 'nothing'],
  ] as const)('is mirrored for a short at %s', (markPrice, held, need) => {
    const position = { side: 'short', entryPrice: '100', markPrice } as const;
    expect(protectionNeed({ ...position, held, planned: ofShort })).toBe(need);
  });

  test.each([
    ['a stop above a long', 'long', '100', { ...both, stopLoss: '102' }, 'stop'],
    ['a stop above a long that lost', 'long', '98', { ...both, stopLoss: '102' }, 'close'],
    ['a stop below a short', 'short', '100', { ...both, stopLoss: '98' }, 'stop'],
    ['a target below a long', 'long', '100', { ...both, takeProfit: '96' }, 'target'],
  ] as const)('is the same with %s, which does not count', (_name, side, markPrice, held, need) => {
    const levels = side === 'long' ? planned : ofShort;
    const position = { side, entryPrice: '100', markPrice };
    expect(protectionNeed({ ...position, held, planned: levels })).toBe(need);
  });
});

describe('a stop and target that the exchange holds', () => {
  test.each([
    ['on their sides', 'long', '100', both, both],
    ['of a short, for a long', 'long', '100', ofShort, neither],
    ['of a long, for a short', 'short', '100', both, neither],
    ['that followed the price of a long', 'long', '110', raised, raised],
    ['that followed the price of a short', 'short', '90', lowered, lowered],
    [
      'beyond the price after it fell back',
      'long',
      '101',
      { ...both, stopLoss: '108' },
      { ...both, stopLoss: null },
    ],
    ['whose stop the price has just reached', 'long', '97.9', both, both],
    ['whose target the price has just reached', 'long', '104.1', both, both],
    ['without a known price', 'long', null, ofShort, ofShort],
    ['that do not exist', 'long', '100', neither, neither],
  ] as const)('%s', (_name, side, markPrice, held, standing) => {
    expect(standingProtection({ side, entryPrice: '100', markPrice, held })).toEqual(standing);
  });
});

test.each([
  ['both', '100', neither, { stopLoss: '98', takeProfit: '104' }],
  ['only the stop', '100', { ...both, stopLoss: null }, { stopLoss: '98', takeProfit: null }],
  ['only the target', '100', { ...both, takeProfit: null }, { stopLoss: null, takeProfit: '104' }],
  ['no target that would trigger immediately', '104.1', neither, { stopLoss: '98', takeProfit: null }],
  ['both instead of those of a short', '100', ofShort, planned],
] as const)('places what is missing: %s', (_name, markPrice, held, expected) => {
  const position = { side: 'long', entryPrice: '100', markPrice } as const;
  expect(missingProtection({ ...position, held, planned })).toEqual(expected);
});

test.each([
  ['long', '98', '0.1', false],
  ['long', '97.5', '0.1', false],
  ['long', '97.4', '0.1', true],
  ['long', '97.9', '0', true],
  ['long', '99', '0', false],
  ['long', '0.01', '0.1', true],
  ['short', '98.5', '0.1', false],
  ['short', '98.6', '0.1', true],
  ['short', '97', '0', false],
] as const)(
  'of a %s, a stop at %s with a tick of %s is further than planned: %s',
  (side, stopLoss, tickSize, expected) => {
    expect(isFurtherThanPlanned({ side, stopLoss, planned, tickSize })).toBe(expected);
  },
);

describe('a new stop or target', () => {
  const long = { side: 'long', markPrice: '100', liquidationPrice: '90.5', tickSize: '0.1' } as const;
  const short = { side: 'short', markPrice: '100', liquidationPrice: '109.5', tickSize: '0.1' } as const;

  test.each([
    ['on its side', long, { stopLoss: '98', takeProfit: '104' }],
    ['just before the mark', long, { stopLoss: '99.9', takeProfit: '100.1' }],
    ['of a short', short, { stopLoss: '100.1', takeProfit: '99.9' }],
    ['beyond the entry, following the price', long, { stopLoss: '99', takeProfit: null }],
    ['alone', long, { stopLoss: null, takeProfit: '104' }],
  ] as const)('can be moved when it is %s', (_name, position, prices) => {
    expect(moveProblems({ ...position, prices })).toEqual([]);
  });

  test.each([
    [
      long,
      { stopLoss: '100', takeProfit: null },
      ['The stop loss of a long position has to be below the mark price 100'],
    ],
    [
      short,
      { stopLoss: '100', takeProfit: null },
      ['The stop loss of a short position has to be above the mark price 100'],
    ],
    [
      long,
      { stopLoss: null, takeProfit: '100' },
      ['The take profit of a long position has to be above the mark price 100'],
    ],
    [
      short,
      { stopLoss: null, takeProfit: '100' },
      ['The take profit of a short position has to be below the mark price 100'],
    ],
    [
      long,
      { stopLoss: '98.05', takeProfit: '0' },
      [
        'The stop loss has to be a multiple of the tick 0.1',
        'The take profit has to be a multiple of the tick 0.1',
      ],
    ],
    [
      long,
      { stopLoss: '90.5', takeProfit: null },
      ['The stop loss has to come before the liquidation price 90.5'],
    ],
    [
      short,
      { stopLoss: '110', takeProfit: null },
      ['The stop loss has to come before the liquidation price 109.5'],
    ],
  ] as const)('of %o is refused at %o', (position, prices, messages) => {
    expect(moveProblems({ ...position, prices }).map(({ message }) => message)).toEqual(messages);
  });

  test.each([
    ['long', '98', '97', true],
    ['long', '98', '98.0', false],
    ['long', '98', '99', false],
    ['short', '102', '103', true],
    ['short', '102', '101', false],
    ['long', null, '50', false],
    ['long', '98', null, false],
  ] as const)('of a %s, from %s to %s, means more risk: %s', (side, present, stopLoss, expected) => {
    expect(risksMore({ side, present, stopLoss })).toBe(expected);
  });

  test('replaces the calculated one in what the position should have', () => {
    const trade = { stopLoss: '98', takeProfit: '104', movedStopLoss: '99', movedTakeProfit: null };
    expect(plannedProtection(trade)).toEqual({ stopLoss: '99', takeProfit: '104' });
  });
});
