import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { TradingSettings } from '#domain/user-settings.ts';
import { userSettings } from '#server/platform/db/schema.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { findWorkflowCalculation, planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { ledgerOf, oppositeSignal, reasonFor, withLong } from '#test/app/token-holders.ts';
import {
  type Answers,
  answering,
  atExchangeCall,
  dyingAt,
  readingEachPrice,
} from '#test/venues/dying-exchange.ts';
import { runWorkflow } from './run-workflow.ts';

/** An opposite signal that is refused: before the position is closed, or after it if the reason is known only then. */
const engine = sharedTestEngine();

describe('a signal that would not be traded closes nothing', () => {
  const setting = (fields: Partial<TradingSettings>) => ({ settings: fields });
  const candle = (figures: { atr: string }) => ({ candle: figures });
  const market = (change: Answers) => ({ change });

  // Requirements: workflows-7
  test.each<[string, { settings?: object; candle?: { atr: string }; change?: Answers }, string | RegExp]>(
    firstCases(
      [
        [
          'without an ATR',
          setting({ positionSizingMethod: 'Technical Analysis' }),
          /^ATR is required for Technical/,
        ],
        ['in another market', setting({ marketType: 'Spot' }), /^Market type Spot is not available/],
        [
          'with a portion out of range',
          setting({ positionSizingMethod: 'Portfolio Allocation', investmentPortion: '0.5' }),
          'Investment portion 0.5 is not above 0 and at most 0.33',
        ],
        [
          'with a stop beyond liquidation',
          candle({ atr: '9' }),
          /^Stop loss lies beyond the liquidation distance/,
        ],
        ['with a stop at the price', candle({ atr: '0.000001' }), /^Stop loss would trigger at once/],
        [
          'more than ten percent off the market',
          market(({ fetchTicker }) => ({
            fetchTicker: async (...parameters) => {
              const ticker = await fetchTicker(...parameters);
              return ticker && { ...ticker, lastPrice: '112' };
            },
          })),
          /^Signal validation failed: the signal price 100 is 12.00% away/,
        ],
        ['without a price', market(() => ({ fetchTicker: async () => null })), /^No live price of H/],
        ['in a delisted token', market(() => ({ fetchContract: async () => null })), / is not listed on /],
      ],
      3,
    ),
  )('%s', async (_name, { settings, candle, change }, reason) => {
    const { userId, token } = await withLong(engine);
    if (candle !== undefined) await engine.storeCandle({ token, price: '100', ...candle });
    const { workflowId } = await oppositeSignal(engine, token);
    await runWorkflow(engine.deps, workflowId);
    if (settings !== undefined) {
      await engine.db.update(userSettings).set(settings).where(eq(userSettings.userId, userId));
    }
    await planUser(change === undefined ? engine.deps : answering(readingEachPrice(engine.deps), change), {
      workflowId,
      userId,
    });
    await engine.settle();
    const said = await reasonFor(engine, { workflowId, userId });
    expect(said).toMatch(reason);
    expect(said).toMatch(/(?<!closed before); user will be skipped$/);
    expect(await ledgerOf(engine, userId)).toEqual([['buy', false, 'filled']]);
    expect((await engine.holding(userId, token)).position).toMatchObject({ side: 'long' });
    expect((await engine.outcomes(workflowId)).get(userId)?.outcome).toBe('skipped');
    expect(await findWorkflowCalculation(engine.db, { workflowId, userId })).toMatchObject({
      success: false,
      error: said?.replace('; user will be skipped', ''),
    });
  });
});

describe('a signal that is refused after the opposite position was closed', () => {
  const CLOSED = [
    ['buy', false, 'filled'],
    ['sell', true, 'filled'],
  ];
  const closedBefore = (token: string) =>
    `; the opposite position in ${token} was closed before; user will be skipped`;
  const setTrading = (userId: string, activeTrading: boolean) =>
    engine.db.update(userSettings).set({ activeTrading }).where(eq(userSettings.userId, userId));

  /** A user whose risk leaves less than the smallest order: the balance decides that, so the position is closed. */
  async function withTooLittle() {
    const held = await withLong(engine);
    await engine.db
      .update(userSettings)
      .set({ maximumRiskPerTrade: '0.0000001' })
      .where(eq(userSettings.userId, held.userId));
    return { ...held, ...(await oppositeSignal(engine, held.token)) };
  }

  // Requirements: workflows-7
  test('for its size is skipped with the reason and the close', async () => {
    const { userId, token, workflowId } = await withTooLittle();
    await engine.settle();
    const said = await reasonFor(engine, { workflowId, userId });
    expect(said).toMatch(/^Quantity 0 H\d+ is below the minimum size of /);
    expect(said?.endsWith(closedBefore(token))).toBe(true);
    expect(await ledgerOf(engine, userId)).toEqual(CLOSED);
  });

  testEveryCase('for a price that moved during the close says so', async () => {
    const { userId, token } = await withLong(engine);
    const { workflowId } = await oppositeSignal(engine, token);
    await runWorkflow(engine.deps, workflowId);
    let isClosed = false;
    const deps = answering(readingEachPrice(engine.deps), ({ fetchTicker, closePosition }) => ({
      closePosition: async (...parameters) => {
        isClosed = true;
        return closePosition(...parameters);
      },
      fetchTicker: async (...parameters) => {
        const ticker = await fetchTicker(...parameters);
        return ticker && isClosed ? { ...ticker, lastPrice: '112' } : ticker;
      },
    }));
    await planUser(deps, { workflowId, userId });
    const said = await reasonFor(engine, { workflowId, userId });
    expect(said).toMatch(/^Signal validation failed: /);
    expect(said?.endsWith(closedBefore(token))).toBe(true);
    expect(await ledgerOf(engine, userId)).toEqual(CLOSED);
  });

  testEveryCase('for a switch turned off during the close says so at its order', async () => {
    const { userId, token } = await withLong(engine);
    const { workflowId } = await oppositeSignal(engine, token);
    await runWorkflow(engine.deps, workflowId);
    const deps = atExchangeCall(engine.deps, {
      call: 'closePosition',
      when: 'after',
      happens: async () => void (await setTrading(userId, false)),
    });
    await planUser(deps, { workflowId, userId });
    expect(await reasonFor(engine, { workflowId, userId })).toBe(
      `Active trading is off${closedBefore(token)}`,
    );
    expect(await ledgerOf(engine, userId)).toEqual(CLOSED);
  });

  testEveryCase('for its age says that the close had begun, if its end is not known', async () => {
    const { userId, token } = await withLong(engine);
    const { workflowId } = await oppositeSignal(engine, token);
    const dying = dyingAt(engine.deps, 'closePosition', 'after');
    await expect(engine.settle({ deps: dying })).rejects.toThrow();
    await engine.restart();
    engine.clock.advance(31 * 60_000);
    await engine.settle();
    expect(await reasonFor(engine, { workflowId, userId })).toMatch(
      new RegExp(
        `^Signal expired: .*; the closing of the opposite position in ${token} had begun; user will be skipped$`,
      ),
    );
    expect(await ledgerOf(engine, userId)).toEqual(CLOSED);
  });
});
