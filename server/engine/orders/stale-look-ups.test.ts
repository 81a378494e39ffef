import { afterEach, describe, expect } from 'vitest';
import { D } from '#domain/decimal.ts';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import type { Config } from '#server/platform/config/config.ts';
import { doubtOf, follow, writeOff } from '#test/app/followed-trades.ts';
import { crossed, firstCases, testEveryCase, testInTurn } from '#test/app/in-turn.ts';
import { ALWAYS, entriesOf, planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import type { VenueRequest } from '#test/venues/http.ts';

/** I3, I6: an exchange whose order look-ups lag behind its positions. */
let beforeRequest = async (_request: VenueRequest) => {};
const engine = sharedTestEngine({ watch: { before: (request) => beforeRequest(request) } });
afterEach(() => {
  beforeRequest = async () => {};
});

const isStale = (afterCancelMs?: number): VenueFault => ({
  kind: 'staleLookUps',
  ...(afterCancelMs === undefined ? {} : { afterCancelMs }),
});
const partly = (fraction: string): VenueFault => ({ kind: 'partialFill', fraction });
const WAITS: [string, Partial<Config>][] = [
  ['the default waits', {}],
  ['short waits', { verifyFirstMs: 300, verifySecondMs: 300, cancelDelayMs: 100 }],
];
const SETTINGS = crossed(EXCHANGE_PLATFORMS, WAITS).map(([platform, [name, waits]]) => ({
  platform,
  name,
  waits,
}));

async function plan(platform: ExchangePlatform, waits: Partial<Config>, faults: VenueFault[]) {
  const planned = await planTrade(engine, { settings: { exchangePlatform: platform }, faults });
  const deps = engine.depsWith({ config: { ...engine.deps.config, ...waits } });
  const held = async () => {
    const { position, stopLoss } = await engine.holding(planned.userId, planned.token);
    return { size: position?.size ?? D(0), stopLoss };
  };
  return { ...planned, deps, held };
}

describe.each(firstCases(SETTINGS, 3))(
  'at $platform with $name, an order whose look-ups lag behind its fill',
  (setting) => {
    const { platform, waits } = setting;
    const test = testInTurn(SETTINGS, setting);

    // Requirements: order-execution-6
    test('gets a second attempt for the rest only, once the look-up shows what has filled', async () => {
      const planned = await plan(platform, waits, [partly('0.4'), isStale(2_500)]);
      await engine.settle({ deps: planned.deps });
      const { trade, userId } = planned;
      const entries = await entriesOf(engine, userId);
      expect(entries).toHaveLength(2);
      expect(D(entries[1]?.size ?? 0).lte(D(trade.plannedQuantity).minus(entries[0]?.filledSize ?? 0))).toBe(
        true,
      );
      const { size, stopLoss } = await planned.held();
      expect(D(size).lte(trade.plannedQuantity)).toBe(true);
      expect(stopLoss).toBe(trade.stopLoss);
      const ended = await engine.trade(trade.id);
      expect(ended).toMatchObject({ success: true, protectionStatus: 'verified' });
      expect(D(ended.filledQuantity).eq(size)).toBe(true);
    });

    test('ends as filled when the position shows the whole quantity with stop and target', async () => {
      const planned = await plan(platform, waits, [isStale()]);
      await engine.settle({ deps: planned.deps });
      const { trade, userId } = planned;
      const [order, ...more] = await entriesOf(engine, userId);
      expect(more).toEqual([]);
      expect(await engine.trade(trade.id)).toMatchObject({
        success: true,
        fillStatus: 'filled',
        filledQuantity: trade.plannedQuantity,
        protectionStatus: 'verified',
      });
      const [attempt] = await engine.attempts(trade.id);
      const paid = D(order?.filledValue ?? 0).div(order?.filledSize ?? 1);
      expect(
        D(attempt?.averagePrice ?? 0)
          .minus(paid)
          .abs()
          .lt('1e-9'),
      ).toBe(true);
      const { calls } = await engine.events(trade.id);
      expect(calls.slice(calls.indexOf('place-order'))).toEqual(['place-order', 'positions']);
    });

    test('counts what the position holds of a part after a minute: no second attempt follows', async () => {
      const planned = await plan(platform, waits, [partly('0.4'), isStale()]);
      await engine.settle({ deps: planned.deps });
      const { trade, userId, plannedAt } = planned;
      expect(engine.clock.now().getTime() - plannedAt.getTime()).toBeGreaterThanOrEqual(60_000);
      const [order, ...more] = await entriesOf(engine, userId);
      expect(more).toEqual([]);
      const ended = await engine.trade(trade.id);
      expect(ended).toMatchObject({ success: true, fillStatus: 'partial', protectionStatus: 'verified' });
      expect(D(ended.filledQuantity).eq(order?.filledSize ?? 0)).toBe(true);
      const { timeline } = await engine.events(trade.id);
      expect(timeline.join('\n')).toContain('no second attempt: its fill was read from the position');
    });

    testEveryCase(
      'stays in doubt when the stop has closed what was seen of a part: nothing follows it',
      async () => {
        const planned = await plan(platform, waits, [partly('0.4'), isStale()]);
        const { trade, token, userId } = planned;
        await follow(engine, planned.trade.id, 1_500, planned.deps);
        expect(await engine.trade(trade.id)).toMatchObject({ protectionStatus: 'verified' });
        await engine.storeCandle({ token, price: '97' });
        expect(D((await planned.held()).size).isZero()).toBe(true);
        const seen = (await engine.trade(trade.id)).protectedQuantity;
        await follow(engine, planned.trade.id, 3 * 60_000, planned.deps);
        expect(await entriesOf(engine, userId)).toHaveLength(1);
        const problem = `${platform} shows 0 filled, but has shown a position of ${seen} ${token}`;
        expect(await doubtOf(engine, trade.id)).toBe(problem);
        expect(await writeOff(engine, trade.id)).toMatchObject({
          state: 'done',
          success: false,
          fillStatus: 'unknown',
        });
      },
    );
  },
);

describe.each(EXCHANGE_PLATFORMS)('at %s', (platform) => {
  const test = testInTurn(EXCHANGE_PLATFORMS, platform);

  test('an order that was not filled gets its second attempt at once, and the position is the last that is read before it', async () => {
    const rests: VenueFault = { kind: 'restFirst', on: { times: ALWAYS } };
    const planned = await plan(platform, {}, [rests]);
    await engine.settle({ deps: planned.deps });
    const { calls } = await engine.events(planned.trade.id);
    const cancelled = calls.indexOf('cancel-order');
    const second = calls.lastIndexOf('place-order');
    // The watch of its fills, both comparisons, and at Bybit the settings that come with the position.
    const reads = platform === 'Bybit' ? 4 : 3;
    expect(calls[second - 1]).toBe('positions');
    expect(calls.slice(cancelled, second).filter((type) => type === 'positions')).toHaveLength(reads);
    expect(await entriesOf(engine, planned.userId)).toHaveLength(2);
  });

  testEveryCase(
    'an order that stays open after its cancel comes into doubt, and is cancelled again all the same',
    async () => {
      const rests: VenueFault = { kind: 'restFirst', on: { times: ALWAYS } };
      const lives: VenueFault = { kind: 'lateFill', afterMs: 24 * 3_600_000, on: { times: ALWAYS } };
      const planned = await plan(platform, {}, [rests, lives]);
      const { trade, userId } = planned;
      await follow(engine, planned.trade.id, 3 * 60_000, planned.deps);
      const problem = `${platform} still shows the order as open after its cancel`;
      expect(await doubtOf(engine, trade.id)).toBe(problem);
      const cancels = async () =>
        (await engine.events(trade.id)).calls.filter((type) => type === 'cancel-order').length;
      const before = await cancels();
      await follow(engine, planned.trade.id, 2 * 60_000, planned.deps);
      expect(await cancels()).toBeGreaterThan(before);
      expect(await entriesOf(engine, userId)).toHaveLength(1);
      expect(await writeOff(engine, trade.id)).toMatchObject({
        state: 'done',
        success: false,
        fillStatus: 'unknown',
      });
    },
  );

  // Requirements: order-execution-6
  test.each(
    firstCases([
      ['while the price for the second attempt is read', 1],
      ['after the second attempt was planned', 2],
    ]),
  )('an order that fills %s, long after its cancel, is not followed by another', async (_name, number) => {
    const lives: VenueFault = { kind: 'lateFill', afterMs: 24 * 3_600_000 };
    const planned = await plan(platform, {}, [{ kind: 'restFirst' }, lives, isStale(20_000)]);
    const { trade, token, userId } = planned;
    let hasFilled = false;
    beforeRequest = async ({ path }) => {
      const attempts = await engine.attempts(trade.id);
      const isNow =
        number === 1 ? attempts[0]?.state === 'unfilled' && path.includes('ticker') : attempts.length === 2;
      if (!isNow || hasFilled) return;
      hasFilled = true;
      await engine.storeCandle({ token, price: '100' });
    };
    await engine.settle();
    expect(hasFilled).toBe(true);
    expect(await entriesOf(engine, userId)).toMatchObject([{ state: 'filled' }]);
    expect(await engine.trade(trade.id)).toMatchObject({
      success: true,
      fillStatus: 'filled',
      filledQuantity: trade.plannedQuantity,
      protectionStatus: 'verified',
    });
    const { size, stopLoss } = await planned.held();
    expect([size, stopLoss]).toEqual([trade.plannedQuantity, trade.stopLoss]);
    const { timeline } = await engine.events(trade.id);
    expect(timeline.join('\n')).toContain('Attempt 2: not sent');
  });
});
