import { expect, test } from 'vitest';
import { keepBody, maskSecrets } from './kept-body.ts';

const HOOK_KEY = 'Zk3_vQ9-xN2bLr7TqWc5YhJ8mFs1DpGa0EuXo4RiKt6';
const LETTER_KEY = 'WSxH_cTkASLnpHCnZ-oCXdYUWEq-t_jCTkyKxiMkwuU';

test.each([
  ['{"symbol":"BTC","password":"hunter2","price":,', '{"symbol":"BTC","password":"*******","price":,'],
  ['{"Pass Phrase": "a, b", "x": 1', '{"Pass Phrase": "****", "x": 1'],
  ['{"api_secret":"a\\",\\"b","x":1', '{"api_secret":"**"**"*","x":1'],
  // Quotes that were not escaped.
  ['{"token":"ab"cd","x":1', '{"token":"**"**","x":1'],
  ['{"accessToken":"never closed, x: 1', '{"accessToken":"******************'],
  ["{'apiKey':'abc','x':1", "{'apiKey':'***','x':1"],
  ['{"note":"{\\"password\\":\\"abc\\",\\"x\\":1}"', '{"note":"{\\"password\\":\\"***\\",\\"x\\":1}"'],
  ['{"credentials":{"user":"me","pw":"x"},"x":1', '{"credentials":*"****"*"**"*"**"*"*"*,"x":1'],
  ['{"pin":1234,"spin":1,"x":1', '{"pin":****,"spin":1,"x":1'],
  ['password: open sesame\nprice: 1', 'password: ***********\nprice: 1'],
  ['see /hooks/trading_view_signal?hkid=abc&x=1', 'see /hooks/trading_view_signal?hkid=***&x=1'],
  [`{"note":"${HOOK_KEY}"`, `{"note":"${'*'.repeat(43)}"`],
  // One of some 1,500 keys has no digit.
  [`{"note":"${LETTER_KEY}"`, `{"note":"${'*'.repeat(43)}"`],
  ['a-name-of-a-strategy-in-many-small-words', 'a-name-of-a-strategy-in-many-small-words'],
  ['Authorization, Bearer abc.def', 'Authorization, Bearer *******'],
  ['at https://me:mine@example.com/x', 'at https://*******@example.com/x'],
  [
    '{"symbol":"BTCUSDT.P","price":1.5,"note":"buy now"',
    '{"symbol":"BTCUSDT.P","price":1.5,"note":"buy now"',
  ],
])('masks what may be a secret: %s', (text, masked) => {
  expect(maskSecrets(text)).toBe(masked);
  expect(masked).toHaveLength(text.length);
});

test('keeps 2 KB, masks what the cut would split, and leaves out half a character', () => {
  expect(keepBody(Buffer.from('not JSON\0'))).toBe('not JSON␀');
  expect(keepBody(Buffer.from('x'.repeat(2048)))).toBe('x'.repeat(2048));
  expect(keepBody(Buffer.from('x '.repeat(1025)))).toBe(`${'x '.repeat(1024)}…`);
  expect(keepBody(Buffer.from('x '.repeat(30_000)))).toBe(`${'x '.repeat(1024)}…`);
  expect(keepBody(Buffer.from(`${'x '.repeat(1010)}${HOOK_KEY}`))).toBe(
    `${'x '.repeat(1010)}${'*'.repeat(28)}…`,
  );
  expect(keepBody(Buffer.from(`${'x '.repeat(1023)}x€`))).toBe(`${'x '.repeat(1023)}x…`);
  expect(keepBody(Buffer.from([0x7b, 0xff]))).toBe('{\uFFFD');
});
