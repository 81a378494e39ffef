import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { D } from '../decimal.ts';
import { limitInUsdt, loosenedField, NO_LIMITS, type RiskLimits, readMeasure } from './risk-limits.ts';

// Requirements: additions-limits-2
describe('a limit as it is written', () => {
  it.each([
    ['300', null, '300'],
    ['3%', '2000', '60'],
    ['2.5x', '2000', '5000'],
  ])('%s with an equity of %s is %s USDT', (text, equity, usdt) => {
    expect(limitInUsdt(text, equity === null ? null : D(equity))?.toFixed()).toBe(usdt);
  });

  it.each(['3%', '3x'])('%s is not known without an equity', (text) => {
    expect(limitInUsdt(text, null)).toBeNull();
  });

  it.each(['', '0', '0%', '-3', '3 %', '1e3', '3X', '%', 'x', '1,000', 'NaN', '0x10', '1'.repeat(16)])(
    'does not read %j',
    (text) => {
      expect(readMeasure(text)).toBeNull();
    },
  );
});

const SOME: RiskLimits = {
  maxDailyLoss: '300',
  maxDrawdown: '10%',
  maxLossesInARow: 3,
  cooldownMinutes: 60,
  maxOpenPositions: 4,
  maxExposure: '3x',
  maxRisk: '4%',
  maxEntriesPerMinute: 5,
  allowedTokens: ['BTC', 'ETH'],
  blockedTokens: ['PEPE'],
  schedule: { zone: 'UTC', windows: [{ days: ['mon'], from: '08:00', to: '20:00' }] },
  shrink: false,
  onBreach: 'stop',
};

// Requirements: additions-limits-4
describe('a change of limits', () => {
  it.each<[Partial<RiskLimits>, keyof RiskLimits | null]>([
    [{}, null],
    [{ maxDailyLoss: '200' }, null],
    [{ maxDailyLoss: '301' }, 'maxDailyLoss'],
    [{ maxDailyLoss: null }, 'maxDailyLoss'],
    // Whether that is less depends on the equity.
    [{ maxDailyLoss: '1%' }, 'maxDailyLoss'],
    [{ maxDrawdown: '10.1%' }, 'maxDrawdown'],
    [{ maxLossesInARow: 4 }, 'maxLossesInARow'],
    [{ maxLossesInARow: 2, cooldownMinutes: null }, null],
    [{ cooldownMinutes: 59 }, 'cooldownMinutes'],
    [{ maxOpenPositions: null }, 'maxOpenPositions'],
    [{ maxOpenPositions: 0 }, null],
    [{ maxExposure: '2.9x' }, null],
    [{ maxRisk: '5%' }, 'maxRisk'],
    [{ maxEntriesPerMinute: 6 }, 'maxEntriesPerMinute'],
    [{ allowedTokens: ['BTC'] }, null],
    [{ allowedTokens: ['BTC', 'SOL'] }, 'allowedTokens'],
    [{ allowedTokens: null }, 'allowedTokens'],
    [{ blockedTokens: ['PEPE', 'SOL'] }, null],
    [{ blockedTokens: null }, 'blockedTokens'],
    [{ schedule: null }, 'schedule'],
    [{ schedule: { zone: 'UTC', windows: [{ days: ['mon'], from: '09:00', to: '20:00' }] } }, null],
    [{ shrink: true }, 'shrink'],
    [{ onBreach: 'close' }, null],
  ])('%j loosens %s', (change, field) => {
    expect(loosenedField(SOME, { ...SOME, ...change })).toBe(field);
  });

  it('from no limits never loosens', () => {
    expect(loosenedField(NO_LIMITS, SOME)).toBeNull();
  });

  it('there and back loosens at least once, unless nothing changed', () => {
    const limits = fc.record({
      maxDailyLoss: fc.option(fc.constantFrom('100', '200', '1%', '2%')),
      maxOpenPositions: fc.option(fc.nat(3)),
      allowedTokens: fc.option(fc.subarray(['BTC', 'ETH'])),
    });
    fc.assert(
      fc.property(limits, limits, (one, other) => {
        const [before, after] = [
          { ...NO_LIMITS, ...one },
          { ...NO_LIMITS, ...other },
        ];
        const isSame = JSON.stringify(before) === JSON.stringify(after);
        const loosens = loosenedField(before, after) ?? loosenedField(after, before);
        expect(loosens === null).toBe(isSame);
      }),
    );
  });
});
