import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { D, toPlain } from '#domain/decimal.ts';
import type { StopScope } from '#domain/orders/trading-stop.ts';
import { stopEntries } from '#server/admin/stops/stop-entries.ts';
import type { EngineDeps } from '#server/deps.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import {
  flattenPositions,
  flattens,
  positionCloses,
  tradingStops,
  users,
} from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { CrashAt } from '#test/app/crashing-database.ts';
import { oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { createRowRefusals } from '#test/app/refused-rows.ts';
import { ALWAYS, planTrade, sharedTestEngine, strike } from '#test/app/shared-test-engine.ts';
import { OPERATOR } from '#test/app/test-audit.ts';
import { nextToken, openLongByHand, withLong } from '#test/app/token-holders.ts';
import { failedClosingConditions } from '../attention/failed-closings.ts';
import { endFlatten, findFlatten, insertFlatten, readProgress } from './flatten.store.ts';
import { createFlattener } from './flatten.ts';

/** Closing all positions, with the ledger of the exchange as the witness. */
const engine = sharedTestEngine();
afterEach(async () => {
  await engine.db.delete(flattenPositions);
  await engine.db.delete(flattens);
  await engine.db.delete(tradingStops);
});

/** As the route does it. */
async function begin(scope: StopScope): Promise<string> {
  await stopEntries(engine.deps, { scope, reason: null, until: null, by: OPERATOR, userId: null });
  const id = timeOrderedId();
  const row = {
    requestedBy: null,
    actor: OPERATOR,
    createdAt: engine.clock.now(),
    endsStopId: null,
    endedAt: null,
  };
  const { kind: scopeKind, value: scopeValue } = scope;
  await engine.db.transaction((tx) => insertFlatten(tx, { id, scopeKind, scopeValue, ...row }, 'paper'));
  return id;
}
const run = (deps: EngineDeps = engine.deps) => createFlattener(deps, createAccountReader(deps)).run();
async function progress(id: string) {
  const row = await findFlatten(engine.db, id);
  if (row === null) throw new Error('no flatten');
  return (await readProgress(engine.db, [row])).get(id);
}
const ofUser = (userId: string): StopScope => ({ kind: 'user', value: userId });
const ofToken = (token: string): StopScope => ({ kind: 'token', value: token });
const sizeOf = async (userId: string, token: string) =>
  toPlain((await engine.holding(userId, token)).position?.size ?? '0');
/** Closing orders of the user: never more than what was opened. */
async function closings(userId: string) {
  const orders = (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => reduceOnly);
  const closed = orders.reduce((sum, { filledSize }) => sum.plus(filledSize), D(0));
  return { orders: orders.length, closed: toPlain(closed) };
}
/** Somebody trades the account without the product. */
async function tradeByHand(userId: string, token: string, quantity: string): Promise<void> {
  const account = await engine.deps.findAccount(userId, 'Bitget');
  if (account === null) throw new Error('no account');
  const exchange = engine.deps.exchanges.get('Bitget');
  await exchange.prepareAccount(account, { token, leverage: 10 });
  const order = {
    token,
    side: 'buy',
    price: '100',
    quantity,
    leverage: 10,
    stopLoss: '90',
    takeProfit: '150',
  } as const;
  const notAfter = new Date(engine.clock.now().getTime() + 60_000);
  const clientOrderId = timeOrderedId().replaceAll('-', '');
  const placed = await exchange.placeOrder(account, { ...order, clientOrderId }, { notAfter });
  if (placed.outcome !== 'placed') throw new Error(JSON.stringify(placed));
}

describe('closing all positions', () => {
  // Requirements: additions-flatten-1
  test('closes what is in its scope with one reduce-only order each, and nothing else', async () => {
    const [one, two] = [await withLong(engine), await withLong(engine)];
    const id = await begin(ofToken(one.token));
    await run();
    expect(await closings(one.userId)).toEqual({ orders: 1, closed: toPlain(one.trade.filledQuantity) });
    expect(await engine.holding(one.userId, one.token)).toEqual({
      position: null,
      stopLoss: null,
      takeProfit: null,
    });
    expect(await sizeOf(two.userId, two.token)).toBe(toPlain(two.trade.filledQuantity));
    expect(await progress(id)).toMatchObject({ state: 'done', closed: 1, failed: [], skipped: [] });
    expect((await engine.trade(one.trade.id)).positionClosedAt).not.toBeNull();
  });

  // Requirements: additions-flatten-1
  testEveryCase('closes several positions of one user, and does nothing a second time', async () => {
    const { userId, token } = await withLong(engine);
    await engine.storeSignal({ token: 'MORE', price: '100' });
    await engine.settle();
    await begin(ofUser(userId));
    await run();
    await run();
    expect([await sizeOf(userId, token), await sizeOf(userId, 'MORE')]).toEqual(['0', '0']);
    const again = await begin(ofUser(userId));
    await run();
    expect(await progress(again)).toEqual({ state: 'done', total: 0, closed: 0, failed: [], skipped: [] });
    expect((await closings(userId)).orders).toBe(2);
  });

  // Requirements: additions-flatten-2
  test('leaves what was not opened here: another token, and what was added by hand', async () => {
    const { userId, token, trade } = await withLong(engine);
    await engine.storeSignal({ token: 'FOREIGN', price: '100' });
    await engine.venue.settle('FOREIGN');
    await tradeByHand(userId, token, '3');
    const id = await begin(ofUser(userId));
    await run();
    expect(await closings(userId)).toMatchObject({ closed: toPlain(trade.filledQuantity) });
    expect(await sizeOf(userId, token)).toBe('3');
    expect(await progress(id)).toMatchObject({ state: 'done', total: 1, closed: 1 });
    const again = await begin(ofUser(userId));
    await run();
    expect(await progress(again)).toMatchObject({ total: 0 });
    expect(await sizeOf(userId, token)).toBe('3');
  });

  // Requirements: additions-flatten-2
  testEveryCase('skips a position that another strategy opened', async () => {
    const { userId, token } = await withLong(engine);
    const id = await begin({ kind: 'strategy', value: 'UD Bot' });
    await run();
    expect(await progress(id)).toMatchObject({ total: 0, state: 'done' });
    expect(await sizeOf(userId, token)).not.toBe('0');
  });

  // Requirements: additions-flatten-1
  test('cancels resting entries first, and closes what they have filled', async () => {
    const { userId, token, trade } = await planTrade(engine, {
      faults: [{ kind: 'partialFill', fraction: '0.5' }],
    });
    await engine.advance(trade.id);
    const id = await begin(ofToken(token));
    await run();
    expect(await progress(id)).toMatchObject({ state: 'running', total: 1, closed: 0 });
    await engine.settle();
    engine.clock.advance(1_000);
    await run();
    expect(await progress(id)).toMatchObject({ state: 'done', total: 1, closed: 1 });
    expect(await sizeOf(userId, token)).toBe('0');
    expect(await engine.exchangeOrders(userId)).toMatchObject([{ state: 'canceled' }, { reduceOnly: true }]);
  });

  testEveryCase('forgets an entry that filled nothing', async () => {
    const { token, trade } = await planTrade(engine, { faults: [{ kind: 'restFirst' }] });
    await engine.advance(trade.id);
    const id = await begin(ofToken(token));
    await engine.settle();
    await run();
    expect(await progress(id)).toMatchObject({ state: 'done', total: 0, closed: 0 });
  });

  // Requirements: additions-flatten-1
  testEveryCase('closes the rest of a half-filled close, and never more', async () => {
    const { userId, token, trade } = await withLong(engine);
    await tradeByHand(userId, token, '3');
    strike(engine, userId, [{ kind: 'partialFill', fraction: '0.5', on: { operation: 'close-position' } }]);
    const id = await begin(ofToken(token));
    await run();
    // The rest of the order fills, or is cancelled and ordered again.
    for (let round = 0; round < 5 && (await progress(id))?.state === 'running'; round += 1) {
      engine.clock.advance(31_000);
      await run();
    }
    expect(await progress(id)).toMatchObject({ state: 'done', closed: 1 });
    expect(await closings(userId)).toMatchObject({ orders: 2, closed: toPlain(trade.filledQuantity) });
    expect(await sizeOf(userId, token)).toBe('3');
  });

  // Requirements: additions-flatten-1
  testEveryCase('waits for a limit of the exchange', async () => {
    const { userId, token, trade } = await withLong(engine);
    strike(engine, userId, [{ kind: 'tooManyRequests', on: { operation: 'close-position', times: 2 } }]);
    const id = await begin(ofToken(token));
    await run();
    expect(await progress(id)).toMatchObject({ state: 'done', closed: 1 });
    expect(await closings(userId)).toEqual({ orders: 1, closed: toPlain(trade.filledQuantity) });
    const sent = await engine.db.select().from(positionCloses).where(eq(positionCloses.userId, userId));
    expect(sent.map(({ state }) => state)).toEqual(['refused', 'refused', 'closed']);
  });
});

describe('a position that the exchange refuses to close', () => {
  // Requirements: additions-flatten-3
  test('has failed after three tries over a minute, is tried every minute, and closes in the end', async () => {
    const other = await withLong(engine);
    await engine.db.update(users).set({ isActive: false });
    const { userId, token, trade } = await withLong(engine);
    strike(engine, userId, [{ kind: 'closeRefused', on: { times: ALWAYS } }]);
    const id = await begin({ kind: 'all', value: null });
    const from = engine.clock.now().getTime();
    await run();
    expect(await sizeOf(other.userId, other.token)).toBe('0');
    expect(await progress(id)).toMatchObject({ state: 'running', failed: [] });
    const conditions = () => failedClosingConditions(engine.deps);
    while ((await progress(id))?.state === 'running') {
      expect(await conditions()).toEqual([]);
      engine.clock.advance(5_000);
      await run();
    }
    expect(engine.clock.now().getTime() - from).toBeGreaterThanOrEqual(60_000);
    expect(engine.clock.now().getTime() - from).toBeLessThan(75_000);
    expect((await progress(id))?.failed).toMatchObject([{ userId, token, reason: expect.any(String) }]);
    expect(await conditions()).toMatchObject([
      {
        code: 'position_not_closed',
        severity: 'critical',
        text: expect.stringContaining(`The ${token} position`),
      },
    ]);
    engine.venue.setFaults([]);
    engine.clock.advance(61_000);
    await run();
    expect(await progress(id)).toMatchObject({ state: 'done', failed: [] });
    expect(await conditions()).toEqual([]);
    expect((await closings(userId)).closed).toBe(toPlain(trade.filledQuantity));
  });

  // Requirements: additions-flatten-3
  testEveryCase('is not tried again once the closing is dismissed', async () => {
    const { userId, token } = await withLong(engine);
    strike(engine, userId, [{ kind: 'closeRefused', on: { times: ALWAYS } }]);
    const id = await begin(ofToken(token));
    await run();
    await endFlatten(engine.db, { id, now: engine.clock.now() });
    engine.venue.setFaults([]);
    engine.clock.advance(120_000);
    await run();
    expect(await sizeOf(userId, token)).not.toBe('0');
    expect(await progress(id)).toMatchObject({ state: 'done' });
  });
});

describe('a process that dies while it closes', () => {
  const POINTS: CrashAt[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((afterChanges) => ({ afterChanges }));

  // Requirements: additions-flatten-4
  test.each(oneOfEachKind(POINTS, (at) => at === POINTS[3]))(
    'at %j leaves the rest to its successor, which closes nothing twice',
    async (at) => {
      const { userId, token, trade } = await withLong(engine);
      await tradeByHand(userId, token, '3');
      const id = await begin(ofToken(token));
      const { deps, point, bury } = engine.mortal(at);
      const life = run(deps).catch((error: unknown) => {
        if (!point.isDead()) throw error;
      });
      await Promise.race([life, point.death]);
      await bury();
      await engine.restart();
      await run();
      expect(await progress(id)).toMatchObject({ state: 'done', closed: 1, failed: [] });
      expect((await closings(userId)).closed).toBe(toPlain(trade.filledQuantity));
      expect(await sizeOf(userId, token)).toBe('3');
    },
  );

  // Requirements: additions-flatten-2, additions-flatten-4
  testEveryCase(
    'behind its last order says closed, although the owner of the account has opened a position since',
    async () => {
      const { userId, token, trade } = await withLong(engine);
      const id = await begin(ofToken(token));
      const { deps, point, bury } = engine.mortal({ afterChanges: 6 });
      const life = run(deps).catch((error: unknown) => {
        if (!point.isDead()) throw error;
      });
      await Promise.race([life, point.death]);
      await bury();
      expect(await sizeOf(userId, token)).toBe('0');
      expect(await progress(id)).toMatchObject({ state: 'running', closed: 0 });
      await engine.restart();
      engine.clock.advance(600_000);
      await openLongByHand(engine, { userId, token });
      const held = await engine.holding(userId, token);

      await run();
      expect(await progress(id)).toMatchObject({ state: 'done', closed: 1, skipped: [], failed: [] });
      expect((await closings(userId)).closed).toBe(toPlain(trade.filledQuantity));
      expect(await engine.holding(userId, token)).toEqual(held);
      const sent = await engine.db.select().from(positionCloses).where(eq(positionCloses.userId, userId));
      expect(sent.map(({ state, error }) => [state, error])).toEqual([['closed', null]]);
      expect((await engine.trade(trade.id)).positionClosedAt).not.toBeNull();
    },
  );
});

// Requirements: additions-flatten-1, additions-flatten-2, additions-flatten-3, additions-flatten-4
testEveryCase(
  'through deaths, limits, refusals and half fills all of ours is closed or named, and nothing else is touched',
  async () => {
    const [users, tokens] = inject('everyCase') ? [50, 4] : [4, 2];
    const ours = Array.from({ length: tokens }, nextToken);
    const userIds: string[] = [];
    for (let user = 0; user < users; user += 1) {
      userIds.push(await engine.createUser({ positionSizingMethod: 'Risk Management' }));
    }
    const foreign: { userId: string; token: string; size: string }[] = [];
    for (const token of ours) {
      await engine.storeSignal({ token, price: '100' });
      await engine.settle();
    }
    for (const [index, userId] of userIds.entries()) {
      const token = index % 2 === 0 ? (ours[0] as string) : nextToken();
      if (index % 2 === 0) await tradeByHand(userId, token, '3');
      else {
        await engine.storeSignal({ token, price: '100' });
        await engine.venue.settle(token);
        await openLongByHand(engine, { userId, token });
      }
      foreign.push({ userId, token, size: index % 2 === 0 ? '3' : '1' });
    }
    const [refused, limited, halved, unanswered] = userIds as [string, string, string, string];
    const closing = 'close-position';
    engine.venue.setFaults([
      { kind: 'closeRefused', on: { userId: refused, times: ALWAYS } },
      { kind: 'tooManyRequests', on: { userId: limited, operation: closing, times: 3 } },
      { kind: 'partialFill', fraction: '0.5', on: { userId: halved, operation: closing, times: 2 } },
      { kind: 'cutAfterAccept', on: { userId: unanswered, operation: closing } },
    ]);

    const id = await begin({ kind: 'all', value: null });
    const deaths = inject('everyCase') ? [3, 8, 30, 75, 140, 5, 220] : [3, 8];
    for (const afterChanges of deaths) {
      const { deps, point, bury } = engine.mortal({ afterChanges });
      const life = run(deps).catch((error: unknown) => {
        if (!point.isDead()) throw error;
      });
      await Promise.race([life, point.death]);
      expect(point.isDead()).toBe(true);
      await bury();
      await engine.restart();
      engine.clock.advance(1_000);
    }
    for (let round = 0; round < 20 && (await progress(id))?.state === 'running'; round += 1) {
      await run();
      engine.clock.advance(31_000);
    }

    expect(await progress(id)).toMatchObject({ state: 'done', skipped: [] });
    // Other tests leave positions of their users open.
    const rows = (await engine.db.select().from(flattenPositions)).filter(({ userId }) =>
      userIds.includes(userId),
    );
    const inState = (state: string) => rows.filter((row) => row.state === state).map((row) => row.userId);
    expect(rows).toHaveLength(users * tokens);
    expect(inState('closed')).toHaveLength((users - 1) * tokens);
    expect(inState('failed')).toEqual(ours.map(() => refused));
    for (const { userId, token, size } of foreign) {
      const isKept = userId === refused;
      const orders = await engine.exchangeOrders(userId);
      for (const own of ours) {
        const sum = (reduceOnly: boolean) =>
          orders
            .filter((order) => order.token === own && order.reduceOnly === reduceOnly)
            .reduce((all, { filledSize }) => all.plus(filledSize), D(0));
        const added = own === token ? size : '0';
        expect(toPlain(sum(true))).toBe(isKept ? '0' : toPlain(sum(false).minus(added)));
      }
      if (!isKept) expect(await sizeOf(userId, token)).toBe(size);
    }
  },
);

test('a user whose result cannot be written keeps no other from being closed', async () => {
  const rows = await createRowRefusals(engine.deps.db.$client, 'flatten_positions', { on: 'update' });
  const [first, second] = [await withLong(engine), await withLong(engine)];
  await begin({ kind: 'all', value: null });
  await rows.refuse(first.userId);
  await run();
  expect(await sizeOf(second.userId, second.token)).toBe('0');
  await rows.allow();
  engine.clock.advance(60_000);
  await run();
  expect(await sizeOf(first.userId, first.token)).toBe('0');
});
