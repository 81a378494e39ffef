import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { EngineDeps } from '#server/deps.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { trades, userSettings, workflows } from '#server/platform/db/schema.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { calculateByHand, commitByHand } from '#test/app/plan-by-hand.ts';
import { planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { flatten, ledgerOf, oppositeSignal, reasonFor, withLong } from '#test/app/token-holders.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import { runWorkflow } from './run-workflow.ts';

/** A signal for a user who changed the exchange and holds a position at the old one. */
const engine = sharedTestEngine();

describe('after a change of the exchange', () => {
  const moveTo = (userId: string, exchangePlatform: ExchangePlatform) =>
    engine.db.update(userSettings).set({ exchangePlatform }).where(eq(userSettings.userId, userId));
  const noting = (asked: string[]) =>
    answering(engine.deps, ({ platform }) => {
      asked.push(platform);
      return {};
    });
  const withoutBitget: EngineDeps['findAccount'] = async (userId, platform) =>
    platform === 'Bitget' ? null : engine.deps.findAccount(userId, platform);
  const NO_ANSWER = new ExchangeError('unknown', 'Bitget: no answer within 1 s');
  const ofUser = (userId: string) => eq(trades.userId, userId);

  /** A user with a long position at Bitget who now trades at Bybit. */
  async function withLongAtBitget() {
    const held = await withLong(engine);
    await moveTo(held.userId, 'Bybit');
    return held;
  }

  /** Signals the token and settles; returns the user's outcome. */
  async function nextOutcome(userId: string, token: string) {
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    return (await engine.outcomes(workflowId)).get(userId)?.outcome;
  }

  /** Places an order by hand at the exchange of the settings. */
  async function shortByHand(userId: string, token: string): Promise<void> {
    const { signalId, workflowId } = await oppositeSignal(engine, token);
    await engine.db.delete(workflows).where(eq(workflows.id, workflowId));
    const intent = await commitByHand(engine, await calculateByHand(engine, { userId, signalId }));
    expect(intent.ok).toBe(true);
    await engine.settle();
  }

  // Requirements: workflows-8
  test.each(firstCases(['buy', 'sell'] as const))(
    'a signal to %s opens nothing beside a position at the old exchange, and closes nothing there',
    async (action) => {
      const { userId, token } = await withLongAtBitget();
      const { workflowId } = await engine.storeSignal({ token, price: '100', action });
      await engine.settle();
      expect(await reasonFor(engine, { workflowId, userId })).toBe(
        `A long position in ${token} is held on Bitget; user will be skipped`,
      );
      expect(await ledgerOf(engine, userId)).toEqual([['buy', false, 'filled']]);
    },
  );

  testEveryCase('a signal is traded when the old exchange reports no position', async () => {
    const { userId, token } = await withLongAtBitget();
    await flatten(engine, { userId, token });
    expect(await nextOutcome(userId, token)).toBe('success');
  });

  testEveryCase.each([
    ['who has not changed the exchange', 'Bitget', {}],
    ['whose position there is known to be closed', 'Bybit', { positionClosedAt: new Date() }],
    ['whose position there was closed because its stop was missing', 'Bybit', { protectionStatus: 'closed' }],
  ] as const)('a user %s is traded without asking another exchange', async (_name, platform, known) => {
    const { userId, token } = await withLong(engine);
    if (platform === 'Bybit') {
      await flatten(engine, { userId, token });
      await engine.db.update(trades).set(known).where(ofUser(userId));
      await moveTo(userId, platform);
    }
    const { workflowId } = await oppositeSignal(engine, token);
    await runWorkflow(engine.deps, workflowId);
    const asked: string[] = [];
    await planUser(noting(asked), { workflowId, userId });
    expect(new Set(asked)).toEqual(new Set([platform]));
    await engine.settle();
    expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('success');
  });

  // Requirements: workflows-8
  test.each([
    [
      'whose credentials are gone',
      () => ({ ...engine.deps, findAccount: withoutBitget }),
      'No Bitget credentials are connected',
    ],
    [
      'that does not answer',
      () =>
        answering(engine.deps, ({ platform }) =>
          platform === 'Bitget' ? { fetchPosition: () => Promise.reject(NO_ANSWER) } : {},
        ),
      NO_ANSWER.message,
    ],
  ] as const)(
    'nothing is opened while a position may be open at an exchange %s',
    async (_name, depsOf, problem) => {
      const { userId, token } = await withLongAtBitget();
      const { workflowId } = await engine.storeSignal({ token, price: '100' });
      await runWorkflow(engine.deps, workflowId);
      await planUser(depsOf(), { workflowId, userId });
      expect(await reasonFor(engine, { workflowId, userId })).toBe(
        `A position in ${token} that was opened here may still be open on Bitget, which could not be asked: ${problem}; user will be skipped`,
      );
      expect(await ledgerOf(engine, userId)).toEqual([['buy', false, 'filled']]);
    },
  );

  // Requirements: additions-order-and-positions-11
  test.each(
    firstCases([
      ['used before', 'Bybit'],
      ['in use', 'Bitget'],
    ] as const),
  )('nothing is concluded from another account at the exchange %s', async (_name, platform) => {
    const { userId, token } = await withLong(engine);
    await moveTo(userId, platform);
    await flatten(engine, { userId, token });
    await engine.db.update(trades).set({ exchangeAccountId: 'A-1' }).where(ofUser(userId));
    const { workflowId } = await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toMatch(
      /may still be open on Bitget, which could not be asked: The order is in account A-1, and the connected/,
    );
    // As the write-off of a position does.
    await engine.db.update(trades).set({ positionClosedAt: new Date() }).where(ofUser(userId));
    expect(await nextOutcome(userId, token)).toBe('success');
  });

  testEveryCase('a trade of another mode does not block new ones', async () => {
    const { userId, token } = await withLongAtBitget();
    await engine.db.update(trades).set({ exchangeMode: 'demo' }).where(ofUser(userId));
    expect(await nextOutcome(userId, token)).toBe('success');
  });

  // Requirements: workflows-8
  testEveryCase('a position stays the engine’s own after a trade at the other exchange', async () => {
    const { userId, token } = await withLongAtBitget();
    await shortByHand(userId, token);
    await flatten(engine, { userId, token, platform: 'Bybit' });
    await moveTo(userId, 'Bitget');
    const { workflowId } = await oppositeSignal(engine, token);
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toBeNull();
    expect(await engine.holding(userId, token, 'Bitget')).toMatchObject({ position: { side: 'short' } });
  });

  testEveryCase.each([
    ['demo', 'short'],
    [null, 'long'],
  ] as const)(
    'after a trade in the mode %s the position that a sell leaves is a %s',
    async (exchangeMode, left) => {
      const { userId, token } = await withLongAtBitget();
      await shortByHand(userId, token);
      await flatten(engine, { userId, token, platform: 'Bybit' });
      // As if traded at Bitget in the other mode; old rows have no mode.
      await engine.db
        .update(trades)
        .set({ exchangePlatform: 'Bitget', exchangeMode })
        .where(and(ofUser(userId), eq(trades.side, 'sell')));
      await moveTo(userId, 'Bitget');
      await oppositeSignal(engine, token);
      await engine.settle();
      expect(await engine.holding(userId, token, 'Bitget')).toMatchObject({ position: { side: left } });
    },
  );
});
