import { eq } from 'drizzle-orm';
import { afterAll, describe, expect, test } from 'vitest';
import type { ApplyExitPlanAnswer, CalculationExitsAnswer, ExitPlanAnswer } from '#contract/exit-plans.ts';
import type { PositionsAnswer } from '#contract/positions.ts';
import { toPlain } from '#domain/decimal.ts';
import type { EngineDeps } from '#server/deps.ts';
import { createExitWatch } from '#server/engine/exits/watch-exits.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { auditLog, exitPlans, positionCloses, tradeExits } from '#server/platform/db/schema.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { UNKNOWN_ID } from '#test/app/test-client.ts';
import { dyingAt } from '#test/venues/dying-exchange.ts';
import { startWorld } from '#test/world.ts';

/** Exit plans of strategies and users, and applied to open positions, in production. */
const board = await startWorld({
  exchange: 'paper',
  engine: true,
  config: { verifyFirstMs: 50 },
  tokens: Array.from({ length: 10 }, (_, index) => `X${index + 1}`),
});
let tokens = 0;
afterAll(() => board.close());

const PLAN = {
  takeProfits: [{ atR: '1', percent: 50 }],
  breakEvenAtR: '1',
  trail: { percent: '1.5' },
  maxHoldingMinutes: 240,
};
const somebody = await board.createTrader();
const OWN = `/api/exit-plans/users/${somebody.id}`;
const STRATEGY = '/api/exit-plans/strategies/UD%20Bot';

describe('an exit plan', () => {
  // Requirements: additions-exits-19
  test.each([
    [STRATEGY, 'Strategy ud bot'],
    [OWN, somebody.username],
  ])('at %s is written as a whole, read back, recorded and deleted', async (path, title) => {
    const plan = async () => (await board.admin.get(path)).json<ExitPlanAnswer>();
    expect(await plan()).toMatchObject({ scope: { title }, plan: null });
    const written = await board.admin.put(path, PLAN);
    expect(written.statusCode, written.body).toBe(200);
    expect(await plan()).toMatchObject({ plan: PLAN });
    await board.admin.put(path, { maxHoldingMinutes: 5 });
    expect((await plan()).plan).toEqual({ takeProfits: [], maxHoldingMinutes: 5 });
    expect((await board.admin.delete(path)).statusCode).toBe(200);
    expect((await plan()).plan).toBeNull();
    const entries = await board.db.select().from(auditLog).where(eq(auditLog.action, 'exit plan changed'));
    expect(entries.filter(({ subjectName }) => subjectName === title)).toHaveLength(3);
    expect(await board.db.select().from(exitPlans)).toEqual([]);
  });

  test('of an ordinary user is that user’s: others are not found, and strategies are not theirs', async () => {
    const other = await board.createTrader();
    expect((await somebody.client.put(OWN, PLAN)).statusCode).toBe(200);
    expect((await somebody.client.get(OWN)).json()).toMatchObject({ plan: PLAN });
    expect((await other.client.get(OWN)).statusCode).toBe(404);
    expect((await other.client.put(OWN, PLAN)).statusCode).toBe(404);
    expect((await other.client.delete(OWN)).statusCode).toBe(404);
    expect((await somebody.client.put(STRATEGY, PLAN)).statusCode).toBe(403);
    expect((await board.admin.put(`/api/exit-plans/users/${UNKNOWN_ID}`, PLAN)).statusCode).toBe(404);
    expect((await somebody.client.delete(OWN)).statusCode).toBe(200);
  });

  test.each([
    [
      {
        takeProfits: [
          { atR: '1', percent: 60 },
          { atR: '1.5', percent: 50 },
        ],
      },
      'takeProfits',
      '110 %',
    ],
    [{ takeProfits: [{ atR: '0', percent: 50 }] }, 'takeProfits.0.atR', 'above 0'],
    [{ takeProfits: [{ atR: '2', percent: 50 }] }, 'takeProfits.0.atR', 'The target lies 2 R away'],
    [{ takeProfits: [{ atR: 1, percent: 50 }] }, 'takeProfits.0.atR', 'number as text'],
    [{ trail: { atrMultiple: '1', percent: '1' } }, 'trail', 'trail must be'],
    [{ stopLoss: '1' }, '', 'not valid'],
  ])('%j is refused with the field', async (body, field, message) => {
    const answer = await board.admin.put(STRATEGY, body);
    expect(answer.statusCode).toBe(400);
    const { errors } = answer.json<{ errors: { path: string; message: string }[] }>();
    expect(errors.map(({ path }) => path)).toContain(field);
    expect(answer.body).toContain(message);
  });

  test('of a user who sizes by technical analysis has no part beyond that target', async () => {
    const trader = await board.createTrader({ positionSizingMethod: 'Technical Analysis' });
    const answer = await board.admin.put(`/api/exit-plans/users/${trader.id}`, {
      takeProfits: [{ atR: '1.5', percent: 50 }],
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.body).toContain('The target lies 1.5 R away');
  });
});

describe('applying to open positions', () => {
  const apply = async (body: object) => {
    const answer = await board.admin.post('/api/exit-plans/apply', body);
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json<ApplyExitPlanAnswer>();
  };

  async function withPosition() {
    tokens += 1;
    return await board.openPosition(`X${tokens}`);
  }

  async function look(deps: EngineDeps = board.deps) {
    const watch = createExitWatch(deps, createAccountReader(deps));
    await watch.run();
    await watch.idle();
  }

  /** A look may use prices that another one has read just before: until one has seen the new price. */
  const lookUntil = (isThere: () => Promise<boolean>, depsOfLook: () => EngineDeps = () => board.deps) =>
    expect
      .poll(async () => {
        await look(depsOfLook());
        return await isThere();
      })
      .toBe(true);

  // Requirements: additions-exits-20
  testEveryCase('tells counts and prices first, and changes nothing before it is meant', async () => {
    const held = await withPosition();
    const scope = { kind: 'user', value: held.id };
    await board.admin.put(`/api/exit-plans/users/${held.id}`, PLAN);
    const preview = await apply({ scope, preview: true });
    expect(preview).toMatchObject({
      preview: true,
      applied: 1,
      skipped: 0,
      positions: [
        {
          tradeId: held.trade.id,
          username: held.username,
          side: 'long',
          entryPrice: '100',
          exits: { parts: [{ price: '102', percent: 50 }], breakEven: { atPrice: '102', stopLoss: '100' } },
          skipped: null,
        },
      ],
    });
    const rows = () => board.db.select().from(tradeExits).where(eq(tradeExits.tradeId, held.trade.id));
    expect(await rows()).toEqual([]);
    expect(await apply({ scope })).toEqual({ ...preview, preview: false });
    expect(await rows()).toMatchObject([{ plan: PLAN, scopeKind: 'user', revision: 1 }]);
    expect(
      await board.db.select().from(auditLog).where(eq(auditLog.action, 'exit plan applied')),
    ).toMatchObject([{ subjectId: held.id, after: { positions: 1, trades: [held.trade.id] } }]);

    // The part is closed, then the plan is applied to what is left.
    await look();
    await board.site.push(held.token, '102');
    await lookUntil(async () => (await rows())[0]?.partsDone === 1);
    const { open } = (await board.admin.get(`/api/positions?userId=${held.id}`)).json<PositionsAnswer>();
    expect(open[0]?.exits).toMatchObject({
      parts: [{ price: '102', isDone: true }],
      breakEven: { stopLoss: '100', isDone: false },
      trail: { percent: '1.5' },
      until: expect.stringMatching(/^\d{4}-.*Z$/),
      problem: null,
    });
    const size = async () => toPlain((await board.site.holding(held.id, held.token)).position?.size ?? '0');
    const left = await size();
    expect(Number(left) / Number(held.trade.filledQuantity)).toBeCloseTo(0.5, 1);
    await apply({ scope });
    expect(await rows()).toMatchObject([{ revision: 2, partsDone: 0, planned: null }]);
    await look();
    await look();
    expect(Number(await size()) / Number(left)).toBeCloseTo(0.5, 1);
  });

  testEveryCase('of a strategy leaves the users alone who have a plan of their own', async () => {
    const held = await withPosition();
    await board.admin.put('/api/exit-plans/strategies/Tesla', PLAN);
    await board.admin.put(`/api/exit-plans/users/${held.id}`, {});
    const { positions } = await apply({ scope: { kind: 'strategy', value: ' tesla' }, preview: true });
    expect(positions.find(({ tradeId }) => tradeId === held.trade.id)).toMatchObject({
      exits: null,
      skipped: 'the user has a plan of their own',
    });
    await board.admin.delete('/api/exit-plans/strategies/Tesla');
  });

  const ofHalf = (quantity: string, part: string | undefined) =>
    expect(Number(part) / Number(quantity)).toBeCloseTo(0.5, 1);

  // Requirements: additions-exits-26
  test('leaves a position as it is while a close of it is under way, and then counts what is left', async () => {
    const held = await withPosition();
    const { id: userId, token, trade } = held;
    const scope = { kind: 'user', value: userId };
    await board.admin.put(`/api/exit-plans/users/${userId}`, PLAN);
    const release = board.site.hold(userId, '/api/v2/mix/order/place-order');
    const closing = board.admin.post('/api/positions/close', { userId, token, percent: 50 });
    const sent = () => board.db.select().from(positionCloses).where(eq(positionCloses.tradeId, trade.id));
    await expect.poll(async () => (await sent()).length).toBe(1);
    const skipped = 'an order or a close of the user is under way, apply the plan when it has ended';
    const left = { applied: 0, skipped: 1, positions: [{ tradeId: trade.id, exits: null, skipped }] };
    expect(await apply({ scope, preview: true })).toMatchObject(left);
    expect(await apply({ scope })).toMatchObject(left);
    expect(await board.db.select().from(tradeExits).where(eq(tradeExits.tradeId, trade.id))).toEqual([]);
    release();
    expect((await closing).statusCode).toBe(200);
    const { position } = await board.site.holding(userId, token);
    const { positions } = await apply({ scope, preview: true });
    ofHalf(toPlain(position?.size ?? '0'), positions[0]?.exits?.parts[0]?.quantity);
  });

  testEveryCase(
    'counts what the exchange holds after a close whose outcome was not written down',
    async () => {
      const held = await withPosition();
      const scope = { kind: 'user', value: held.id };
      await board.admin.put(`/api/exit-plans/users/${held.id}`, PLAN);
      await apply({ scope });
      await look();
      await board.site.push(held.token, '102');
      const size = async () => toPlain((await board.site.holding(held.id, held.token)).position?.size ?? '0');
      const whole = await size();
      await lookUntil(
        async () => (await size()) !== whole,
        () => dyingAt(board.deps, 'closePosition', 'after'),
      );
      const left = await size();
      ofHalf(held.trade.filledQuantity, left);
      const { positions } = await apply({ scope, preview: true });
      ofHalf(left, positions[0]?.exits?.parts[0]?.quantity);
      await apply({ scope });
      await look();
      await look();
      ofHalf(left, await size());
    },
  );

  test('needs a plan', async () => {
    const scope = { kind: 'strategy', value: 'Tesla' };
    const answer = await board.admin.post('/api/exit-plans/apply', { scope });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ message: 'There is no exit plan to apply: save one first' });
  });
});

describe('the plan of a calculation', () => {
  // Requirements: additions-exits-24
  test('has the prices and quantities that a position of its order would have', async () => {
    tokens += 1;
    const held = await board.openPosition(`X${tokens}`);
    const { positionGeneratorLogId, averagePrice, filledQuantity, entryPrice } = held.trade;
    const path = `/api/exit-plans/calculations/${positionGeneratorLogId}`;
    const shown = async (query = '') => (await board.admin.get(path + query)).json<CalculationExitsAnswer>();
    expect(await shown()).toEqual({ scope: null, exits: null });

    await board.admin.put('/api/exit-plans/strategies/Tesla', PLAN);
    expect(await shown()).toMatchObject({ scope: { title: 'Strategy tesla' }, exits: { notes: [] } });
    await board.admin.put(`/api/exit-plans/users/${held.id}`, {});
    expect(await shown(), 'kept out of the strategy’s plan').toEqual({ scope: null, exits: null });
    await board.admin.put(`/api/exit-plans/users/${held.id}`, PLAN);
    await board.admin.delete('/api/exit-plans/strategies/Tesla');

    const { scope, exits } = await shown();
    expect(scope).toEqual({ kind: 'user', value: held.id, title: held.username });
    expect(exits?.breakEven?.stopLoss, 'at its entry price').toBe(toPlain(entryPrice));
    const body = { scope: { kind: 'user', value: held.id }, preview: true };
    const applied = (await board.admin.post('/api/exit-plans/apply', body)).json<ApplyExitPlanAnswer>();
    const filled = await shown(
      `?entryPrice=${toPlain(averagePrice ?? '')}&quantity=${toPlain(filledQuantity)}`,
    );
    expect(filled.exits).toEqual(applied.positions[0]?.exits);
    expect(filled.exits?.parts).toMatchObject([{ price: '102', percent: 50 }]);

    expect((await board.admin.get(`${path}?entryPrice=0`)).statusCode).toBe(400);
    expect((await board.admin.get(`/api/exit-plans/calculations/${UNKNOWN_ID}`)).statusCode).toBe(404);
    expect((await held.client.get(path)).statusCode).toBe(403);
  });
});
