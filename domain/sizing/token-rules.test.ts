import { describe, expect, it } from 'vitest';
import { mergeTokenRules, ownTokenRules, tickForPrice } from './token-rules.ts';

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

  it.each(['SHIB', 'JASMY', 'H1'])('of %s, which no constant names, are the contract’s', (token) => {
    const exchange = {
      token,
      tickSize: '0.000000001',
      quantityStep: '10',
      minimumQuantity: '20',
      minimumNotional: '1',
      maximumQuantity: '1000000',
      maximumLeverage: 50,
    };
    expect(mergeTokenRules(ownTokenRules(token), exchange)).toEqual({ ...exchange, minimumNotional: '5' });
    const coarse = { ...exchange, tickSize: '0.5', quantityStep: '0.00001', minimumQuantity: '0.00001' };
    expect(mergeTokenRules(ownTokenRules(token), coarse)).toEqual({ ...coarse, minimumNotional: '5' });
  });

  it('name the contract’s own tick where the constant is coarser', () => {
    const exchange = { ...ownTokenRules('SUI'), tickSize: '0.00001' };
    expect(mergeTokenRules(ownTokenRules('SUI'), exchange)).toMatchObject({
      tickSize: '0.0001',
      contractTickSize: '0.00001',
    });
  });

  it.each([
    [null, '0.0001'],
    ['64210.5', '0.0001'],
    ['0.71', '0.0001'],
    ['0.0999', '0.00001'],
    ['0.0062', '0.000001'],
    ['0.00001234', '0.00000001'],
  ])('for a price of %s have the tick %s while the contract is not known', (price, tick) => {
    expect(tickForPrice(price)).toBe(tick);
  });

  it('without an exchange stay our own', () => {
    expect(mergeTokenRules(ownTokenRules('SOL'), null)).toEqual(ownTokenRules('SOL'));
  });

  it('of two tokens cannot be merged', () => {
    expect(() => mergeTokenRules(ownTokenRules('BTC'), ownTokenRules('ETH'))).toThrow(RangeError);
  });
});
