import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { MoveProtectionAnswer, OpenPositionView, PositionsAnswer } from '#contract/positions.ts';
import { sessions, trades } from '#server/platform/db/schema.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { startWorld } from '#test/world.ts';

/** Moving the stop and target of a position for an operator, in production. */
const board = await startWorld({
  exchange: 'paper',
  engine: true,
  instances: 2,
  config: { verifyFirstMs: 50 },
  tokens: Array.from({ length: 40 }, (_, index) => `M${index + 1}`),
});
let tokens = 0;
afterEach(() => board.site.setFaults([]));
afterAll(() => board.close());

/** A long at 100. */
async function withPosition() {
  tokens += 1;
  return await board.openPosition(`M${tokens}`);
}

type Prices = { stopLoss?: string; takeProfit?: string };

const put = (held: { id: string; token: string }, prices: Prices, by = board.admin) =>
  by.put('/api/positions/protection', { userId: held.id, token: held.token, ...prices });

async function move(
  held: { id: string; token: string },
  prices: Prices,
  by = board.admin,
): Promise<MoveProtectionAnswer> {
  const answer = await put(held, prices, by);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<MoveProtectionAnswer>();
}

async function openOf({ id }: { id: string }): Promise<OpenPositionView | undefined> {
  return (await board.admin.get(`/api/positions?userId=${id}`)).json<PositionsAnswer>().open[0];
}

const setStepUp = (until: Date | null) => board.db.update(sessions).set({ stepUpUntil: until });

// Requirements: additions-order-and-positions-15
test('moves stop and target, shows them, and records who asked for it', async () => {
  const held = await withPosition();
  const before = await openOf(held);
  expect(await move(held, { stopLoss: '99.5', takeProfit: '107' })).toEqual({
    success: true,
    isPending: false,
    message: `The stop is moved from ${before?.stopLoss} to 99.5, the target is moved from ${before?.takeProfit} to 107`,
  });
  expect(await openOf(held)).toMatchObject({ stopLoss: '99.5', takeProfit: '107', differences: [] });
  const { entries } = (await board.admin.get('/api/audit?pageSize=100')).json<{
    entries: { action: string; actor: { name: string }; before: object; after: object }[];
  }>();
  expect(entries.filter(({ action }) => action.startsWith('position protection')).slice(0, 2)).toMatchObject([
    { action: 'position protection moved', after: { tradeId: held.trade.id } },
    {
      action: 'position protection move requested',
      before: { stopLoss: before?.stopLoss, takeProfit: before?.takeProfit },
      after: { stopLoss: '99.5', takeProfit: '107' },
    },
  ]);
});

testEveryCase('leaves alone what is absent or there already', async () => {
  const held = await withPosition();
  const { stopLoss, takeProfit } = (await openOf(held)) ?? {};
  expect(await move(held, { takeProfit: '107' })).toMatchObject({ success: true });
  expect(await openOf(held)).toMatchObject({ stopLoss, takeProfit: '107' });
  expect(takeProfit).not.toBe('107');
  expect(await move(held, { takeProfit: '107.00' })).toMatchObject({
    success: true,
    message: 'Stop and target are there already',
  });
});

describe('a stop or target that does not fit is refused, and the field is named', () => {
  let held: Awaited<ReturnType<typeof withPosition>>;
  beforeAll(async () => {
    held = await withPosition();
  });

  test.each<[string, Prices, string]>([
    ['a stop above the mark of a long', { stopLoss: '100.5' }, 'stopLoss'],
    ['a stop at the mark', { stopLoss: '100' }, 'stopLoss'],
    ['a target below the mark of a long', { takeProfit: '99' }, 'takeProfit'],
    ['a stop between two ticks', { stopLoss: '99.123456' }, 'stopLoss'],
    ['a stop beyond the liquidation price', { stopLoss: '1' }, 'stopLoss'],
    ['a stop of 0', { stopLoss: '0' }, 'stopLoss'],
    ['no number', { stopLoss: '1e2' }, 'stopLoss'],
    ['neither', {}, 'stopLoss'],
  ])('%s', async (_name, prices, path) => {
    const answer = await put(held, prices);
    expect(answer.statusCode).toBe(400);
    expect(answer.json<{ errors: { path: string }[] }>().errors).toMatchObject([{ path }]);
  });
});

// Requirements: additions-order-and-positions-15
test('needs a step-up towards more risk only', async () => {
  const held = await withPosition();
  const { stopLoss = null } = (await openOf(held)) ?? {};
  await setStepUp(null);
  const wider = String(Number(stopLoss) - 0.5);
  const refused = await put(held, { stopLoss: wider });
  expect([refused.statusCode, refused.json()]).toEqual([
    403,
    { message: 'Please confirm with your password', failureType: 'stepUpRequired' },
  ]);
  expect(await openOf(held)).toMatchObject({ stopLoss });
  expect(await move(held, { stopLoss: '99.5' })).toMatchObject({ success: true });
  await setStepUp(new Date(Date.now() + 60_000));
  expect(await move(held, { stopLoss: wider })).toMatchObject({ success: true });
  expect(await openOf(held)).toMatchObject({ stopLoss: wider });
});

test('refuses what is not open, not ours or of nobody', async () => {
  const held = await withPosition();
  expect((await put({ ...held, id: randomUUID() }, { stopLoss: '99' })).statusCode).toBe(404);
  expect((await put({ ...held, token: 'M40' }, { stopLoss: '99' })).statusCode).toBe(404);
  // The position was opened long after the trade: by hand.
  const past = new Date(Date.now() - 86_400_000);
  await board.db
    .update(trades)
    .set({ createdAt: past, completedAt: past })
    .where(eq(trades.id, held.trade.id));
  const answer = await put(held, { stopLoss: '99' });
  expect([answer.statusCode, answer.json()]).toEqual([
    404,
    { message: `No open position in ${held.token} was opened here` },
  ]);
});

test('belongs to administrators, like closing', async () => {
  const held = await withPosition();
  expect((await put(held, { stopLoss: '99' }, held.client)).statusCode).toBe(403);
});

test('refuses while the order or the stop is being worked on', async () => {
  const held = await withPosition();
  await board.db
    .update(trades)
    .set({ state: 'working', dueAt: new Date(Date.now() + 600_000) })
    .where(eq(trades.id, held.trade.id));
  expect(await move(held, { stopLoss: '99.5' })).toEqual({
    success: false,
    isPending: false,
    message: `Not moved: an order or the stop of this position in ${held.token} is being worked on; try again`,
  });
});

testEveryCase('says that a refused move left the old stop', async () => {
  const held = await withPosition();
  const { stopLoss } = (await openOf(held)) ?? {};
  board.site.setFaults([{ kind: 'stopRefused' }]);
  const answer = await move(held, { stopLoss: '99.5' });
  expect(answer).toMatchObject({ success: false, isPending: false });
  expect(answer.message).toMatch(new RegExp(`^The stop stays at ${stopLoss}, not 99.5: Bitget`));
  expect(await openOf(held)).toMatchObject({ stopLoss });
});

testEveryCase('two operators at two instances move one after the other', async () => {
  const held = await withPosition();
  const other = await board.adminAt(1);
  const answers = await Promise.all([
    move(held, { stopLoss: '99.4' }),
    move(held, { stopLoss: '99.5' }, other),
  ]);
  const done = answers.filter(({ success }) => success);
  expect(done.length).toBeGreaterThanOrEqual(1);
  const { stopLoss } = await board.site.holding(held.id, held.token);
  expect(done.map(({ message }) => message).join()).toContain(`to ${stopLoss}`);
});

testEveryCase('tells the tick that prices have to fit', async () => {
  const held = await withPosition();
  const rules = await board.admin.get(`/api/positions/protection?userId=${held.id}&token=${held.token}`);
  expect(rules.json()).toEqual({ tickSize: expect.stringMatching(/^0\.0*1$/) });
  const unknown = await board.admin.get(`/api/positions/protection?userId=${held.id}&token=M40`);
  expect(unknown.statusCode).toBe(404);
});
