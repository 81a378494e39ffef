import { afterAll, beforeAll, test } from 'vitest';
import { type HandTrading, startHandTrading } from '#test/app/hand-trading.ts';
import { compareSizing } from '#test/app/sizing-cases.ts';

let trading: HandTrading;

beforeAll(async () => {
  trading = await startHandTrading({ engine: false });
});
afterAll(() => trading.close());

// Requirements: position-sizing-2
test('sizes 500 random cases through the API exactly like the domain', { timeout: 240_000 }, async () => {
  await compareSizing(trading, { signals: 25, settingsEach: 20 });
});
