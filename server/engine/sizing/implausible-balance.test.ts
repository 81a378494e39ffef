import { expect, test } from 'vitest';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { firstCases } from '#test/app/in-turn.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';

/** I5: no order on a balance that cannot be. */
const engine = sharedTestEngine({ config: { paperBalance: `1${'0'.repeat(30)}` } });

test.each(firstCases(EXCHANGE_PLATFORMS))(
  'a balance of 1e30 USDT at %s orders nothing, and the step says why',
  async (platform) => {
    const { workflowId, userId } = await storeTradedSignal(engine, {
      settings: { exchangePlatform: platform },
    });
    await engine.settle();
    expect(await engine.exchangeOrders(userId)).toEqual([]);
    expect((await engine.outcomes(workflowId)).get(userId)?.outcome).not.toBe('success');
    const steps = (await engine.steps(workflowId)).filter((step) => step.userId === userId);
    expect(steps.map(({ errorMessage }) => errorMessage).join('\n')).toContain('more USDT than there can be');
  },
);
