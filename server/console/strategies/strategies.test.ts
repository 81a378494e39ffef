import { afterAll, describe, expect, test } from 'vitest';
import type { RiskLimitsAnswer } from '#contract/risk-limits.ts';
import type { StrategiesAnswer } from '#contract/strategies.ts';
import { LONGEST_PROCESSOR } from '#domain/eligibility/processor.ts';
import { verifyDecisions } from '#server/console/signals/verify-decisions.ts';
import { strategies } from '#server/platform/db/schema.ts';
import { entriesOf, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { nextToken, reasonFor } from '#test/app/token-holders.ts';
import { startWorld } from '#test/world.ts';

describe('strategies', () => {
  const board = startWorld();
  afterAll(async () => (await board).close());

  // Requirements: additions-limits-9
  test('are listed with those who follow them, and keep the age that their signals may have', async () => {
    const { admin, createUser } = await board;
    const { user, client } = await createUser();
    await client.put('/api/user-settings', { signalProcessor: 'UD Bot' });
    const saved = await admin.put('/api/strategies/ud%20bot', { maxSignalAgeSeconds: 120 });
    expect(saved.statusCode, saved.body).toBe(200);
    await admin.put('/api/risk-limits/strategies/UD%20Bot', { maxOpenPositions: 4 });
    const { strategies: all, program } = (await admin.get('/api/strategies')).json<StrategiesAnswer>();
    const one = all.find(({ processor }) => processor === 'UD Bot');
    expect(one).toMatchObject({
      maxSignalAgeSeconds: 120,
      signals7d: 0,
      lastSignal: null,
      net7d: '0',
      limits: {
        limits: { maxOpenPositions: 4 },
        uses: [{ limit: 'maxOpenPositions', used: '0', maximum: '4' }],
      },
    });
    expect(one?.subscribers).toContainEqual({ username: user.username, trades: false });
    expect(program.scope.kind).toBe('program');
    expect(one?.stopped).toBe(false);
    const stop = { scope: { kind: 'strategy', value: 'UD Bot' } };
    const stopping = await admin.post('/api/trading-stops', stop);
    expect(stopping.statusCode, stopping.body).toBe(201);
    const stopped = (await admin.get('/api/strategies')).json<StrategiesAnswer>().strategies;
    expect(stopped.filter((any) => any.stopped).map(({ processor }) => processor)).toEqual(['UD Bot']);
    await admin.put('/api/strategies/UD%20Bot', { maxSignalAgeSeconds: null });
    const after = (await admin.get('/api/strategies')).json<StrategiesAnswer>().strategies;
    expect(after.find(({ processor }) => processor === 'UD Bot')?.maxSignalAgeSeconds).toBeNull();
  });

  test('have names as long as those of signals, in every place that names one', async () => {
    const { admin } = await board;
    const name = 'S'.repeat(LONGEST_PROCESSOR);
    const plan = { takeProfits: [], breakEvenAtR: '1' };
    const answers = [
      await admin.put(`/api/strategies/${name}`, { maxSignalAgeSeconds: 60 }),
      await admin.put(`/api/risk-limits/strategies/${name}`, { maxOpenPositions: 4 }),
      await admin.put(`/api/exit-plans/strategies/${name}`, plan),
      await admin.get(`/api/exit-plans/strategies/${name}`),
      await admin.post('/api/exit-plans/apply', { scope: { kind: 'strategy', value: name }, preview: true }),
      await admin.post('/api/trading-stops', { scope: { kind: 'strategy', value: name } }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 201]);
    expect((await admin.get(`/api/exit-plans/strategies/${name}S`)).statusCode).toBe(400);
  });

  // Requirements: additions-limits-11
  test('have trading hours, which are those of their limits', async () => {
    const { admin } = await board;
    const schedule = { zone: 'Europe/Berlin', windows: [{ days: ['mon'], from: '08:00', to: '22:00' }] };
    await admin.put('/api/risk-limits/strategies/Hours', { maxOpenPositions: 4 });
    const saved = await admin.put('/api/strategies/Hours', { schedule });
    const one = saved.json<StrategiesAnswer>().strategies.find(({ processor }) => processor === 'hours');
    expect(one?.limits.limits).toMatchObject({ maxOpenPositions: 4, schedule });
    const { entries } = (await admin.get('/api/audit')).json<{ entries: unknown[] }>();
    expect(entries[0]).toMatchObject({
      action: 'strategy changed',
      before: { schedule: null },
      after: { schedule },
    });
    const refused = await admin.put('/api/strategies/Hours', { schedule: { ...schedule, zone: 'Mars' } });
    expect(refused.json<{ message: string }>().message).toMatch(/^zone must be a time zone/);
    await admin.put('/api/strategies/Hours', { schedule: null });
    const { limits } = (await admin.get('/api/risk-limits/strategies/Hours')).json<RiskLimitsAnswer>();
    expect(limits).toMatchObject({ maxOpenPositions: 4, schedule: null });
  });

  // Requirements: additions-limits-12, results-rotation-2
  test('keep a canary and a rotation, each change recorded; a field that is left out keeps its value', async () => {
    const { admin } = await board;
    const canary = { users: 2, withinSeconds: 20, maxSlippageBps: 50 };
    const put = async (body: object) => {
      const saved = await admin.put('/api/strategies/First', body);
      expect(saved.statusCode, saved.body).toBe(200);
      return saved.json<StrategiesAnswer>().strategies.find(({ processor }) => processor === 'first');
    };
    expect(await put({ maxSignalAgeSeconds: 60 })).toMatchObject({ canary: null, rotation: false });
    expect(await put({ canary })).toMatchObject({ canary, rotation: false, maxSignalAgeSeconds: 60 });
    const { entries } = (await admin.get('/api/audit')).json<{ entries: unknown[] }>();
    expect(entries[0]).toMatchObject({
      action: 'strategy changed',
      before: { canary: null },
      after: { canary },
    });
    expect(await put({ rotation: true })).toMatchObject({ canary, rotation: true });
    expect(await put({ canary: null })).toMatchObject({ canary: null, rotation: true });
  });

  const CANARY = { users: 2, withinSeconds: 20, maxSlippageBps: 50 };
  test.each<[object, string]>([
    [{ canary: { ...CANARY, users: 0 } }, 'canary.users must be a whole number from 1 to 50'],
    [
      { canary: { ...CANARY, withinSeconds: 9 } },
      'canary.withinSeconds must be a whole number from 10 to 300',
    ],
    [{ canary: { ...CANARY, maxSlippageBps: '50' } }, 'canary.maxSlippageBps must be a whole number'],
    [{ canary: { users: 2 } }, 'canary.withinSeconds must be a whole number'],
    [{ canary: 'on' }, 'canary must have users, withinSeconds and maxSlippageBps, or be null'],
    [{ rotation: 'yes' }, 'rotation must be true or false'],
  ])('refuse %j in words that name the field', async (body, text) => {
    const answer = await (await board).admin.put('/api/strategies/Tesla', body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json<{ message: string }>().message).toContain(text);
  });

  test.each([{ maxSignalAgeSeconds: 0 }, { maxSignalAgeSeconds: 1_801 }, { maxSignalAgeSeconds: '60' }])(
    'refuse %j, naming the field',
    async (body) => {
      const answer = await (await board).admin.put('/api/strategies/Tesla', body);
      expect(answer.statusCode).toBe(400);
      expect(answer.json<{ message: string }>().message).toMatch(/^maxSignalAgeSeconds must be/);
    },
  );
});

describe('a signal of a strategy', () => {
  const engine = sharedTestEngine();

  // Requirements: additions-limits-9
  test('is not traded when it is older than the strategy allows', async () => {
    const maxSignalAgeSeconds = 120;
    await engine.db
      .insert(strategies)
      .values({ strategy: 'tesla', maxSignalAgeSeconds, updatedAt: new Date() });
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
    const send = async (ageSeconds: number) => {
      const receivedAt = new Date(engine.clock.now().getTime() - ageSeconds * 1_000);
      const signal = await engine.storeSignal({ token: nextToken(), price: '100', receivedAt });
      await engine.settle();
      return { ...signal, reason: await reasonFor(engine, { workflowId: signal.workflowId, userId }) };
    };
    const old = await send(121);
    expect(old.reason).toBe(
      'Signal expired: it was received 2.0 minutes before processing started, the limit is 2 minutes; user will be skipped',
    );
    const verified = await verifyDecisions(engine.deps, old.signalId);
    expect(verified).toMatchObject({ differing: [] });
    expect((await send(100)).reason).toBeNull();
    expect(await entriesOf(engine, userId)).toHaveLength(1);
  });
});
