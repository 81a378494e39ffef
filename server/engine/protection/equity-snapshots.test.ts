import { and, asc, eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { accountFigures, equitySnapshots, userSettings, users } from '#server/platform/db/schema.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { flatten, withLong } from '#test/app/token-holders.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import { createProtectionAudit } from './audit-protection.ts';
import { createEquitySnapshots } from './equity-snapshots.ts';

const engine = sharedTestEngine({ config: { displayTimezone: 'Europe/Berlin' } });
let snapshots: ReturnType<typeof createEquitySnapshots>;

beforeEach(() => {
  snapshots = createEquitySnapshots(engine.deps);
});

const audit = () =>
  withLease({ db: engine.db, key: 'protection:audit', holder: 'test' }, (lease) =>
    createProtectionAudit(engine.deps).run(lease),
  );

const takenOf = (userId: string) =>
  engine.db
    .select()
    .from(equitySnapshots)
    .where(eq(equitySnapshots.userId, userId))
    .orderBy(asc(equitySnapshots.at));

const reasonsOf = async (userId: string) => (await takenOf(userId)).map(({ takenFor }) => takenFor);

async function figuresOf(userId: string) {
  const [figures] = await engine.db
    .select()
    .from(accountFigures)
    .where(and(eq(accountFigures.userId, userId), eq(accountFigures.exchangePlatform, 'Bitget')));
  return figures;
}

async function runAt(at: string) {
  engine.clock.set(new Date(at));
  await snapshots.run();
}

// Requirements: additions-limits-1
describe('snapshots of equity', () => {
  test('are taken once an hour, and at the start of a day of the display zone', async () => {
    const userId = await engine.createUser();
    await runAt('2026-06-01T10:10:00.000Z');
    await runAt('2026-06-01T10:59:59.000Z');
    expect(await reasonsOf(userId)).toEqual(['day']);
    await runAt('2026-06-01T11:00:00.000Z');
    await runAt('2026-06-01T11:00:05.000Z');
    expect(await reasonsOf(userId)).toEqual(['day', 'hour']);
    // Midnight in Berlin.
    await runAt('2026-06-01T21:59:59.000Z');
    await runAt('2026-06-01T22:00:00.000Z');
    expect(await reasonsOf(userId)).toEqual(['day', 'hour', 'hour', 'day']);
    const [first] = await takenOf(userId);
    expect(first).toMatchObject({
      exchangeMode: engine.deps.config.exchangeMode,
      equity: '10000',
      walletBalance: '10000',
      openProfit: '0',
      netDeposits: null,
      positions: [],
    });
  });

  test('follow the days on which the clocks change', async () => {
    const userId = await engine.createUser();
    // 29 March 2026 has 23 hours in Berlin, 25 October 25.
    for (const at of [
      '2026-03-28T23:00:00Z',
      '2026-03-29T21:59:59Z',
      '2026-03-29T22:00:00Z',
      '2026-10-24T22:00:00Z',
      '2026-10-25T22:59:59Z',
      '2026-10-25T23:00:00Z',
    ]) {
      await runAt(at);
    }
    expect(await reasonsOf(userId)).toEqual(['day', 'hour', 'day', 'day', 'hour', 'day']);
  });

  test('are taken half a minute after the end of a position, and show what was open before', async () => {
    engine.clock.set(new Date('2026-11-02T10:00:00.000Z'));
    const { userId, token, trade } = await withLong(engine);
    await snapshots.run();
    await engine.storeCandle({ token, price: '101' });
    engine.clock.advance(60_000);
    await audit();
    const profit = Number(trade.filledQuantity);
    const figures = await figuresOf(userId);
    expect(figures?.positions).toEqual([
      {
        tradeId: trade.id,
        strategy: 'tesla',
        quantity: trade.filledQuantity,
        markPrice: '101',
        stopLoss: '98',
        openProfit: String(profit),
      },
    ]);
    await flatten(engine, { userId, token });
    engine.clock.advance(60_000);
    await audit();
    await snapshots.run();
    expect(await takenOf(userId)).toHaveLength(1);
    engine.clock.advance(30_000);
    await snapshots.run();
    await snapshots.run();
    const [before, after, ...more] = await takenOf(userId);
    expect(more).toEqual([]);
    expect(before?.positions).toHaveLength(1);
    expect(after).toMatchObject({ takenFor: 'trade', openProfit: '0', positions: [] });
    expect(Number(after?.equity)).toBeGreaterThan(Number(before?.equity));
    expect((await figuresOf(userId))?.equity).toBe(after?.equity);
  });

  test('of an account that does not answer are tried again a minute later, and hold up nobody else', async () => {
    engine.clock.set(new Date('2026-11-03T10:00:00.000Z'));
    const [silent, other] = [await engine.createUser(), await engine.createUser()];
    let asked = 0;
    let isSilent = true;
    const deps = answering(engine.deps, ({ fetchBalance }) => ({
      async fetchBalance(...call) {
        if (call[0].userId === silent) asked += 1;
        if (call[0].userId === silent && isSilent) throw new Error('silent');
        return await fetchBalance(...call);
      },
    }));
    snapshots = createEquitySnapshots(deps);
    await snapshots.run();
    await snapshots.run();
    expect([await reasonsOf(silent), await reasonsOf(other), asked]).toEqual([[], ['day'], 1]);
    isSilent = false;
    engine.clock.advance(60_000);
    await snapshots.run();
    expect(await reasonsOf(silent)).toEqual(['day']);
  });

  test('leave out inactive users without a position', async () => {
    engine.clock.set(new Date('2026-11-04T10:00:00.000Z'));
    const userId = await engine.createUser();
    await engine.db.update(users).set({ isActive: false }).where(eq(users.id, userId));
    await snapshots.run();
    expect(await reasonsOf(userId)).toEqual([]);
  });

  testEveryCase('keep the accounts of a user at two exchanges apart', async () => {
    engine.clock.set(new Date('2026-11-05T10:00:00.000Z'));
    const { userId } = await withLong(engine);
    await engine.db
      .update(userSettings)
      .set({ exchangePlatform: 'Bybit' })
      .where(eq(userSettings.userId, userId));
    await snapshots.run();
    const taken = await takenOf(userId);
    expect(taken.map(({ exchangePlatform }) => exchangePlatform).sort()).toEqual(['Bitget', 'Bybit']);
  });
});
