import { afterAll, beforeAll, test } from 'vitest';
import { compareSizing } from '#test/app/sizing-cases.ts';
import { startWorldByHand, type WorldByHand } from '#test/world/by-hand.ts';

let trading: WorldByHand;

beforeAll(async () => {
  trading = await startWorldByHand({ engine: false });
});
afterAll(() => trading.close());

// Requirements: position-sizing-2
test('sizes 500 random cases through the API exactly like the domain', { timeout: 240_000 }, async () => {
  await compareSizing(trading, { signals: 25, settingsEach: 20 });
});
