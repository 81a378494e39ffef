import { describe, expect, it } from 'vitest';
import { acceptClientPrice, chooseReferencePrice, signalPriceDeviates } from './reference-price.ts';

describe('the reference price', () => {
  // Requirements: trading-calculator-and-execution-1, trading-constants-3
  it.each([
    ['100', '100', '100', 'signal', '0.00'],
    ['100', '101', '100', 'signal', '1.00'],
    ['100', '101.000001', '101.000001', 'live', '1.00'],
    ['100', '99', '100', 'signal', '1.00'],
    ['100', '98.99', '98.99', 'live', '1.01'],
    ['0.00001187', '0.000012', '0.000012', 'live', '1.10'],
  ])(
    'signal %s and live %s give %s from the %s price',
    (signalPrice, livePrice, price, source, differencePercent) => {
      expect(chooseReferencePrice({ signalPrice, livePrice })).toMatchObject({
        price,
        source,
        differencePercent,
      });
    },
  );

  it.each([null, '0', '-5', 'NaN', ''])(
    'keeps the signal price for a live price of %j, and says so',
    (livePrice) => {
      expect(chooseReferencePrice({ signalPrice: '100.50', livePrice })).toEqual({
        price: '100.5',
        source: 'signal',
        differencePercent: null,
        reason: 'no live price was available, so the signal price is used',
      });
    },
  );

  it('gives the known reason for a missing live price, and keeps the signal price', () => {
    const prices = {
      signalPrice: '100',
      livePrice: null,
      livePriceProblem: 'the price service is at its limit',
    };
    expect(chooseReferencePrice(prices).reason).toBe(
      'the price service is at its limit, so the signal price is used',
    );
    expect(chooseReferencePrice({ ...prices, livePrice: '100' }).reason).not.toContain('limit, so');
  });
});

describe('a signal far from the market', () => {
  it('is traded up to 10% away', () => {
    expect(signalPriceDeviates({ signalPrice: '100', livePrice: '110' })).toBeNull();
    expect(signalPriceDeviates({ signalPrice: '100', livePrice: '90' })).toBeNull();
  });

  // Requirements: position-sizing-6
  it('is denied beyond 10%, with the figures', () => {
    expect(signalPriceDeviates({ signalPrice: '100', livePrice: '111.5' })?.reason).toBe(
      'Signal validation failed: the signal price 100 is 11.50% away from the live price 111.5, the limit is 10%',
    );
    expect(signalPriceDeviates({ signalPrice: '100', livePrice: '89.99' })).not.toBeNull();
  });
});

describe("a client's price", () => {
  it.each([
    ['100', '100', true],
    ['101', '100', true],
    ['101.01', '100', false],
    ['99', '100', true],
    ['98.9', '100', false],
    ['NaN', '100', false],
    ['0', '100', false],
    ['100', '', false],
  ])('%s against %s: %s', (clientPrice, serverPrice, isAccepted) => {
    expect(acceptClientPrice({ clientPrice, serverPrice })).toBe(isAccepted);
  });
});
