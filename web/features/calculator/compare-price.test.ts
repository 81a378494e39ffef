import { describe, expect, test } from 'vitest';
import { comparePrice, fallBackToSignalPrice } from './compare-price.ts';
import { tellsRateLimit } from './request-failures.ts';

const subject = { signalPrice: '100', token: 'SOL' };
const answered = (currentPrice: string) => ({
  success: true,
  data: { currentPrice, source: 'Bitget' },
  fallbackRequired: false,
});

describe('a current price', () => {
  test('is used when it differs by more than 1%', () => {
    const compared = comparePrice(answered('101.01'), subject);
    expect(compared.title).toBe('Price Updated');
    expect(compared.text).toContain('by 1.01%; the calculation uses the current price.');
    expect(compared.request).toEqual({
      currentMarketPrice: '101.01',
      priceUpdateRequired: true,
      priceSource: 'Bitget',
    });
  });

  test('is ignored at a difference of exactly 1%', () => {
    for (const price of ['101', '99']) {
      const compared = comparePrice(answered(price), subject);
      expect(compared.title).toBe('Price Current');
      expect(compared.text).toContain('the calculation uses the signal price.');
      expect(compared.request.priceUpdateRequired).toBe(false);
    }
  });
});

describe('without a current price', () => {
  const refused = { success: false, data: null, fallbackRequired: true };

  test('distinguishes a rate limit from other reasons', () => {
    const limited = comparePrice({ ...refused, message: 'Maximum 2 requests per second.' }, subject);
    expect(limited.title).toBe('Rate Limiting Detected');
    expect(limited.text).toBe('Maximum 2 requests per second. The calculation uses the signal price 100.');
    expect(comparePrice({ ...refused, message: 'SOL is not listed' }, subject).title).toBe(
      'Using Signal Price',
    );
    expect(fallBackToSignalPrice('The server cannot be reached', '100').title).toBe('Using Signal Price');
  });

  test('sends no price with the calculation', () => {
    expect(comparePrice(refused, subject).request).toEqual({
      priceUpdateRequired: false,
      priceSource: 'signal',
    });
  });

  test('ignores the price in an answer that requests the fallback', () => {
    const compared = comparePrice({ ...answered('150'), fallbackRequired: true }, subject);
    expect(compared.request.currentMarketPrice).toBeUndefined();
  });
});

test('recognises a rate limit by three texts', () => {
  for (const text of [
    'Maximum 2 requests per second',
    'Bitget: Rate limit reached',
    'API Integration failed: no balance',
  ]) {
    expect(tellsRateLimit(text)).toBe(true);
  }
  expect(tellsRateLimit('The interest rate is limitless')).toBe(false);
});
