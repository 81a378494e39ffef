import { and, eq } from 'drizzle-orm';
import { describe, expect } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { tradingHalts } from '#server/platform/db/schema.ts';
import { auditOnce, stepUntil } from '#test/app/followed-trades.ts';
import { firstCases, testEveryCase, testInTurn } from '#test/app/in-turn.ts';
import { ALWAYS, planTrade, sharedTestEngine, strike, tradingOn } from '#test/app/shared-test-engine.ts';
import { withLong } from '#test/app/token-holders.ts';
import { SUITE_DIALECTS } from '#test/venues/exchange-suite-words.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { advanceTrade } from './advance-trade.ts';

/** I4: until a stop was read back once, only one where it was planned, or nearer, counts. */
const engine = sharedTestEngine();

const far: VenueFault = { kind: 'stopMisplaced', ticks: 'most' };
const again: VenueFault = { ...far, on: { operation: 'place-protection', times: ALWAYS } };
const noStop: VenueFault = { kind: 'stopRefused', on: { times: ALWAYS } };
const noClose: VenueFault = { kind: 'closeRefused', message: 'no close', on: { times: ALWAYS } };

async function start(
  exchangePlatform: ExchangePlatform,
  faults: VenueFault[],
  { action = 'buy' }: { action?: 'buy' | 'sell' } = {},
) {
  const planned = await planTrade(engine, {
    settings: { exchangePlatform },
    signal: { price: '100', action },
  });
  strike(engine, planned.userId, faults);
  return planned;
}

const isDone = ({ state }: { state: string }) => state === 'done';
const linesOf = async (tradeId: string) => (await engine.events(tradeId)).timeline;
const haltsOf = (userId: string) =>
  engine.db.select().from(tradingHalts).where(eq(tradingHalts.userId, userId));

/** The user moves the stop at the exchange, without this program. */
const moveElsewhere = (userId: string, triggerPrice: string) =>
  engine.db
    .update(paperTriggerOrders)
    .set({ triggerPrice })
    .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss')));

describe.each(SUITE_DIALECTS)('on %s, at the first read-back,', (dialect) => {
  const platform = tradingOn(engine, dialect);
  const test = testInTurn(SUITE_DIALECTS, dialect);

  test('a stop for a part of the position is placed for all of it', async () => {
    const { trade, userId, token } = await start(platform, [{ kind: 'stopMisplaced', covers: '0.5' }]);
    expect(await stepUntil(engine, trade.id, isDone)).toMatchObject({
      success: true,
      protectionStatus: 'repaired',
    });
    const plans = await engine.db
      .select()
      .from(paperTriggerOrders)
      .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss')));
    expect(plans).toMatchObject([{ state: 'live', triggerPrice: '98', token }]);
  });

  // Requirements: order-execution-3
  test.each([
    ['of a long', 'buy', '0.0001', { stopLoss: '98', takeProfit: '104' }],
    ['of a short', 'sell', '1020', { stopLoss: '102', takeProfit: '96' }],
  ] as const)(
    'a stop %s far away is placed again where it was planned',
    async (_name, action, found, held) => {
      const { trade, userId, token } = await start(platform, [far], { action });
      const done = await stepUntil(engine, trade.id, isDone);
      expect(done).toMatchObject({ success: true, fillStatus: 'filled', protectionStatus: 'repaired' });
      expect(await engine.holding(userId, token)).toMatchObject(held);
      expect(await linesOf(trade.id)).toContain(
        `The stop loss was ${found} instead of ${held.stopLoss} and is placed again: stop ${held.stopLoss}, target ${held.takeProfit}`,
      );
      expect((await engine.exchangeOrders(userId)).every(({ reduceOnly }) => !reduceOnly)).toBe(true);
    },
  );

  test.each([
    ['six ticks further away', 6, '98', 'repaired'],
    ['five ticks further away', 5, '97.9995', 'verified'],
    ['nearer than planned', -5_000, '98.5', 'verified'],
  ] as const)('a stop %s ends at its place', async (_name, ticks, stopLoss, protectionStatus) => {
    const { trade, userId, token } = await start(platform, [{ kind: 'stopMisplaced', ticks }]);
    expect(await stepUntil(engine, trade.id, isDone)).toMatchObject({ success: true, protectionStatus });
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss });
  });

  test.each(
    firstCases([
      ['cannot be placed again', [noStop]],
      ['lands far away again', [again]],
    ]),
  )('a stop far away that %s has the position closed within ten seconds', async (_name, faults) => {
    const { trade, userId, token, plannedAt } = await start(platform, [far, ...faults]);
    const done = await stepUntil(engine, trade.id, isDone);
    expect(engine.clock.now().getTime() - plannedAt.getTime()).toBeLessThan(10_000);
    expect(done).toMatchObject({ success: false, fillStatus: 'filled', protectionStatus: 'closed' });
    expect((await engine.holding(userId, token)).position).toBeNull();
    expect((await linesOf(trade.id)).join('\n')).toContain('the stop loss is 0.0001 instead of 98');
    expect(await haltsOf(userId)).toEqual([]);
  });

  test('a stop far away and a price beyond the planned one have the position closed at once', async () => {
    const { trade, userId, token } = await start(platform, [{ kind: 'restFirst' }, far]);
    await advanceTrade(engine.deps, trade.id);
    await engine.storeCandle({ token, price: '100' });
    await engine.storeCandle({ token, price: '97' });
    const done = await stepUntil(engine, trade.id, isDone);
    expect(done).toMatchObject({ success: false, protectionStatus: 'closed' });
    expect((await engine.holding(userId, token)).position).toBeNull();
    expect((await linesOf(trade.id)).join('\n')).toContain('the price 97 has passed it');
  });

  testEveryCase(
    'a stop far away that can be neither placed nor closed halts its user, and does not clear the halt',
    async () => {
      const { trade, userId, plannedAt } = await start(platform, [far, noStop, noClose]);
      await stepUntil(engine, trade.id, () => engine.clock.now().getTime() - plannedAt.getTime() >= 15_000);
      await auditOnce(engine);
      expect(await haltsOf(userId)).toMatchObject([{ kind: 'unprotected', clearedAt: null, endedAt: null }]);
      engine.venue.setFaults([]);
      expect(await stepUntil(engine, trade.id, isDone)).toMatchObject({
        success: true,
        protectionStatus: 'repaired',
      });
      expect(await haltsOf(userId)).toMatchObject([
        {
          clearedHow: 'The stop loss was 0.0001 instead of 98 and is placed again: stop 98, target 104',
        },
      ]);
    },
  );
});

describe.each(SUITE_DIALECTS)('on %s, after the first read-back,', (dialect) => {
  const platform = tradingOn(engine, dialect);
  const test = testInTurn(SUITE_DIALECTS, dialect);

  test('a stop that its user moves while the order still waits stays where it is', async () => {
    const { trade, userId, token } = await start(platform, [{ kind: 'partialFill', fraction: '0.5' }]);
    await stepUntil(engine, trade.id, ({ protectedQuantity }) => protectedQuantity !== null);
    await moveElsewhere(userId, '90');
    engine.clock.advance(2_000);
    await stepUntil(engine, trade.id, ({ state, dueAt }) => state === 'working' && dueAt !== null);
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '90' });
  });

  test('the audit leaves a stop that was moved further away, and says once what it found', async () => {
    const { trade, userId, token } = await withLong(engine, { exchangePlatform: platform });
    const before = await linesOf(trade.id);
    await moveElsewhere(userId, '90');
    await auditOnce(engine);
    await auditOnce(engine);
    await engine.settle();
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '90' });
    expect(await engine.trade(trade.id)).toEqual(trade);
    expect((await linesOf(trade.id)).slice(before.length)).toEqual([
      'The audit found the stop loss at 90, planned was 98; it stays',
    ]);
    await moveElsewhere(userId, '99');
    await auditOnce(engine);
    expect((await linesOf(trade.id)).slice(before.length + 1)).toEqual([
      'The audit found the stop loss at 99, planned was 98; it stays',
    ]);
  });

  test('a lost stop that lands far away when it is placed again counts as missing', async () => {
    const { trade, userId, token } = await withLong(engine, { exchangePlatform: platform });
    await engine.db
      .update(paperTriggerOrders)
      .set({ state: 'cancelled' })
      .where(eq(paperTriggerOrders.userId, userId));
    strike(engine, userId, [{ ...far, on: { operation: 'place-protection' } }]);
    await auditOnce(engine);
    expect(await linesOf(trade.id)).toContain(
      'The audit found the open position without its stop loss (planned: 98): placing it again',
    );
    await engine.settle();
    expect(await engine.holding(userId, token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
    expect(await engine.trade(trade.id)).toMatchObject({ state: 'done', protectionStatus: 'repaired' });
  });
});
