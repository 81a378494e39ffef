import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { positionCloses, users } from '#server/platform/db/schema.ts';
import { stepUntil } from '#test/app/followed-trades.ts';
import { firstCases, oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { ALWAYS, entriesOf, sharedTestEngine, strike } from '#test/app/shared-test-engine.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { atExchangeCall } from '#test/venues/dying-exchange.ts';
import type { VenueFault } from '#test/venues/faults.ts';

/**
 * Faults of the exchange through the whole engine: two users in one workflow, the fault hits one of them.
 * I2: at most one live entry; I3: never more than planned; I4: nothing filled without a stop; I7: the trade matches the
 * ledger; I8: the other user is unaffected. The fault matrix (test/fault-matrix) covers the other faults.
 */
// Long enough for a busy machine, short enough for exchanges that never answer.
const engine = sharedTestEngine({ config: { exchangeTimeoutMs: 1_200 } });

const on = (path: string, times = 1, nth = 1) => ({ path, times, nth });

interface Run {
  token: string;
  workflowId: string;
  signalId: string;
  struck: string;
  other: string;
}

async function start(faults: VenueFault[]): Promise<Run> {
  const token = nextToken();
  const struck = await engine.createUser({ positionSizingMethod: 'Risk Management', tradeOrderSet: 'A' });
  const other = await engine.createUser({ positionSizingMethod: 'Risk Management', tradeOrderSet: 'B' });
  const { signalId, workflowId } = await engine.storeSignal({ token, price: '100' });
  strike(engine, struck, faults);
  return { token, signalId, workflowId, struck, other };
}

async function tradeOf(run: Run, userId: string) {
  return (await engine.trades(run.signalId)).find((trade) => trade.userId === userId) ?? null;
}

async function expectSafe(run: Run, userId: string): Promise<void> {
  const trade = await tradeOf(run, userId);
  const entries = await entriesOf(engine, userId);
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
  // An order that its position has proven is looked up for its fee by an audit.
  if (trade.fee !== null) expect(D(trade.fee).eq(sum('fee'))).toBe(true);
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

describe('the order is still filled and protected, once', () => {
  const lost = on('place-order');
  const faulty: [name: string, orders: number, faults: VenueFault[]][] = [
    ['no answer, and the order never arrived', 1, [{ kind: 'timeout', on: lost }]],
    ['a connection that is cut before the order arrives', 1, [{ kind: 'cutBeforeAccept', on: lost }]],
    ['a connection that is cut after the order arrived', 1, [{ kind: 'cutAfterAccept', on: lost }]],
    ['a 500 after', 1, [{ kind: 'badGatewayAfter', status: 500, on: lost }]],
    ['a body that stalls', 1, [{ kind: 'stalledBody', on: lost }]],
    ['a slow answer', 1, [{ kind: 'delay', delayMs: 300, on: lost }]],
    ['three 429', 1, [{ kind: 'tooManyRequests', on: on('place-order', 3) }]],
    ['a refusal as a duplicate that does not exist', 1, [{ kind: 'refuse', code: '40786', on: lost }]],
    ['an unknown code', 1, [{ kind: 'refuse', code: '40010', on: lost }]],
    ['an order not found at first', 1, [{ kind: 'refuse', code: '40109', on: on('order/detail', 3) }]],
    ['a half fill', 2, [{ kind: 'partialFill', fraction: '0.5' }]],
    ['a cancel that loses to the fill', 1, [{ kind: 'restFirst' }, { kind: 'cancelLosesToFill' }]],
    [
      'a cancel that never arrives',
      2,
      [{ kind: 'restFirst' }, { kind: 'cutBeforeAccept', on: on('cancel-order', 2) }],
    ],
    [
      'a cancel in doubt and a 500 on the read after it',
      2,
      [
        { kind: 'restFirst' },
        { kind: 'badGatewayAfter', on: on('cancel-order') },
        { kind: 'badGatewayBefore', status: 500, on: on('order/detail', 3, 2) },
      ],
    ],
    ['a leverage that needs a second try', 1, [{ kind: 'badGatewayBefore', on: on('set-leverage') }]],
    ['a balance that needs a second try', 1, [{ kind: 'cutBeforeAccept', on: on('account/account') }]],
    ['positions unreadable for a moment', 1, [{ kind: 'badGatewayBefore', on: on('single-position', 2, 2) }]],
  ];
  /** Their neighbours: requests and answers that are lost or refused in other ways, and other requests tried twice. */
  const neighbours = [
    'no answer, and the order never arrived',
    'a body that stalls',
    'a slow answer',
    'a 500 after',
    'three 429',
    'an order not found at first',
    'a refusal as a duplicate that does not exist',
    'a half fill',
    'a cancel that never arrives',
    'a cancel in doubt and a 500 on the read after it',
    'a leverage that needs a second try',
    'a balance that needs a second try',
    'positions unreadable for a moment',
  ];
  test.each(oneOfEachKind(faulty, ([name]) => !neighbours.includes(name)))(
    'with %s',
    async (_name, orders, faults) => {
      const ended = await finish(await start(faults));
      expect(ended).toMatchObject({ outcome: 'success', error: null });
      expect(ended.trade).toMatchObject({ success: true, fillStatus: 'filled' });
      expect(ended.trade?.protectionStatus).toBe('verified');
      expect(ended.orders).toHaveLength(orders);
    },
  );

  // Requirements: order-execution-3
  test.each<[string, VenueFault]>(
    firstCases([
      ['needs two tries', { kind: 'cutBeforeAccept', on: on('place-tpsl-order') }],
      ['is placed without an answer', { kind: 'cutAfterAccept', on: on('place-tpsl-order') }],
    ]),
  )('with a lost stop that %s', async (_name, fault) => {
    const run = await start([{ kind: 'stopDropped' }, fault]);
    const ended = await finish(run);
    expect(ended.trade?.success).toBe(true);
    expect(['repaired', 'verified']).toContain(ended.trade?.protectionStatus);
    const { timeline } = await engine.events(ended.trade?.id ?? '');
    expect(timeline.join('\n')).toMatch(/^Protection (was missing and is placed: stop 98|read back)/m);
    expect(await engine.holding(run.struck, run.token)).toMatchObject({ stopLoss: '98', takeProfit: '104' });
  });
});

describe('nothing is ordered, and the reason is given', () => {
  const unset = 'Leverage and margin mode could not be set: ';
  const away = (path: string): VenueFault => ({ kind: 'badGatewayBefore', on: on(path, ALWAYS) });
  const refused = (path: string, code: string): VenueFault => ({
    kind: 'refuse',
    code,
    message: 'no',
    on: on(path, ALWAYS),
  });
  const faulty: [name: string, outcome: string, reason: string, fault: VenueFault][] = [
    [
      '429 without end',
      'failed',
      'Bitget: too many requests$',
      { kind: 'tooManyRequests', on: on('place-order', ALWAYS) },
    ],
    [
      'a leverage that is accepted and not set',
      'failed',
      `${unset}Bitget reads back one_way_mode, isolated, leverage 20 instead of `,
      { kind: 'leverageIgnored', on: { times: ALWAYS } },
    ],
    ['a refused leverage', 'failed', `${unset}Bitget: no \\(40797\\)$`, refused('set-leverage', '40797')],
    ['a leverage that can never be set', 'failed', unset, away('set-leverage')],
    ['a refused margin mode', 'failed', unset, refused('set-margin-mode', '45117')],
    [
      'a balance that cannot be read',
      'skipped',
      'Bitget could not be asked: .*; user will be skipped$',
      away('account/account'),
    ],
    [
      'positions that cannot be read',
      'skipped',
      'Bitget could not be asked: .*; user will be skipped$',
      away('single-position'),
    ],
    [
      'a wrong key',
      'skipped',
      'Bitget could not be asked: .* \\(40006\\); user will be skipped$',
      { kind: 'wrongKey' },
    ],
  ];
  /** A refusal that lasts, other requests for leverage, and one of the two that the sizing needs. */
  const neighbours = [
    '429 without end',
    'a refused leverage',
    'a leverage that can never be set',
    'positions that cannot be read',
  ];
  test.each(oneOfEachKind(faulty, ([name]) => !neighbours.includes(name)))(
    'with %s',
    async (_name, outcome, reason, fault) => {
      const ended = await finish(await start([fault]));
      expect(ended.orders).toEqual([]);
      expect(ended.outcome).toBe(outcome);
      expect(ended.error).toMatch(new RegExp(`^${reason}`));
    },
  );
});

describe('a filled position whose stop cannot be placed', () => {
  const unprotected: VenueFault[] = [
    { kind: 'stopDropped' },
    { kind: 'refuse', code: '40917', message: 'no stop', on: on('place-tpsl-order', ALWAYS) },
  ];
  const reason = 'The stop loss could not be placed, so the position was closed at market';

  // Requirements: order-execution-3
  test.each<[string, VenueFault[]]>(
    firstCases([
      ['is closed at market', []],
      ['is closed when only a part filled', [{ kind: 'partialFill', fraction: '0.5' }]],
      [
        'is closed once when the close has no answer',
        [{ kind: 'cutAfterAccept', on: on('place-order', 1, 2) }],
      ],
      [
        'is closed after refusals of the close',
        [{ kind: 'refuse', code: '40020', on: on('place-order', 4, 2) }],
      ],
    ]),
  )('%s, and the trade fails with that reason', async (_name, more) => {
    const run = await start([...unprotected, ...more]);
    const ended = await finish(run);
    expect(ended).toMatchObject({ outcome: 'failed', error: reason });
    expect(ended.trade).toMatchObject({ success: false, protectionStatus: 'closed', error: reason });
    expect((await engine.holding(run.struck, run.token)).position).toBeNull();
    const [entry, ...closes] = ended.orders;
    expect(closes).toMatchObject([
      { reduceOnly: true, side: 'sell', state: 'filled', size: entry?.filledSize },
    ]);
    const nakedMs = (closes[0]?.createdAt.getTime() ?? 0) - (entry?.createdAt.getTime() ?? 0);
    expect(nakedMs).toBeGreaterThanOrEqual(5_000);
    expect(nakedMs).toBeLessThanOrEqual(10_000);
    const rows = await engine.db.select().from(positionCloses).where(eq(positionCloses.userId, run.struck));
    expect(rows.every(({ state }) => state === 'closed' || state === 'refused')).toBe(true);
  });

  async function planFor(run: Run, userId: string) {
    const trade = (await engine.plan(run.workflowId)).find((one) => one.userId === userId);
    if (trade === undefined) throw new Error('nothing was planned');
    return trade;
  }

  /** Advances a trade until its position is being closed, and makes some more tries. */
  async function tryToClose(tradeId: string, tries: number) {
    await stepUntil(
      engine,
      tradeId,
      ({ state }) => state === 'closing',
      (id) => engine.advance(id),
    );
    for (let count = 0; count < tries; count += 1) await engine.advance(tradeId);
    return await engine.trade(tradeId);
  }

  testEveryCase('waits while its close rests, and sends nothing more', async () => {
    const run = await start([...unprotected, { kind: 'restFirst', on: on('place-order', 1, 2) }]);
    const { id } = await planFor(run, run.struck);
    expect((await tryToClose(id, 5)).state).toBe('closing');
    expect(await engine.exchangeOrders(run.struck)).toMatchObject([
      { reduceOnly: false, state: 'filled' },
      { reduceOnly: true, state: 'live' },
    ]);
    await engine.storeCandle({ token: run.token, price: '100' });
    const ended = await finish(run);
    expect(ended).toMatchObject({ outcome: 'failed', error: reason });
    expect(ended.orders).toHaveLength(2);
  });

  test.each(
    firstCases([
      ['once is placed again', 1, { success: true, protectionStatus: 'repaired' }],
      ['every time is closed at market', ALWAYS, { success: false, protectionStatus: 'closed' }],
    ]),
  )('whose new stop the exchange loses %s', async (_name, times, end) => {
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

  test('stays open when only the take profit cannot be placed', async () => {
    const run = await start([
      { kind: 'refuse', code: '40917', message: 'no target', on: on('place-tpsl-order', ALWAYS) },
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

  test('halts its user when it cannot be closed either, while others trade', async () => {
    const run = await start([
      ...unprotected,
      { kind: 'refuse', code: '40020', message: 'no', on: on('place-order', ALWAYS, 2) },
    ]);
    const mine = await planFor(run, run.struck);
    const others = await planFor(run, run.other);
    await engine.advance(others.id);
    await engine.advance(others.id);
    expect(await tryToClose(mine.id, 12)).toMatchObject({
      state: 'closing',
      success: null,
      protectionStatus: 'missing',
    });

    engine.clock.advance(5 * 60_000);
    await engine.plan(run.workflowId);
    expect(await engine.workflow(run.workflowId)).toMatchObject({ status: 'completed' });
    expect((await engine.outcomes(run.workflowId)).get(run.struck)?.outcome).toBe('failed');

    await engine.db.update(users).set({ isActive: false }).where(eq(users.id, run.other));
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
    expect(await engine.trade(mine.id)).toMatchObject({
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
