import { expect, test } from 'vitest';
import { maskKey, priceUrl, signalUrl } from './webhooks.ts';

// Requirements: screens-webhook-configuration-7
test('includes the key in both URLs', () => {
  expect(signalUrl('https://board.example', 'abc')).toBe(
    'https://board.example/hooks/trading_view_signal?hkid=abc',
  );
  expect(priceUrl('https://board.example', 'abc')).toBe(
    'https://board.example/hooks/trading_view_candler?hkid=abc',
  );
});

test('masks all but four characters, and keeps a masked key as it is', () => {
  expect(maskKey('abcdefghij')).toBe('abcd…');
  expect(maskKey('abcd…')).toBe('abcd…');
});
