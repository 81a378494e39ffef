import { randomUUID } from 'node:crypto';
import { asc, eq } from 'drizzle-orm';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { ClosePositionAnswer, PositionsAnswer } from '#contract/positions.ts';
import { D, floorToStep, toPlain } from '#domain/decimal.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { positionCloses, trades } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { acquireLease } from '#server/platform/jobs/leases.ts';
import { inTurn, oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { startWorld } from '#test/world.ts';
import { closeOpenPosition } from './close-open-position.ts';

/** Closing for an operator, in production. */
let tokens = 0;

const board = await startWorld({
  exchange: 'paper',
  engine: true,
  instances: 2,
  config: { verifyFirstMs: 50 },
  tokens: Array.from({ length: 60 }, (_, index) => `C${index + 1}`),
});
afterEach(() => {
  board.site.setFaults([]);
  board.site.setReachable(true);
});
afterAll(() => board.close());

async function withPosition() {
  tokens += 1;
  const held = await board.openPosition(`C${tokens}`);
  return { ...held, quantity: toPlain(held.trade.filledQuantity) };
}

async function close(task: { id: string; token: string }, by = board.admin): Promise<ClosePositionAnswer> {
  const answer = await by.post('/api/positions/close', { userId: task.id, token: task.token });
  expect(answer.statusCode).toBe(200);
  return answer.json<ClosePositionAnswer>();
}

/** Closing orders sent to the exchange, oldest first. */
const closings = async (userId: string) =>
  (await board.site.exchangeOrders(userId))
    .filter(({ reduceOnly, source }) => reduceOnly && source === 'normal')
    .map(({ side, state, filledSize }) => [side, state, toPlain(filledSize)]);

const recorded = (userId: string) =>
  board.db
    .select()
    .from(positionCloses)
    .where(eq(positionCloses.userId, userId))
    .orderBy(asc(positionCloses.id));

const positionsOf = async (userId: string) =>
  (await board.admin.get(`/api/positions?userId=${userId}`)).json<PositionsAnswer>();
const closedBy = async (userId: string) =>
  (await positionsOf(userId)).closed.map((position) => position.closedBy);

// Requirements: additions-order-and-positions-6
test('closes a position at market with one order and records who asked for it', async () => {
  const held = await withPosition();
  await board.site.push(held.token, '101');
  expect(await close(held)).toEqual({
    success: true,
    message: `The long position of ${held.quantity} ${held.token} is closed`,
  });
  expect(await closings(held.id)).toEqual([['sell', 'filled', held.quantity]]);
  expect(await board.site.holding(held.id, held.token)).toEqual({
    position: null,
    stopLoss: null,
    takeProfit: null,
  });
  const { user } = (await board.admin.get('/api/auth/user')).json<{ user: { id: string } }>();
  expect(await recorded(held.id)).toMatchObject([
    {
      reason: 'operator',
      requestedBy: user.id,
      tradeId: held.trade.id,
      state: 'closed',
      side: 'long',
      finishedAt: expect.any(Date),
    },
  ]);
  const { open, closed } = await positionsOf(held.id);
  expect(open).toEqual([]);
  expect(closed).toMatchObject([{ closedBy: 'operator', closePrice: '101', realisedProfit: held.quantity }]);
});

testEveryCase('ignores a closing order in progress at another exchange', async () => {
  const held = await withPosition();
  const elsewhere = {
    id: timeOrderedId(),
    userId: held.id,
    exchangePlatform: 'Bybit',
    token: held.token,
    side: 'long',
    quantity: held.quantity,
    reason: 'operator',
    clientOrderId: randomUUID(),
    state: 'sent',
    createdAt: new Date(),
  } as const;
  await board.db.insert(positionCloses).values(elsewhere);
  expect(await close(held)).toMatchObject({ success: true });
  expect(await close(held)).toMatchObject({ success: true });
  expect(await recorded(held.id)).toMatchObject([
    { ...elsewhere, error: null, finishedAt: null },
    { exchangePlatform: 'Bitget', state: 'closed' },
  ]);
});

test('answers 404 for an unknown user, and 400 for a malformed request', async () => {
  const post = async (body: object) => (await board.admin.post('/api/positions/close', body)).statusCode;
  expect(await post({ userId: randomUUID(), token: 'BTC' })).toBe(404);
  expect(await post({ userId: 'x', token: 'BTC' })).toBe(400);
  expect(await post({ userId: randomUUID(), token: 'BTC/USDT' })).toBe(400);
  expect(await post({})).toBe(400);
});

test('closing twice closes once, concurrently at two instances and again later', async () => {
  const held = await withPosition();
  const other = await board.adminAt(1);
  const answers = await Promise.all([close(held), close(held, other), close(held)]);
  expect(answers.map(({ success }) => success)).toEqual([true, true, true]);
  expect(answers.map(({ message }) => message).toSorted()).toEqual([
    `The long position of ${held.quantity} ${held.token} is closed`,
    `There is no open position in ${held.token}`,
    `There is no open position in ${held.token}`,
  ]);
  expect(await close(held)).toEqual({
    success: true,
    message: `There is no open position in ${held.token}`,
  });
  expect(await closings(held.id)).toEqual([['sell', 'filled', held.quantity]]);
});

const FAULTS = [
  // It closes, and its answer is lost.
  'cutAfterAccept',
  'acceptThenTimeout',
  'badGatewayAfter',
  'empty200',
  // It does not receive the order.
  'cutBeforeAccept',
  'badGatewayBefore',
  'tooManyRequests',
] as const;
const SHARES = [100, 50];
const ONES = oneOfEachKind(FAULTS, (kind) => kind === 'cutAfterAccept');
test.each(inTurn(ONES, SHARES))(
  'a faulty exchange: after %s, %d percent are closed once',
  async (kind, percent) => {
    const held = await withPosition();
    board.site.setFaults([{ kind, on: { path: 'place-order' } }]);
    const answer = await closePart(held, percent);
    expect(answer.json()).toMatchObject({ success: true });
    const closed = percent === 100 ? held.quantity : half(held.quantity);
    expect(await closings(held.id)).toEqual([['sell', 'filled', closed]]);
    if (percent === 100) expect(await closedBy(held.id)).toEqual(['operator']);
    else await isHalf(held);
  },
);

const closePart = (held: { id: string; token: string }, percent: unknown) =>
  board.admin.post('/api/positions/close', { userId: held.id, token: held.token, percent });
const half = (quantity: string) => toPlain(floorToStep(D(quantity).div(2), '0.001'));
const rest = (quantity: string) => toPlain(D(quantity).minus(half(quantity)));
const isHalf = async (held: { id: string; token: string; quantity: string }) => {
  const holding = await board.site.holding(held.id, held.token);
  expect(toPlain(holding.position?.size ?? '0')).toBe(rest(held.quantity));
  expect(holding.stopLoss).not.toBeNull();
  expect(holding.takeProfit).not.toBeNull();
};

describe('a part of a position', () => {
  // Requirements: additions-order-and-positions-13
  test('is closed with one order, and the rest keeps its stop and differs from no record', async () => {
    const held = await withPosition();
    const answer = await closePart(held, 50);
    expect(answer.json()).toEqual({
      success: true,
      message:
        `${half(held.quantity)} of ${held.quantity} ${held.token} is closed, ` +
        `${rest(held.quantity)} stays open with its stop`,
    });
    expect(await closings(held.id)).toEqual([['sell', 'filled', half(held.quantity)]]);
    await isHalf(held);
    expect(await recorded(held.id)).toMatchObject([
      { state: 'closed', quantity: half(held.quantity), leftQuantity: rest(held.quantity), error: null },
    ]);
    const { open, closed } = await positionsOf(held.id);
    expect(open).toMatchObject([{ tradeId: held.trade.id, processor: 'Tesla', differences: [] }]);
    expect(closed).toEqual([]);

    // The stop closes what is left.
    await board.site.push(held.token, '97');
    // A reading of the account serves for two seconds.
    await expect.poll(async () => (await positionsOf(held.id)).open, { timeout: 10_000 }).toEqual([]);
    expect((await positionsOf(held.id)).closed).toMatchObject([
      { closedBy: 'stop loss', tradeId: held.trade.id },
    ]);
  });

  testEveryCase(
    'is closed to the last step when the exchange fills an order only in part',
    async () => {
      const held = await withPosition();
      board.site.setFaults([{ kind: 'partialFill', fraction: '0.4' }]);
      expect((await closePart(held, 50)).json()).toMatchObject({ success: true });
      expect(await closings(held.id)).toHaveLength(2);
      await isHalf(held);
    },
    30_000,
  );

  testEveryCase('and all of it leave a closed position, whose record has the whole quantity', async () => {
    const held = await withPosition();
    await closePart(held, 50);
    expect(await close(held)).toMatchObject({ success: true });
    const { open, closed } = await positionsOf(held.id);
    expect(open).toEqual([]);
    expect(closed).toMatchObject([{ closedBy: 'operator', quantity: held.quantity }]);
  });

  testEveryCase('of 100 percent is all of it', async () => {
    const held = await withPosition();
    expect((await closePart(held, 100)).json()).toMatchObject({
      message: `The long position of ${held.quantity} ${held.token} is closed`,
    });
  });

  testEveryCase('that is smaller than the smallest order is refused, and nothing is sent', async () => {
    const held = await withPosition();
    for (const percent of [99, 99])
      expect((await closePart(held, percent)).json()).toMatchObject({ success: true });
    const left = (await positionsOf(held.id)).open[0]?.quantity ?? '';
    const before = await closings(held.id);
    const answer = (await closePart(held, 1)).json<ClosePositionAnswer>();
    expect(answer.success).toBe(false);
    expect(answer.message).toMatch(
      /^Not closed\. 1 % of the position is [\d.]+ C\d+, and the smallest order is /,
    );
    expect(await closings(held.id)).toEqual(before);
    expect((await positionsOf(held.id)).open[0]?.quantity).toBe(left);
  });

  test.each([[0], [101], [12.5], ['50'], [null]])(
    'of %j percent is a bad request that names the field',
    async (percent) => {
      const held = { id: randomUUID(), token: 'BTC' };
      const answer = await closePart(held, percent);
      expect(answer.statusCode).toBe(400);
      expect(answer.json<{ message: string }>().message).toContain('percent');
    },
  );
});

describe('a faulty exchange', () => {
  testEveryCase(
    'that closes only a part is asked to close the rest',
    async () => {
      const held = await withPosition();
      board.site.setFaults([{ kind: 'partialFill', fraction: '0.4' }]);
      expect(await close(held)).toMatchObject({ success: true });
      const [first, second, ...more] = await closings(held.id);
      expect(more).toEqual([]);
      expect(first?.slice(0, 2)).toEqual(['sell', 'canceled']);
      expect(second?.slice(0, 2)).toEqual(['sell', 'filled']);
      expect(Number(first?.[2]) + Number(second?.[2])).toBeCloseTo(Number(held.quantity), 9);
      expect((await board.site.holding(held.id, held.token)).position).toBeNull();
      expect(await closedBy(held.id)).toEqual(['operator']);
    },
    30_000,
  );

  testEveryCase('that refuses is tried three times, and its reason is returned', async () => {
    const held = await withPosition();
    board.site.setFaults([
      { kind: 'refuse', code: '40020', message: 'no', on: { path: 'place-order', times: 1_000 } },
    ]);
    expect(await close(held)).toEqual({
      success: false,
      message: `The position in ${held.token} could not be closed: Bitget: no (40020)`,
    });
    expect(await recorded(held.id)).toHaveLength(3);
    expect((await board.site.holding(held.id, held.token)).position).not.toBeNull();
    board.site.setFaults([]);
    expect(await close(held)).toMatchObject({ success: true });
  });

  testEveryCase('that is unreachable leaves the position open, with the reason', async () => {
    const held = await withPosition();
    board.site.setReachable(false);
    const answer = await close(held);
    expect(answer.success).toBe(false);
    expect(answer.message).toMatch(new RegExp(`^The position in ${held.token} could not be closed: Bitget`));
    board.site.setReachable(true);
    expect(await closings(held.id)).toEqual([]);
    expect((await board.site.holding(held.id, held.token)).position).not.toBeNull();
  });

  test('that answers nonsense about the position does not make it look closed', async () => {
    const held = await withPosition();
    board.site.setFaults([{ kind: 'html200', on: { path: 'single-position', times: 1_000 } }]);
    expect((await close(held)).success).toBe(false);
    expect((await board.site.holding(held.id, held.token)).position).not.toBeNull();
  });

  testEveryCase('that leaves stop and target behind gets them cancelled', async () => {
    const held = await withPosition();
    board.site.setFaults([{ kind: 'protectionKept' }]);
    expect(await close(held)).toMatchObject({ success: true });
    expect(await board.site.holding(held.id, held.token)).toEqual({
      position: null,
      stopLoss: null,
      takeProfit: null,
    });
  });

  testEveryCase('that cannot cancel the leftovers closes the position and reports them', async () => {
    const held = await withPosition();
    board.site.setFaults([
      { kind: 'protectionKept' },
      { kind: 'refuse', code: '40020', message: 'no', on: { path: 'cancel-plan-order', times: 10 } },
    ]);
    expect(await close(held)).toEqual({
      success: true,
      message:
        `The long position of ${held.quantity} ${held.token} is closed, but what is left of its stop and target` +
        ' could not be cancelled: Bitget: no (40020)',
    });
  });
});

test('closing ends when the stop is hit in the meantime, and opens nothing in the other direction', async () => {
  const held = await withPosition();
  board.site.setFaults([{ kind: 'delay', delayMs: 700, on: { path: 'place-order' } }]);
  const closing = close(held);
  await expect.poll(async () => (await recorded(held.id)).length, { timeout: 5_000 }).toBe(1);
  await board.site.push(held.token, '97');
  expect(await closing).toMatchObject({ success: true });
  expect(await closings(held.id)).toEqual([]);
  expect((await board.site.holding(held.id, held.token)).position).toBeNull();
  expect(await closedBy(held.id)).toEqual(['stop loss']);
});

testEveryCase(
  'closing does not touch a position that its owner has opened in the other direction',
  async () => {
    const held = await withPosition();
    board.site.setFaults([{ kind: 'delay', delayMs: 700, on: { path: 'place-order' } }]);
    const closing = close(held);
    await expect.poll(async () => (await recorded(held.id)).length, { timeout: 5_000 }).toBe(1);
    await board.site.push(held.token, '97');
    const { deps } = board;
    const account = await deps.findAccount(held.id, 'Bitget');
    if (!account) throw new Error('no account');
    await deps.exchanges.get('Bitget').placeOrder(
      account,
      {
        token: held.token,
        side: 'sell',
        clientOrderId: 'by-hand',
        price: '96',
        quantity: '7',
        leverage: 5,
        stopLoss: '150',
        takeProfit: '50',
      },
      { notAfter: new Date(Date.now() + 60_000) },
    );
    expect(await closing).toEqual({
      success: true,
      message:
        `The long position of ${held.quantity} ${held.token} is closed, ` +
        'but the short position that is open now is another one and is not touched',
    });
    expect(await board.site.holding(held.id, held.token)).toMatchObject({
      position: { side: 'short', size: '7' },
      stopLoss: '150',
      takeProfit: '50',
    });
  },
);

test('closing is refused while an order of the user in the token is in progress', async () => {
  const held = await withPosition();
  const setState = (state: 'working' | 'done') =>
    board.db
      .update(trades)
      .set({ state, dueAt: new Date(Date.now() + 60_000) })
      .where(eq(trades.id, held.trade.id));
  await setState('working');
  expect(await close(held)).toEqual({
    success: false,
    message: `An order of this user in ${held.token} is still being worked on; close the position when it is done`,
  });
  await setState('done');
  expect(await closings(held.id)).toEqual([]);
  expect(await close(held)).toMatchObject({ success: true });
});

testEveryCase('closing waits while the user’s next order is being sized, then is refused', async () => {
  const held = await withPosition();
  await acquireLease({ db: board.db, key: `user:${held.id}`, holder: 'somebody' });
  const { deps } = board;
  const task = { userId: held.id, token: held.token, percent: 100, requestedBy: held.id };
  const patience = { leasePatienceMs: 300 };
  expect(await closeOpenPosition(deps, createAccountReader(deps), task, patience)).toEqual({
    success: false,
    message: 'Another order of this user is being prepared or closed; try again in a moment',
  });
  expect(await closings(held.id)).toEqual([]);
});
