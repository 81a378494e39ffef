import { afterAll, beforeAll, test } from 'vitest';
import { compareSizing } from '#test/app/sizing-cases.ts';
import { startWorldByHand, type WorldByHand } from '#test/world/by-hand.ts';

let trading: WorldByHand;

beforeAll(async () => {
  trading = await startWorldByHand({ engine: false });
});
afterAll(() => trading.close());

// Requirements: position-sizing-2
test('sizes 6 random cases through the API exactly like the domain', async () => {
  await compareSizing(trading, { signals: 2, settingsEach: 3 });
});
