import { and, eq, inArray } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { positionCloses, users } from '#server/platform/db/schema.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';
import { atExchangeCall } from '#test/venues/dying-exchange.ts';
import type { VenueFault, VenueFaultKind } from '#test/venues/faults.ts';

/**
 * Every fault of the exchange, through the whole engine: two users in one workflow, the fault strikes one of them.
 * Whatever it is, I2: one live entry at most; I3: never more than planned; I4: nothing filled without a stop;
 * I7: the trade says what the ledger has; I8: the other user does not notice.
 */
let engine: TestEngine;
let count = 0;

beforeAll(async () => {
  // Long enough for a busy machine, short enough for the faults that answer never.
  engine = await startTestEngine({ config: { exchangeTimeoutMs: 1_200 } });
});
afterEach(async () => {
  engine.venue.setFaults([]);
  await engine.db.update(users).set({ isActive: false });
});
afterAll(() => engine.close());

const always = Number.POSITIVE_INFINITY;
const on = (path: string, times = 1, nth = 1) => ({ path, times, nth });

type Fault = VenueFaultKind & { on?: VenueFault['on'] };

interface Run {
  token: string;
  workflowId: string;
  signalId: string;
  struck: string;
  other: string;
}

async function start(faults: Fault[], before?: (users: { struck: string }) => void): Promise<Run> {
  count += 1;
  const token = `F${count}`;
  const struck = await engine.createUser({ positionSizingMethod: 'Risk Management', tradeOrderSet: 'A' });
  const other = await engine.createUser({ positionSizingMethod: 'Risk Management', tradeOrderSet: 'B' });
  before?.({ struck });
  const { signalId, workflowId } = await engine.storeSignal({ token, price: '100' });
  engine.venue.setFaults(faults.map((fault) => ({ ...fault, on: { ...fault.on, userId: struck } })));
  return { token, signalId, workflowId, struck, other };
}

async function tradeOf(run: Run, userId: string) {
  return (await engine.trades(run.signalId)).find((trade) => trade.userId === userId) ?? null;
}

async function expectSafe(run: Run, userId: string): Promise<void> {
  const trade = await tradeOf(run, userId);
  const entries = (await engine.exchangeOrders(userId)).filter(({ reduceOnly }) => !reduceOnly);
  expect(entries.every(({ state }) => state === 'filled' || state === 'canceled')).toBe(true);
  expect(new Set(entries.map(({ clientOrderId }) => clientOrderId)).size).toBe(entries.length);
  for (const { presetStopLoss, presetTakeProfit, marginMode, positionMode, leverage } of entries) {
    expect({ presetStopLoss, presetTakeProfit, marginMode, positionMode, leverage }).toEqual({
      presetStopLoss: '98',
      presetTakeProfit: '104',
      marginMode: 'isolated',
      positionMode: 'one_way_mode',
      leverage: 5,
    });
  }
  const sum = (name: 'filledSize' | 'filledValue' | 'fee') =>
    entries.reduce((total, entry) => total.plus(entry[name]), D(0));
  const filled = sum('filledSize');
  const { position, stopLoss } = await engine.holding(userId, run.token);
  if (position !== null) expect(stopLoss).toBe('98');
  if (trade === null) {
    expect(entries).toEqual([]);
    return;
  }
  expect(trade.state).toBe('done');
  expect(filled.lte(trade.plannedQuantity)).toBe(true);
  expect(D(trade.filledQuantity).eq(filled)).toBe(true);
  if (filled.isZero()) return expect(trade).toMatchObject({ success: false, averagePrice: null });
  expect(
    D(trade.averagePrice ?? 0)
      .minus(sum('filledValue').div(filled))
      .abs()
      .lt('1e-9'),
  ).toBe(true);
  expect(D(trade.fee ?? 0).eq(sum('fee'))).toBe(true);
}

async function expectTheOtherUnaffected(run: Run): Promise<void> {
  expect((await engine.outcomes(run.workflowId)).get(run.other)?.outcome).toBe('success');
  const trade = await tradeOf(run, run.other);
  expect(trade).toMatchObject({ success: true, fillStatus: 'filled', protectionStatus: 'verified' });
  expect(await engine.exchangeOrders(run.other)).toHaveLength(1);
}

async function finish(run: Run, deps = engine.deps) {
  await engine.settle({ deps });
  expect(engine.doubleEntries).toEqual([]);
  expect(await engine.workflow(run.workflowId)).toMatchObject({ status: 'completed', eligibleUsersCount: 2 });
  await expectSafe(run, run.struck);
  await expectSafe(run, run.other);
  await expectTheOtherUnaffected(run);
  const steps = (await engine.steps(run.workflowId)).filter(({ userId }) => userId === run.struck);
  return {
    outcome: (await engine.outcomes(run.workflowId)).get(run.struck)?.outcome,
    error: steps.findLast(({ errorMessage }) => errorMessage !== null)?.errorMessage ?? null,
    trade: await tradeOf(run, run.struck),
    orders: await engine.exchangeOrders(run.struck),
  };
}

describe('the order is filled and protected all the same, once', () => {
  const lost = on('place-order');
  test.each<[string, number, Fault[]]>([
    ['no answer after the order was accepted', 1, [{ kind: 'acceptThenTimeout', on: lost }]],
    ['no answer, and the order never arrived', 1, [{ kind: 'timeout', on: lost }]],
    ['a connection that is cut before the order arrives', 1, [{ kind: 'cutBeforeAccept', on: lost }]],
    ['a connection that is cut after the order arrived', 1, [{ kind: 'cutAfterAccept', on: lost }]],
    ['a 502 before', 1, [{ kind: 'badGatewayBefore', on: lost }]],
    ['a 502 after', 1, [{ kind: 'badGatewayAfter', on: lost }]],
    ['a 500 after', 1, [{ kind: 'badGatewayAfter', status: 500, on: lost }]],
    ['an empty 200', 1, [{ kind: 'empty200', on: lost }]],
    ['a 200 of HTML', 1, [{ kind: 'html200', on: lost }]],
    ['a body that stalls', 1, [{ kind: 'stalledBody', on: lost }]],
    ['a slow answer', 1, [{ kind: 'delay', delayMs: 300, on: lost }]],
    ['one 429', 1, [{ kind: 'tooManyRequests', on: lost }]],
    ['three 429', 1, [{ kind: 'tooManyRequests', on: on('place-order', 3) }]],
    ['a duplicate that is none', 1, [{ kind: 'refuse', code: '40786', on: lost }]],
    ['an unknown code', 1, [{ kind: 'refuse', code: '40010', on: lost }]],
    ['500 on the look-ups', 1, [{ kind: 'badGatewayBefore', status: 500, on: on('order/detail', 6) }]],
    [
      'a cut connection and 500 on the look-ups',
      1,
      [
        { kind: 'cutAfterAccept', on: lost },
        { kind: 'badGatewayBefore', status: 500, on: on('order/detail', 6) },
      ],
    ],
    [
      'an order that cannot be found at first',
      1,
      [{ kind: 'refuse', code: '40109', on: on('order/detail', 3) }],
    ],
    [
      'a cut connection and an order that cannot be found at first',
      1,
      [
        { kind: 'cutAfterAccept', on: lost },
        { kind: 'refuse', code: '40109', on: on('order/detail', 4) },
      ],
    ],
    ['a first order that rests', 2, [{ kind: 'restFirst' }]],
    ['a fill of 1 %', 2, [{ kind: 'partialFill', fraction: '0.01' }]],
    ['a fill of 50 %', 2, [{ kind: 'partialFill', fraction: '0.5' }]],
    ['a fill of 99 %', 2, [{ kind: 'partialFill', fraction: '0.99' }]],
    ['a cancel that loses to the fill', 1, [{ kind: 'restFirst' }, { kind: 'cancelLosesToFill' }]],
    [
      'a cancel that is acknowledged, of an order that fills',
      1,
      [{ kind: 'restFirst' }, { kind: 'cancelAcknowledgedButFilled' }],
    ],
    [
      'a half fill whose cancel loses to the fill of the rest',
      1,
      [{ kind: 'partialFill', fraction: '0.5' }, { kind: 'cancelLosesToFill' }],
    ],
    [
      'a cancel that never arrives',
      2,
      [{ kind: 'restFirst' }, { kind: 'cutBeforeAccept', on: on('cancel-order', 2) }],
    ],
    [
      'a cancel without an answer',
      2,
      [{ kind: 'restFirst' }, { kind: 'cutAfterAccept', on: on('cancel-order') }],
    ],
    [
      'a cancel in doubt and 500 on what is read after it',
      2,
      [
        { kind: 'restFirst' },
        { kind: 'badGatewayAfter', on: on('cancel-order') },
        { kind: 'badGatewayBefore', status: 500, on: on('order/detail', 3, 2) },
      ],
    ],
    [
      'a second order in doubt',
      2,
      [{ kind: 'restFirst' }, { kind: 'cutAfterAccept', on: on('place-order', 1, 2) }],
    ],
    ['a leverage that needs a second try', 1, [{ kind: 'badGatewayBefore', on: on('set-leverage') }]],
    ['a balance that needs a second try', 1, [{ kind: 'cutBeforeAccept', on: on('account/accounts') }]],
    [
      'positions that cannot be read for a moment',
      1,
      [{ kind: 'badGatewayBefore', on: on('all-position', 2, 2) }],
    ],
  ])('with %s', async (_name, orders, faults) => {
    const ended = await finish(await start(faults));
    expect(ended).toMatchObject({ outcome: 'success', error: null });
    expect(ended.trade).toMatchObject({ success: true, fillStatus: 'filled' });
    expect(ended.trade?.protectionStatus).toBe('verified');
    expect(ended.orders).toHaveLength(orders);
  });

  // Requirements: order-execution-3
  test.each<[string, Fault[]]>([
    ['a stop that the exchange loses', [{ kind: 'stopDropped' }]],
    [
      'a stop that is lost and needs two tries',
      [{ kind: 'stopDropped' }, { kind: 'cutBeforeAccept', on: on('place-tpsl-order') }],
    ],
    [
      'a stop that is lost and placed without an answer',
      [{ kind: 'stopDropped' }, { kind: 'cutAfterAccept', on: on('place-tpsl-order') }],
    ],
    ['a half fill without a stop', [{ kind: 'stopDropped' }, { kind: 'partialFill', fraction: '0.5' }]],
  ])('with %s, which is placed anew', async (_name, faults) => {
    const run = await start(faults);
    const ended = await finish(run);
    expect(ended.trade?.success).toBe(true);
    expect(['repaired', 'verified']).toContain(ended.trade?.protectionStatus);
    const { timeline } = await engine.events(ended.trade?.id ?? '');
    expect(
      timeline.some(
        (line) =>
          line.startsWith('Protection was missing and is placed: stop 98') ||
          line.startsWith('Protection read back'),
      ),
    ).toBe(true);
    expect(await engine.holding(run.struck, run.token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
  });
});

describe('nothing is ordered, and the reason is said', () => {
  test.each<[string, string, RegExp, Fault[]]>([
    [
      '429 for ever',
      'failed',
      /^Bitget: too many requests$/,
      [{ kind: 'tooManyRequests', on: on('place-order', always) }],
    ],
    [
      'a refused order',
      'failed',
      /^Bitget: no \(40762\)$/,
      [{ kind: 'refuse', code: '40762', message: 'no', on: on('place-order', always) }],
    ],
    [
      'a leverage that is accepted and not set',
      'failed',
      /^Leverage and margin mode could not be set: Bitget reads back one_way_mode, isolated, leverage 20 instead of /,
      [{ kind: 'leverageIgnored', on: { times: always } }],
    ],
    [
      'a refused leverage',
      'failed',
      /^Leverage and margin mode could not be set: Bitget: too high \(40797\)$/,
      [{ kind: 'refuse', code: '40797', message: 'too high', on: on('set-leverage', always) }],
    ],
    [
      'a leverage that cannot be set for ever',
      'failed',
      /^Leverage and margin mode could not be set: /,
      [{ kind: 'badGatewayBefore', on: on('set-leverage', always) }],
    ],
    [
      'a refused margin mode',
      'failed',
      /^Leverage and margin mode could not be set: /,
      [{ kind: 'refuse', code: '45117', on: on('set-margin-mode', always) }],
    ],
    [
      'a refused balance',
      'skipped',
      /^Balance information unavailable; user will be skipped$/,
      [{ kind: 'refuse', code: '40014', on: on('account/accounts', always) }],
    ],
    [
      'a balance that cannot be read',
      'skipped',
      /^Balance information unavailable; user will be skipped$/,
      [{ kind: 'badGatewayBefore', on: on('account/accounts', always) }],
    ],
    [
      'positions that cannot be read',
      'skipped',
      /^Bitget could not be asked: .*; user will be skipped$/,
      [{ kind: 'badGatewayBefore', on: on('all-position', always) }],
    ],
  ])('with %s', async (_name, outcome, reason, faults) => {
    const ended = await finish(await start(faults));
    expect(ended.orders).toEqual([]);
    expect(ended.outcome).toBe(outcome);
    expect(ended.error).toMatch(reason);
  });

  test('with a wrong key', async () => {
    const run = await start([]);
    const deps = {
      ...engine.deps,
      findAccount: async (...parameters: Parameters<typeof engine.deps.findAccount>) => {
        const account = await engine.deps.findAccount(...parameters);
        if (account === null || account.userId !== run.struck) return account;
        return { ...account, credentials: { ...account.credentials, apiSecret: 'wrong' } };
      },
    };
    const ended = await finish(run, deps);
    expect(ended.orders).toEqual([]);
    expect(ended.outcome).toBe('skipped');
    expect(ended.error).toMatch(/^Bitget could not be asked: .* \(40009\); user will be skipped$/);
  });

  test('with orders that never fill', async () => {
    const ended = await finish(await start([{ kind: 'restFirst', on: { times: always } }]));
    expect(ended.orders.map(({ state }) => state)).toEqual(['canceled', 'canceled']);
    expect(ended).toMatchObject({ outcome: 'failed', error: 'The order was not filled after two attempts' });
  });
});

describe('a filled position whose stop cannot be placed', () => {
  const unprotected: Fault[] = [
    { kind: 'stopDropped' },
    { kind: 'refuse', code: '40917', message: 'no stop', on: on('place-tpsl-order', always) },
  ];
  const reason = 'The stop loss could not be placed, so the position was closed at market';

  // Requirements: order-execution-3
  test.each<[string, Fault[]]>([
    ['is closed at market', []],
    ['is closed when it is a part', [{ kind: 'partialFill', fraction: '0.5' }]],
    [
      'is closed once when the close has no answer',
      [{ kind: 'cutAfterAccept', on: on('place-order', 1, 2) }],
    ],
    [
      'is closed in the end when closing is refused for a while',
      [{ kind: 'refuse', code: '40020', on: on('place-order', 4, 2) }],
    ],
  ])('%s, and the trade fails with that reason', async (_name, more) => {
    const run = await start([...unprotected, ...more]);
    const ended = await finish(run);
    expect(ended).toMatchObject({ outcome: 'failed', error: reason });
    expect(ended.trade).toMatchObject({ success: false, protectionStatus: 'closed', error: reason });
    expect((await engine.holding(run.struck, run.token)).position).toBeNull();
    const [entry, ...closes] = ended.orders;
    expect(closes).toMatchObject([
      { reduceOnly: true, side: 'sell', state: 'filled', size: entry?.filledSize },
    ]);
    // It fills when it is taken.
    const nakedMs = (closes[0]?.createdAt.getTime() ?? 0) - (entry?.createdAt.getTime() ?? 0);
    expect(nakedMs).toBeGreaterThanOrEqual(5_000);
    expect(nakedMs).toBeLessThanOrEqual(10_000);
    const rows = await engine.db.select().from(positionCloses).where(eq(positionCloses.userId, run.struck));
    expect(rows.every(({ state }) => state === 'closed' || state === 'refused')).toBe(true);
  });

  test('whose close rests is waited for, and nothing more is sent', async () => {
    const run = await start([...unprotected, { kind: 'restFirst', on: on('place-order', 1, 2) }]);
    const mine = (await engine.plan(run.workflowId)).find(({ userId }) => userId === run.struck);
    if (mine === undefined) throw new Error('nothing was planned');
    let trade = mine;
    while (trade.state !== 'closing') trade = await engine.advance(mine.id);
    for (let tries = 0; tries < 5; tries += 1) trade = await engine.advance(mine.id);
    expect(trade.state).toBe('closing');
    expect(await engine.exchangeOrders(run.struck)).toMatchObject([
      { reduceOnly: false, state: 'filled' },
      { reduceOnly: true, state: 'live' },
    ]);
    await engine.storeCandle({ token: run.token, price: '100' });
    const ended = await finish(run);
    expect(ended).toMatchObject({ outcome: 'failed', error: reason });
    expect(ended.orders).toHaveLength(2);
  });

  test.each([
    ['once is placed again', 1, { success: true, protectionStatus: 'repaired' }],
    ['every time is closed at market', always, { success: false, protectionStatus: 'closed' }],
  ])('whose new stop the exchange loses %s', async (_name, times, end) => {
    const run = await start([{ kind: 'stopDropped' }]);
    let left = times;
    const deps = atExchangeCall(engine.deps, {
      call: 'placeProtection',
      when: 'after',
      async happens() {
        if (left === 0) return;
        left -= 1;
        await engine.db
          .update(paperTriggerOrders)
          .set({ state: 'cancelled' })
          .where(eq(paperTriggerOrders.userId, run.struck));
      },
    });
    const ended = await finish(run, deps);
    expect(ended.trade).toMatchObject(end);
    const { position, stopLoss } = await engine.holding(run.struck, run.token);
    expect(position === null).toBe(!end.success);
    expect(stopLoss).toBe(end.success ? '98' : null);
  });

  test('is kept when only the take profit cannot be placed: its stop is there', async () => {
    const run = await start([
      { kind: 'refuse', code: '40917', message: 'no target', on: on('place-tpsl-order', always) },
    ]);
    const deps = atExchangeCall(engine.deps, {
      call: 'fetchHolding',
      when: 'before',
      async happens() {
        await engine.db
          .update(paperTriggerOrders)
          .set({ state: 'cancelled' })
          .where(
            and(eq(paperTriggerOrders.userId, run.struck), eq(paperTriggerOrders.planType, 'pos_profit')),
          );
      },
    });
    const ended = await finish(run, deps);
    expect(ended.trade).toMatchObject({ success: true, protectionStatus: 'verified' });
    const { position, stopLoss, takeProfit } = await engine.holding(run.struck, run.token);
    expect(position).not.toBeNull();
    expect({ stopLoss, takeProfit }).toEqual({ stopLoss: '98', takeProfit: null });
    const { timeline } = await engine.events(ended.trade?.id ?? '');
    expect(timeline.join('\n')).toContain('The take profit is missing and could not be placed');
  });

  test('that cannot be closed either halts its user, who opens nothing else, while everybody else does', async () => {
    const run = await start([
      ...unprotected,
      { kind: 'refuse', code: '40020', message: 'no', on: on('place-order', always, 2) },
    ]);
    const planned = await engine.plan(run.workflowId);
    const mine = planned.find(({ userId }) => userId === run.struck);
    const others = planned.find(({ userId }) => userId === run.other);
    if (mine === undefined || others === undefined) throw new Error('nothing was planned');
    await engine.advance(others.id);
    await engine.advance(others.id);
    let trade = mine;
    while (trade.state !== 'closing') trade = await engine.advance(mine.id);
    for (let tries = 0; tries < 12; tries += 1) trade = await engine.advance(mine.id);
    expect(trade).toMatchObject({ state: 'closing', success: null, protectionStatus: 'missing' });

    engine.clock.advance(5 * 60_000);
    await engine.plan(run.workflowId);
    expect(await engine.workflow(run.workflowId)).toMatchObject({ status: 'completed' });
    expect((await engine.outcomes(run.workflowId)).get(run.struck)?.outcome).toBe('failed');

    await engine.db
      .update(users)
      .set({ isActive: false })
      .where(inArray(users.id, [run.other]));
    const third = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const next = await engine.storeSignal({ token: `${run.token}X`, price: '100' });
    const [only, ...more] = await engine.plan(next.workflowId);
    expect(only?.userId).toBe(third);
    expect(more).toEqual([]);
    const decision = (await engine.outcomes(next.workflowId)).get(run.struck);
    expect(decision).toMatchObject({ status: 'not eligible', rule: 'Trading halt', layer: 2 });
    expect(decision?.reason).toMatch(
      new RegExp(
        `^Trading of this user is halted since 20.*: The ${run.token} position on Bitget has no stop loss and is not closed yet .*; an administrator has to resume it$`,
      ),
    );

    engine.venue.setFaults([]);
    await engine.settle();
    const { state, success, protectionStatus, unprotectedSince } = await engine.trade(mine.id);
    expect({ state, success, protectionStatus, unprotectedSince }).toEqual({
      state: 'done',
      success: true,
      protectionStatus: 'repaired',
      unprotectedSince: null,
    });
    expect(await engine.holding(run.struck, run.token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
    const { timeline } = await engine.events(mine.id);
    expect(timeline.filter((line) => line.startsWith('Trading of this user is halted'))).toHaveLength(1);
  });
});
