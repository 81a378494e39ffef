import { describe, expect, it } from 'vitest';
import { mergeTokenRules, ownTokenRules } from './token-rules.ts';

describe('token rules', () => {
  // Requirements: trading-constants-14
  it.each([
    ['BTC', '0.1', '0.01', '0.01'],
    ['ETH', '0.01', '0.01', '0.01'],
    ['SOL', '0.001', '0.1', '0.1'],
    ['TON', '0.0001', '0.1', '0.1'],
    ['SUI', '0.0001', '0.1', '0.1'],
    ['XRP', '0.0001', '1', '1'],
    ['PEPE', '0.00000001', '1', '1000'],
    ['DOGE', '0.0001', '0.001', '0.001'],
    ['toString', '0.0001', '0.001', '0.001'],
  ])('of %s: tick %s, step %s, minimum %s', (token, tickSize, quantityStep, minimumQuantity) => {
    expect(ownTokenRules(token)).toEqual({
      token,
      tickSize,
      quantityStep,
      minimumQuantity,
      minimumNotional: '5',
    });
  });

  it('merged with an exchange take the coarser tick and step and the larger minima', () => {
    const exchange = {
      token: 'BTC',
      tickSize: '0.50',
      quantityStep: '0.001',
      minimumQuantity: '0.001',
      minimumNotional: '10',
      maximumLeverage: 125,
    };
    expect(mergeTokenRules(ownTokenRules('BTC'), exchange)).toEqual({
      token: 'BTC',
      tickSize: '0.5',
      quantityStep: '0.01',
      minimumQuantity: '0.01',
      minimumNotional: '10',
      maximumLeverage: 125,
    });
  });

  it('without an exchange stay our own', () => {
    expect(mergeTokenRules(ownTokenRules('SOL'), null)).toEqual(ownTokenRules('SOL'));
  });

  it('of two tokens cannot be merged', () => {
    expect(() => mergeTokenRules(ownTokenRules('BTC'), ownTokenRules('ETH'))).toThrow(RangeError);
  });
});
