import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutFraction,
  D,
  floorRatioToStep,
  floorToStep,
  isMultipleOf,
  isPositive,
  parsePositiveNumber,
  roundToTick,
  toPercent,
  toPlain,
} from './decimal.ts';

describe('D', () => {
  it.each([
    ...[Number.NaN, Infinity, -Infinity],
    ...['NaN', 'Infinity', '', ' 1', '0x10', '1_000', '1,5', 'one', '1e99999'],
  ])('throws on %j', (value) => {
    expect(() => D(value)).toThrow(RangeError);
  });

  it('reads numbers as databases and exchanges write them', () => {
    const read = ['1.50', '-0.1', '1e-8', '.5', 7].map((value) => toPlain(D(value)));
    expect(read).toEqual(['1.5', '-0.1', '0.00000001', '0.5', '7']);
  });
});

describe('toPlain', () => {
  it.each([
    ['1e-12', '0.000000000001'],
    ['1e21', '1000000000000000000000'],
    ['100.000', '100'],
    ['-0', '0'],
  ])('writes %s as %s', (value, text) => {
    expect(toPlain(value)).toBe(text);
  });
});

describe('steps and ticks', () => {
  it.each([
    ['0.3', '0.1', '0.3'],
    ['0.39999', '0.1', '0.3'],
    ['1999', '1000', '1000'],
    ['0.00001234', '0.00000001', '0.00001234'],
    ['-0.05', '0.1', '-0.1'],
    ['0', '0.01', '0'],
  ])('%s on the step %s is %s', (value, step, floor) => {
    expect(toPlain(floorToStep(value, step))).toBe(floor);
  });

  it('puts a periodic quotient on its step exactly', () => {
    // (1 / 3) × 3 with two roundings is 0.999…; one integer division is exact.
    expect(toPlain(floorRatioToStep({ numerator: '1250', denominator: '0.0000004', step: 1 }))).toBe(
      '3125000000',
    );
    expect(toPlain(floorRatioToStep({ numerator: D(1).times(3), denominator: 3, step: '0.1' }))).toBe('1');
  });

  it('throws on a step or denominator of zero', () => {
    expect(() => floorToStep('1', '0')).toThrow(RangeError);
    expect(() => floorRatioToStep({ numerator: 1, denominator: 0, step: 1 })).toThrow(RangeError);
  });

  it('keeps a price on the tick, and moves others in the given direction', () => {
    expect(toPlain(roundToTick('100.1', '0.1', 'up'))).toBe('100.1');
    expect(toPlain(roundToTick('100.11', '0.1', 'up'))).toBe('100.2');
    expect(toPlain(roundToTick('100.19', '0.1', 'down'))).toBe('100.1');
  });

  it('rounds by at most one tick, onto a tick', () => {
    const price = fc.integer({ min: 1, max: 10 ** 12 }).map((n) => D(n).div(10 ** 8));
    const tick = fc.constantFrom('0.1', '0.01', '0.0001', '0.00000001', '0.025');
    fc.assert(
      fc.property(price, tick, (value, step) => {
        const [down, up] = [roundToTick(value, step, 'down'), roundToTick(value, step, 'up')];
        expect(down.lte(value) && up.gte(value) && up.minus(down).lte(step)).toBe(true);
        expect(isMultipleOf(down, step) && isMultipleOf(up, step)).toBe(true);
      }),
    );
  });
});

describe('fractions as text', () => {
  it('rounds a percentage for display', () => {
    expect(toPercent('0.05125')).toBe('5.13');
    expect(toPercent('0.33', 0)).toBe('33');
  });

  it('cuts a periodic fraction and never rounds it up', () => {
    expect(cutFraction(D(2).div(3))).toBe('0.666666666666');
  });
});

describe('isPositive', () => {
  it('never throws, and accepts only decimal numbers above zero', () => {
    expect(['1', '0.0001', '1e-9'].every(isPositive)).toBe(true);
    expect(['0', '-1', '', 'x', 'NaN', 'Infinity', '1e9999', null, undefined].some(isPositive)).toBe(false);
  });
});

describe('parsePositiveNumber', () => {
  it.each<[unknown, string]>([
    [1, '1'],
    [0.1, '0.1'],
    [1e-7, '0.0000001'],
    [1e12, '1000000000000'],
    ['97313.70', '97313.7'],
    ['007', '7'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['0.000000000001', '0.000000000001'],
    [' 65000 ', '65000'],
    ['3\n', '3'],
    ['1.234e-05', '0.00001234'],
    ['1.234E+005', '123400'],
  ])('reads %j as %s', (value, text) => {
    expect(parsePositiveNumber(value)).toEqual({ ok: true, value: text });
  });

  it.each<unknown>([
    ...[Number.NaN, Infinity, -Infinity, 0, -1, 1e-13, 1.1e12, 1e308, 10n],
    ...[
      '0',
      '0.0',
      '-1',
      '+1',
      '0x1F',
      '1_000',
      '1,000',
      '1.2.3',
      '.',
      '',
      ' ',
      '1 2',
      '1e',
      'e5',
      '1e400',
      '1e-30',
    ],
    ...['١٢٣', '１２', 'NaN', 'Infinity', '{{close}}', '1000000000001', '0.0000000000009'],
    `1.${'0'.repeat(100)}`,
    ...[null, undefined, true, [], [1], {}],
  ])('refuses %s', (value) => {
    expect(parsePositiveNumber(value)).toMatchObject({ ok: false, reason: expect.stringMatching(/^must /) });
  });

  it('returns a plain number in range or a reason for any input', () => {
    const numberLike = fc.stringMatching(/^[-+0-9.eExX_ ]{0,20}$/);
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.double(), numberLike, fc.string()), (value) => {
        const parsed = parsePositiveNumber(value);
        if (!parsed.ok) {
          expect(parsed.reason).not.toBe('');
          return;
        }
        expect(parsed.value).toMatch(/^\d+(\.\d*[1-9])?$/);
        expect(parsed.value).toBe(toPlain(typeof value === 'number' ? value : String(value).trim()));
        expect(D(parsed.value).gte('1e-12') && D(parsed.value).lte('1e12')).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
