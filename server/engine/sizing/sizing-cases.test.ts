import { afterAll, beforeAll, test } from 'vitest';
import { type HandTrading, startHandTrading } from '#test/app/hand-trading.ts';
import { compareSizing } from '#test/app/sizing-cases.ts';

let trading: HandTrading;

beforeAll(async () => {
  trading = await startHandTrading({ engine: false });
});
afterAll(() => trading.close());

// Requirements: position-sizing-2
test('sizes 50 random cases through the API exactly like the domain', async () => {
  await compareSizing(trading, { signals: 10, settingsEach: 5 });
});
