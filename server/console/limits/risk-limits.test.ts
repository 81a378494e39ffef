import { desc, eq } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { STEP_UP_REQUIRED } from '#contract/factors.ts';
import type { RiskLimitsAnswer } from '#contract/risk-limits.ts';
import { WEEKDAYS } from '#domain/limits/trading-hours.ts';
import { auditLog, riskBreaches, riskLimits, sessions } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { UNKNOWN_ID } from '#test/app/test-client.ts';
import { ADMIN_PASSWORD, startWorld } from '#test/world.ts';

const board = await startWorld();
const { db } = board.database;
const somebody = await board.createUser();
const other = await board.createUser();
afterAll(() => board.close());

beforeEach(async () => {
  await db.delete(riskBreaches);
  await db.delete(riskLimits);
});

const OWN = `/api/risk-limits/users/${somebody.user.id}`;
const NONE = {
  maxDailyLoss: null,
  maxDrawdown: null,
  maxLossesInARow: null,
  cooldownMinutes: null,
  maxOpenPositions: null,
  maxExposure: null,
  maxRisk: null,
  maxEntriesPerMinute: null,
  allowedTokens: null,
  blockedTokens: null,
  schedule: null,
  shrink: false,
  onBreach: 'stop',
};

const hours = (window: object = {}) => ({
  zone: 'Europe/Berlin',
  windows: [{ days: ['mon'], from: '08:00', to: '22:00', ...window }],
});

// Requirements: additions-limits-11
describe('trading hours', () => {
  test.each(['/api/risk-limits/strategies/Tesla', OWN])(
    'at %s are stored, and tell when they open',
    async (path) => {
      // A minute of the day after tomorrow.
      const later = new Date(Date.now() + 2 * 86_400_000);
      const day = WEEKDAYS[(later.getUTCDay() + 6) % 7];
      const schedule = { zone: 'UTC', windows: [{ days: [day, day], from: '12:00', to: '12:01' }] };
      const written = (await board.admin.put(path, { schedule })).json<RiskLimitsAnswer>();
      expect(written.limits.schedule).toEqual({
        zone: 'UTC',
        windows: [{ days: [day], from: '12:00', to: '12:01' }],
      });
      expect(written.opensAt).toBe(`${later.toISOString().slice(0, 10)}T12:00:00.000Z`);
      const always = { zone: 'UTC', windows: [{ days: WEEKDAYS, from: '00:00', to: '24:00' }] };
      expect((await board.admin.put(path, { schedule: always })).json<RiskLimitsAnswer>().opensAt).toBeNull();
    },
  );

  test('of a user may be made shorter by that user, not longer', async () => {
    await board.admin.put(OWN, { schedule: hours() });
    const shorter = await somebody.client.put(OWN, { schedule: hours({ from: '09:00' }) });
    expect(shorter.statusCode, shorter.body).toBe(200);
    for (const schedule of [hours(), hours({ days: ['mon', 'tue'] }), { ...hours(), zone: 'UTC' }, null]) {
      const longer = await somebody.client.put(OWN, { schedule });
      expect(longer.json()).toMatchObject({
        message: 'schedule may only be tightened: an administrator can loosen it',
      });
    }
  });
});

describe('risk limits', () => {
  // Requirements: additions-limits-7
  test.each([
    ['/api/risk-limits', 'Program'],
    ['/api/risk-limits/strategies/UD%20Bot', 'Strategy ud bot'],
    [OWN, somebody.user.username],
  ])('at %s are written as a whole, read back, and recorded', async (path, title) => {
    const limits = {
      maxDailyLoss: '3%',
      maxLossesInARow: 3,
      cooldownMinutes: 60,
      maxExposure: '2.5x',
      allowedTokens: ['eth', 'BTC', 'ETH'],
      shrink: true,
    };
    const written = await board.admin.put(path, limits);
    expect(written.statusCode, written.body).toBe(200);
    const { scope, limits: stored } = written.json<RiskLimitsAnswer>();
    expect(stored).toEqual({ ...NONE, ...limits, allowedTokens: ['BTC', 'ETH'] });
    expect(scope.title).toBe(title);
    expect((await board.admin.get(path)).json()).toMatchObject({ limits: stored });
    const replaced = await board.admin.put(path, { maxRisk: '4%' });
    expect(replaced.json<RiskLimitsAnswer>().limits).toEqual({ ...NONE, maxRisk: '4%' });
    const [entry] = await db
      .select()
      .from(auditLog)
      .where(eq(auditLog.action, 'risk limits changed'))
      .orderBy(desc(auditLog.id))
      .limit(1);
    expect(entry).toMatchObject({
      subjectName: title,
      after: { maxRisk: '4%', maxDailyLoss: null },
    });
  });

  test('of a strategy are the same however its name is spelt', async () => {
    await board.admin.put('/api/risk-limits/strategies/TESLA', { maxOpenPositions: 4 });
    const read = await board.admin.get('/api/risk-limits/strategies/tesla');
    expect(read.json<RiskLimitsAnswer>().limits.maxOpenPositions).toBe(4);
  });

  // Requirements: additions-limits-7
  test.each<[object, RegExp]>([
    [{ maxDailyLoss: '0' }, /^maxDailyLoss must be/],
    [{ maxDailyLoss: '3x' }, /^maxDailyLoss must be/],
    [{ maxDailyLoss: 300 }, /^Max daily loss must be text/],
    [{ maxDrawdown: '10' }, /^maxDrawdown must be/],
    [{ maxDrawdown: '101%' }, /^maxDrawdown must be at most 100%/],
    [{ maxLossesInARow: 0 }, /^maxLossesInARow must be/],
    [{ maxLossesInARow: 1.5 }, /^maxLossesInARow must be/],
    [{ cooldownMinutes: 60 }, /^cooldownMinutes needs maxLossesInARow/],
    [{ maxOpenPositions: -1 }, /^maxOpenPositions must be/],
    [{ maxExposure: '3%' }, /^maxExposure must be/],
    [{ maxExposure: '1e9' }, /^maxExposure must be/],
    [{ maxRisk: '4' }, /^maxRisk must be/],
    [{ maxEntriesPerMinute: 'many' }, /^maxEntriesPerMinute must be/],
    [{ allowedTokens: ['BTC/USDT'] }, /^allowedTokens must be/],
    [{ blockedTokens: 'BTC' }, /^blockedTokens must be/],
    [{ shrink: 'yes' }, /^shrink must be/],
    [{ onBreach: 'panic' }, /^onBreach must be/],
    [{ maximumRisk: '4%' }, /not valid/],
    [{ schedule: hours() }, /^schedule belongs to a strategy or a user$/],
    [{ schedule: { ...hours(), zone: 'Berlin' } }, /^zone must be a time zone/],
    [{ schedule: { ...hours(), zone: '+02:00' } }, /^zone must be a time zone/],
    [{ schedule: { zone: 'UTC', windows: [] } }, /^windows must be a list of 1 to 20/],
    [{ schedule: hours({ days: [] }) }, /^days must name at least one of mon, /],
    [{ schedule: hours({ days: ['monday'] }) }, /^days must name at least one of mon, /],
    [{ schedule: hours({ from: '24:00' }) }, /^from must be a time of day from 00:00 to 23:59$/],
    [{ schedule: hours({ to: '8pm' }) }, /^to must be a time of day from 00:00 to 24:00$/],
  ])('%j is refused, and the answer names the field', async (limits, message) => {
    const answer = await board.admin.put('/api/risk-limits', limits);
    expect(answer.statusCode).toBe(400);
    expect(answer.json<{ message: string }>().message).toMatch(message);
    expect(await db.select().from(riskLimits)).toEqual([]);
  });

  // Requirements: additions-limits-4
  test('of a user may only be tightened by that user, and are not seen by others', async () => {
    const tight = await somebody.client.put(OWN, { maxOpenPositions: 4, maxExposure: '2x' });
    expect(tight.statusCode).toBe(200);
    expect((await somebody.client.put(OWN, { maxOpenPositions: 3, maxExposure: '2x' })).statusCode).toBe(200);
    const loose = await somebody.client.put(OWN, { maxOpenPositions: 3 });
    expect(loose.statusCode).toBe(400);
    expect(loose.json()).toMatchObject({
      message: 'maxExposure may only be tightened: an administrator can loosen it',
      errors: [{ path: 'maxExposure' }],
    });
    for (const answer of [
      await other.client.get(OWN),
      await other.client.put(OWN, { maxOpenPositions: 1 }),
      await board.admin.get(`/api/risk-limits/users/${UNKNOWN_ID}`),
    ]) {
      expect(answer.statusCode).toBe(404);
    }
    expect((await board.admin.put(OWN, {})).json<RiskLimitsAnswer>().limits).toEqual(NONE);
  });

  // Requirements: additions-limits-8
  test('that were reached are lifted by administrators after a step-up', async () => {
    await board.admin.put(OWN, { maxDrawdown: '10%' });
    await db.insert(riskBreaches).values({
      id: timeOrderedId(),
      scopeKind: 'user',
      scopeValue: somebody.user.id,
      limit: 'maxDrawdown',
      saw: '1000 USDT',
      maximum: '10%',
      at: new Date(),
      until: null,
      closes: false,
    });
    const read = async () => (await somebody.client.get(OWN)).json<RiskLimitsAnswer>();
    expect((await read()).breaches).toMatchObject([
      { limit: 'maxDrawdown', saw: '1000 USDT', maximum: '10%' },
    ]);
    const attention = await board.admin.get('/api/attention');
    expect(attention.body).toContain('Drawdown is 1000 USDT, the limit is 10%');
    expect((await somebody.client.post(`${OWN}/reset`)).statusCode).toBe(403);
    await db.update(sessions).set({ stepUpUntil: null });
    const unconfirmed = await board.admin.post(`${OWN}/reset`);
    expect(unconfirmed.json()).toMatchObject({ failureType: STEP_UP_REQUIRED });
    expect((await read()).breaches).toHaveLength(1);
    await board.admin.post('/api/auth/step-up', { password: ADMIN_PASSWORD });
    const lifted = await board.admin.post(`${OWN}/reset`);
    expect(lifted.statusCode, lifted.body).toBe(200);
    expect((await read()).breaches).toEqual([]);
  });
});
