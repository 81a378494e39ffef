import { describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { sumPartialCloses } from '#server/engine/protection/positions.store.ts';
import { acquireLease } from '#server/platform/jobs/leases.ts';
import { doubtOf, follow, stepUntil, writeOff } from '#test/app/followed-trades.ts';
import { crossed, inTurn, oneOfEachKind, testEveryCase, testInTurn } from '#test/app/in-turn.ts';
import { ALWAYS, entriesOf, planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { withLong } from '#test/app/token-holders.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { CONTRADICTIONS, type Contradiction } from '#test/venues/faults.ts';
import { closePosition } from './close-position.ts';

/** I6, I7: an exchange whose look-ups show another order than the one that was sent, or none at all. */
const engine = sharedTestEngine();

const shows = (contradiction: Contradiction): VenueFault => ({
  kind: 'contradictoryLookUps',
  shows: contradiction,
});
const arrivesSilently: VenueFault = { kind: 'cutAfterAccept', on: { operation: 'place-order' } };
const rests: VenueFault = { kind: 'restFirst', on: { times: ALWAYS } };
const partly: VenueFault = { kind: 'partialFill', fraction: '0.4' };

const plan = (platform: ExchangePlatform, faults: VenueFault[]) =>
  planTrade(engine, { settings: { exchangePlatform: platform }, faults });

const UNREADABLE = CONTRADICTIONS.filter((one) => one !== 'the other side');
/** Refused like a quantity that is negative, or an order of somebody else. */
const NEIGHBOURS: Contradiction[] = [
  'a volume of NaN',
  'a price of 200,000 digits',
  'another symbol',
  'another quantity',
  'a negative volume',
];
/** What becomes of an order that is shown with a contradiction. */
const ENDS: [string, (platform: ExchangePlatform, shown: Contradiction) => Promise<void>][] = [
  // Requirements: order-execution-7
  [
    'is not recorded, is in doubt after ninety seconds, ends its workflow and may be written off',
    async (platform, contradiction) => {
      const { trade, userId, workflowId } = await plan(platform, [arrivesSilently, shows(contradiction)]);
      await follow(engine, trade.id, 80_000);
      expect(await engine.attempts(trade.id)).toMatchObject([
        { state: 'unknown', lookupMisses: 0, filledQuantity: '0', averagePrice: null, doubt: null },
      ]);
      expect(await doubtOf(engine, trade.id)).toBeUndefined();
      await follow(engine, trade.id, 20_000);
      expect(await doubtOf(engine, trade.id)).toContain(
        `${platform} does not show the order in a way that can be read`,
      );
      expect(await entriesOf(engine, userId)).toHaveLength(1);
      await follow(engine, trade.id, 5 * 60_000);
      await engine.plan(workflowId);
      expect((await engine.workflow(workflowId)).status).toBe('completed');
      expect(await writeOff(engine, trade.id)).toMatchObject({
        state: 'done',
        success: false,
        fillStatus: 'unknown',
      });
    },
  ],
  [
    'is cancelled within seconds of its time, and settled by the first answer that can be read',
    async (platform, contradiction) => {
      const { trade, userId, plannedAt } = await plan(platform, [rests, shows(contradiction)]);
      await follow(engine, trade.id, 30_000);
      const [order] = await engine.exchangeOrders(userId);
      expect(order).toMatchObject({ state: 'canceled' });
      const takenMs = (order?.updatedAt.getTime() ?? 0) - plannedAt.getTime();
      // Verified after 5 s, and cancelled when that could not be read for another 5 s.
      expect(takenMs).toBeLessThanOrEqual(13_000);
      expect(await engine.attempts(trade.id)).toMatchObject([{ state: 'cancelling', filledQuantity: '0' }]);
      engine.venue.setFaults([]);
      await engine.settle();
      expect(engine.doubleEntries).toEqual([]);
      expect((await engine.attempts(trade.id))[0]).toMatchObject({ state: 'unfilled', doubt: null });
    },
  ],
];
test.each(
  inTurn(
    oneOfEachKind(UNREADABLE, (shown) => !NEIGHBOURS.includes(shown)),
    crossed(ENDS, EXCHANGE_PLATFORMS),
  ).map(([shown, [[end, follows], platform]]) => ({
    shown,
    end,
    follows,
    platform,
  })),
)('an order that $platform shows with $shown $end', ({ follows, platform, shown }) =>
  follows(platform, shown),
);

describe.each(EXCHANGE_PLATFORMS)(
  'an order that %s shows on the other side, such as its own stop',
  (platform) => {
    const test = testInTurn(EXCHANGE_PLATFORMS, platform);

    test('is settled by its position after a minute', async () => {
      const { trade, userId } = await plan(platform, [arrivesSilently, shows('the other side')]);
      await engine.settle();
      const [order] = await entriesOf(engine, userId);
      const ended = await engine.trade(trade.id);
      expect(ended).toMatchObject({ success: true, fillStatus: 'filled', protectionStatus: 'verified' });
      expect(ended.filledQuantity).toBe(trade.plannedQuantity);
      const paid = D(order?.filledValue ?? 0).div(order?.filledSize ?? 1);
      expect(
        D(ended.averagePrice ?? 0)
          .minus(paid)
          .abs()
          .lt('1e-9'),
      ).toBe(true);
      expect((await engine.events(trade.id)).timeline.join('\n')).toContain(
        'shows an order of the other side',
      );
    });

    testEveryCase(
      'is settled with the part that its position shows when nothing of it is open: no order follows',
      async () => {
        const { trade, userId } = await plan(platform, [partly, shows('the other side')]);
        await engine.settle();
        const [order, ...more] = await entriesOf(engine, userId);
        expect(more).toEqual([]);
        expect(order?.state).toBe('canceled');
        const ended = await engine.trade(trade.id);
        expect(ended).toMatchObject({ success: true, fillStatus: 'partial', protectionStatus: 'verified' });
        expect(D(ended.filledQuantity).eq(order?.filledSize ?? 0)).toBe(true);
      },
    );

    testEveryCase(
      'is settled by the history of positions when its stop has closed what was filled',
      async () => {
        const { trade, token } = await plan(platform, [arrivesSilently, shows('the other side')]);
        await follow(engine, trade.id, 3_000);
        await engine.storeCandle({ token, price: '90' });
        await engine.settle();
        expect(await engine.trade(trade.id)).toMatchObject({
          success: true,
          fillStatus: 'filled',
          filledQuantity: trade.plannedQuantity,
        });
      },
    );

    test('stays in doubt when neither a position nor the history explains it', async () => {
      const { trade, userId } = await plan(platform, [rests, shows('the other side')]);
      await follow(engine, trade.id, 3 * 60_000);
      expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'canceled' }]);
      expect(await doubtOf(engine, trade.id)).toContain('an order of the other side');
      expect(await writeOff(engine, trade.id)).toMatchObject({
        state: 'done',
        success: false,
        fillStatus: 'unknown',
      });
    });
  },
);

describe.each(EXCHANGE_PLATFORMS)('at %s', (platform) => {
  const test = testInTurn(EXCHANGE_PLATFORMS, platform);

  // Requirements: order-execution-7
  test('an order without an answer that rests is cancelled when it comes into doubt, and followed by none', async () => {
    const { trade, userId } = await plan(platform, [arrivesSilently, rests, shows('another quantity')]);
    await follow(engine, trade.id, 80_000);
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'live' }]);
    await follow(engine, trade.id, 20_000);
    expect(await doubtOf(engine, trade.id)).toContain('does not show the order in a way that can be read');
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'canceled' }]);
    await follow(engine, trade.id, 2 * 60_000);
    expect(await entriesOf(engine, userId)).toHaveLength(1);
    engine.venue.setFaults([]);
    await engine.settle();
    expect((await engine.attempts(trade.id))[0]).toMatchObject({ state: 'unfilled', doubt: null });
  });

  test('a close whose order cannot be read is settled by the position after ninety seconds', async () => {
    const stopLost: VenueFault = { kind: 'stopDropped' };
    const noStop: VenueFault = { kind: 'stopRefused', on: { times: ALWAYS } };
    const half: VenueFault = { kind: 'partialFill', fraction: '0.5', on: { operation: 'close-position' } };
    const { trade, userId, token } = await plan(platform, [stopLost, noStop, half]);
    const closings = async () => (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => reduceOnly);
    await stepUntil(engine, trade.id, async () => (await closings()).length > 0);
    const unreadable: VenueFault = { kind: 'html200', on: { operation: 'find-order', times: ALWAYS } };
    engine.venue.setFaults([noStop, unreadable]);
    const sentAt = engine.clock.now().getTime();
    await stepUntil(engine, trade.id, () => engine.clock.now().getTime() - sentAt >= 80_000);
    expect(await closings()).toHaveLength(1);
    const done = await stepUntil(engine, trade.id, ({ state }) => state === 'done');
    expect(done).toMatchObject({ success: false, protectionStatus: 'closed' });
    expect((await engine.holding(userId, token)).position).toBeNull();
    const [first, second] = await closings();
    expect(first).toMatchObject({ state: 'canceled' });
    expect(
      D(first?.filledSize ?? 0)
        .plus(second?.filledSize ?? 0)
        .eq(trade.plannedQuantity),
    ).toBe(true);
    expect(engine.clock.now().getTime() - sentAt).toBeLessThan(100_000);
  });

  test('a part of a position that is closed by an order that cannot be read counts as the position shows', async () => {
    const { trade, userId, token } = await withLong(engine, { exchangePlatform: platform });
    const account = await engine.deps.findAccount(userId, platform);
    const lease = await acquireLease({ db: engine.db, key: `user:${userId}`, holder: 'test' });
    if (account === null || lease === null) throw new Error('no account or lease');
    const exchange = engine.deps.exchanges.get(platform);
    const of = { exchange, account, token, lease, tradeId: trade.id, reason: 'operator', keep: '100' };
    const close = async () => (await closePosition(engine.deps, { ...of, isMeant: () => true })).outcome;
    engine.venue.setFaults([
      { kind: 'partialFill', fraction: '0.5', on: { operation: 'close-position' } },
      { kind: 'html200', on: { operation: 'find-order', times: ALWAYS } },
    ]);
    expect(await close()).toBe('pending');
    const { size } = (await engine.holding(userId, token)).position ?? {};
    expect(await close()).toBe('pending');
    engine.clock.advance(91_000);
    expect(await close()).toBe('ended');
    expect(
      D(await sumPartialCloses(engine.db, trade.id))
        .plus(size ?? 0)
        .eq(trade.filledQuantity),
    ).toBe(true);
    engine.venue.setFaults([]);
    expect(await close()).toBe('pending');
    expect(await close()).toBe('kept');
    expect((await engine.holding(userId, token)).position).toMatchObject({ size: '100' });
    expect(
      D(await sumPartialCloses(engine.db, trade.id))
        .plus(100)
        .eq(trade.filledQuantity),
    ).toBe(true);
  });

  test('an order whose cancel is answered with what cannot be read goes on in time', async () => {
    const unreadable: VenueFault = { kind: 'html200', on: { operation: 'cancel-order' } };
    const { trade, userId } = await plan(platform, [rests, unreadable]);
    await follow(engine, trade.id, 10_000);
    const [first] = await engine.attempts(trade.id);
    expect(first).toMatchObject({ state: 'unfilled' });
    expect((await entriesOf(engine, userId))[0]).toMatchObject({ state: 'canceled' });
  });
});
