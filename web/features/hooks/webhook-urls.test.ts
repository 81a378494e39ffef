import { expect, test } from 'vitest';
import { maskKey, priceUrl, signalUrl } from './webhook-urls.ts';

// Requirements: screens-webhook-configuration-7
test('both addresses carry the key', () => {
  expect(signalUrl('https://board.example', 'abc')).toBe(
    'https://board.example/hooks/trading_view_signal?hkid=abc',
  );
  expect(priceUrl('https://board.example', 'abc')).toBe(
    'https://board.example/hooks/trading_view_candler?hkid=abc',
  );
});

test('a mask keeps four characters, and a masked key stays as it is', () => {
  expect(maskKey('abcdefghij')).toBe('abcd…');
  expect(maskKey('abcd…')).toBe('abcd…');
});
