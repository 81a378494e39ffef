import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { verifyDecisions } from '#server/console/signals/verify-decisions.ts';
import { trades } from '#server/platform/db/schema.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';

const engine = sharedTestEngine();

async function signalAfter(candle: { atr?: string; matureTrend?: string }) {
  await engine.createUser({ positionSizingMethod: 'Risk Management' });
  await engine.storeCandle({ token: 'ODD', price: '100', ...candle });
  const { signalId, workflowId } = await engine.storeSignal({ token: 'ODD', price: '100' });
  await engine.settle();
  const reasons = (await engine.steps(workflowId)).flatMap(({ errorMessage }) => errorMessage ?? []);
  const made = await engine.db.select().from(trades).where(eq(trades.workflowId, workflowId));
  return { reasons, made, decisions: await verifyDecisions(engine.deps, signalId) };
}

test.each([
  [{ atr: '$3' }, 'ATR "$3" is not a number'],
  [{ atr: '0' }, 'ATR "0" is not above zero'],
  [{ atr: '3', matureTrend: 'Bullish ↑' }, 'mature_trend "Bullish ↑" is not a known trend'],
])('a user whose position needs a candle that cannot be read is not traded: %j', async (candle, reason) => {
  const { reasons, made, decisions } = await signalAfter(candle);
  expect(made).toEqual([]);
  expect(reasons).toEqual([`The candle cannot be used: ${reason}; user will be skipped`]);
  expect(decisions.differing).toEqual([]);
});

test('an ATR with a blank gives the stop that it says, and not the default one', async () => {
  const { made } = await signalAfter({ atr: '3 ', matureTrend: 'up' });
  expect(made).toEqual([expect.objectContaining({ stopLoss: '95.5' })]);
});
