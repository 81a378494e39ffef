import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { GenerateAnswer, PreviewAnswer } from '#contract/position-generator.ts';
import { D } from '#domain/decimal.ts';
import {
  findLastBalance,
  findPositionGeneratorLog,
  rememberBalance,
} from '#server/engine/sizing/position-generator.store.ts';
import { accountBalances, positionGeneratorLogs, userSettings } from '#server/platform/db/schema.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { type Calculated, type HandSignal, startWorldByHand, type WorldByHand } from '#test/world/by-hand.ts';

const GENERATE = '/api/internal/position-generator/generate';
const PREVIEW = '/api/internal/position-generator/preview';
const NO_USER = 'User ID not available - please log in or select a user';
const always = Number.POSITIVE_INFINITY;

const trading = await startWorldByHand({ engine: false });
afterEach(() => trading.site.setFaults([]));
afterAll(() => trading.close());

const post = (url: string, body: unknown) => trading.admin.post(url, body);
const logs = () => trading.db.select().from(positionGeneratorLogs);

/** A new trader and a signal, by default for a new token at 100. */
async function subject(
  signal: Partial<HandSignal> = {},
  settings: Parameters<WorldByHand['createTrader']>[0] = {},
): Promise<{ userId: string; signalId: string }> {
  const { userId } = await trading.createTrader(settings);
  const token = signal.token ?? trading.nextToken();
  return { userId, signalId: await trading.storeSignal({ price: '100', ...signal, token }) };
}

function calculated(answer: GenerateAnswer): Calculated {
  if (!answer.success) throw new Error(answer.message);
  return answer;
}

function refused(answer: GenerateAnswer) {
  if (answer.success) throw new Error('the calculation succeeded');
  return answer;
}

describe('a manual calculation', () => {
  // Requirements: trading-fields-17, trading-calculator-and-execution-3, trading-calls-22
  test('returns every figure and is recorded as a separate calculation', async () => {
    const token = trading.nextToken();
    const { answer, logId, userId, signalId } = await trading.calculate({
      token,
      price: '100',
      livePrice: '100.5',
      atr: '1',
      matureTrend: 'up',
    });
    // P = 100 (the live price differs by 0.5%), epsilon 0.5% of it, stop 1.5 × ATR below P, target 2:1.
    expect(answer).toMatchObject({
      isEstimate: false,
      message: 'Position calculated',
      position: {
        token,
        action: 'buy',
        position: 'long',
        referencePrice: '100',
        priceSource: 'signal',
        entryPrice: '100.5',
        stopLoss: '98.5',
        takeProfit: '103',
        leverage: 10,
        aligned: true,
        epsilon: '0.5',
        atr: '1',
        availableBalance: '10000',
        method: 'Risk Management',
      },
    });
    expect(answer.calculationReason).toContain('the live price differs by 0.50%');
    expect(answer.calculationDetail).toContain('Available balance B = 10000 USDT');
    expect(answer.methodology[0]).toContain('Risk Management invests as much as loses 5.00%');
    const figures = new Map(answer.hyperparameters.map(({ name, value, source }) => [name, [value, source]]));
    expect(figures.get('Live price')).toEqual(['100.5000 USDT', 'Bitget']);
    expect(figures.get('Second attempt: epsilon ×')).toEqual(['2', 'Built-in default']);
    expect(figures.get('First verification after')).toEqual(['0.4 s', 'VERIFY_FIRST_MS']);

    const log = await findPositionGeneratorLog(trading.db, logId);
    expect(log).toMatchObject({
      signalId,
      userId,
      workflowId: null,
      profile: 'manual',
      success: true,
      isEstimate: false,
      error: null,
    });
    expect(log?.position).toMatchObject(answer.position);
    expect(log?.priceLogId).not.toBeNull();
  });

  // Requirements: additions-calculator-1
  test('uses the settings of the request, and stores none of them', async () => {
    const { userId, signalId } = await subject({ atr: '1' }, { positionSizingMethod: 'Risk Management' });
    const settingsOf = () => trading.db.select().from(userSettings).where(eq(userSettings.userId, userId));
    const before = await settingsOf();
    const settings = { positionSizingMethod: 'Portfolio Allocation', investmentPortion: '0.20' };
    const answer = await post(GENERATE, { signalId, userId, settings });
    expect(answer.statusCode, answer.body).toBe(200);
    const used = calculated(answer.json());
    expect(used.position).toMatchObject({ method: 'Portfolio Allocation' });
    expect(await settingsOf()).toEqual(before);
    const log = await findPositionGeneratorLog(trading.db, used.positionGeneratorLogId);
    expect(log?.settings).toMatchObject(settings);
    expect(calculated(await trading.generate({ signalId, userId })).position.method).toBe('Risk Management');
    for (const wrong of [
      { investmentPortion: '0.9' },
      { maximumRiskPerTrade: '1' },
      { positionSizingMethod: 'Scalping' },
    ]) {
      expect((await post(GENERATE, { signalId, userId, settings: wrong })).statusCode).toBe(400);
    }
  });

  // Requirements: trading-fields-17
  test('is also recorded when refused, with its reason', async () => {
    const { userId, signalId } = await subject(
      { price: '100' },
      { positionSizingMethod: 'Technical Analysis' },
    );
    const answer = refused(await trading.generate({ signalId, userId }));
    expect(answer).toMatchObject({
      error: 'ATR Required',
      message: 'ATR is required for Technical Analysis',
      availableBalance: '10000',
    });
    const log = await findPositionGeneratorLog(trading.db, answer.positionGeneratorLogId ?? '');
    expect(log).toMatchObject({ success: false, position: null, error: answer.message });
  });

  test('names the 33% limit and the available balance when the minimum exceeds 33% of the balance', async () => {
    const { userId, signalId } = await subject({ price: '100000000' });
    const answer = refused(await trading.generate({ signalId, userId }));
    expect(answer.message).toContain('33% limit');
    expect(answer.message).toContain('the available balance is 10000 USDT');
    expect(answer.details).toContain('availableBalance: 10000');
  });

  // Requirements: trading-validation-6
  test.each([
    ['a missing user id', { userId: undefined }, 400, NO_USER],
    ['an empty user id', { userId: '' }, 400, NO_USER],
    ['an unknown user', { userId: randomUUID() }, 404, 'User settings not found'],
    ['an unknown signal', { signalId: randomUUID() }, 404, 'Signal not found'],
    ['an unknown price log', { priceLogId: randomUUID() }, 404, 'Price log not found'],
  ])('is refused for %s', async (_name, changes, status, message) => {
    const { userId, signalId } = await subject({ token: 'BTC', price: '65000' });
    const before = (await logs()).length;
    const answer = await post(GENERATE, { signalId, userId, ...changes });
    expect([answer.statusCode, answer.json().message]).toEqual([status, message]);
    expect(await logs()).toHaveLength(before);
  });

  // Requirements: trading-calls-22
  testEveryCase(
    'uses the requested price log, but none of another token or another user’s webhook',
    async () => {
      const { userId } = await trading.createTrader({ positionSizingMethod: 'Technical Analysis' });
      const [token, other] = [trading.nextToken(), trading.nextToken()];
      const signalId = await trading.storeSignal({ token, price: '100', atr: '2' });
      await trading.storeSignal({ token: other, price: '100', atr: '1' });
      const { rows } = await trading.database.pool.query<{ id: string; token: string }>(
        'select id, token from price_logs where token = any($1)',
        [[token, other]],
      );
      const idOf = (wanted: string) => rows.find((row) => row.token === wanted)?.id;
      const own = calculated(await trading.generate({ signalId, userId, priceLogId: idOf(token) }));
      expect(own.position.atr).toBe('2');
      const foreign = await post(GENERATE, { signalId, userId, priceLogId: idOf(other) });
      expect([foreign.statusCode, foreign.json().message]).toEqual([
        400,
        `The price log is of ${other}, the signal of ${token}`,
      ]);
      await trading.query('update price_logs set from_admin = false where token = $1', [token]);
      expect((await post(GENERATE, { signalId, userId, priceLogId: idOf(token) })).statusCode).toBe(400);
      // By default the server does not match it either.
      expect(refused(await trading.generate({ signalId, userId, priceLogId: null })).error).toBe(
        'ATR Required',
      );
    },
  );

  test('uses the saved settings, and is refused for a user without a connection', async () => {
    const { db } = trading.database;
    const { userId, signalId } = await subject();
    await db
      .update(userSettings)
      .set({ positionSizingMethod: 'Portfolio Allocation', investmentPortion: '0.02' })
      .where(eq(userSettings.userId, userId));
    const { position } = calculated(await trading.generate({ signalId, userId }));
    expect(position.method).toBe('Portfolio Allocation');
    expect(D(position.investment).lte(200)).toBe(true);
    await db.update(userSettings).set({ exchangePlatform: 'Bybit' }).where(eq(userSettings.userId, userId));
    const elsewhere = refused(await trading.generate({ signalId, userId }));
    expect(elsewhere.message).toContain('Bybit');
  });
});

describe('the reference price', () => {
  const signalAt = (price: string, livePrice: string) => subject({ price, livePrice });

  // Requirements: trading-calculator-and-execution-1
  test('is the live price when it is more than 1% away from the signal price', async () => {
    const request = await signalAt('100', '120');
    const { position, calculationReason } = calculated(await trading.generate(request));
    expect(position).toMatchObject({ referencePrice: '120', priceSource: 'live' });
    expect(calculationReason).toContain('the live price differs by 20.00%, more than 1%');
  });

  // Requirements: trading-calls-22
  test('is the caller’s price only within 1% of the server’s live price', async () => {
    const request = await signalAt('100', '120');
    const near = calculated(await trading.generate({ ...request, currentMarketPrice: '121.2' }));
    expect(near.position.referencePrice).toBe('121.2');
    expect(near.message).toBe('Position calculated');
    const far = calculated(await trading.generate({ ...request, currentMarketPrice: '121.3' }));
    expect(far.position.referencePrice).toBe('120');
    expect(far.message).toContain('121.3 of the request is not within 1% of the live price 120');
  });

  // Requirements: trading-calculator-and-execution-2
  test('is the signal price when the price service is at its limit, and the reason says so', async () => {
    const request = await signalAt('100', '120');
    await trading.usePriceLimit(2);
    const answer = await post(GENERATE, { ...request, currentMarketPrice: '120' });
    const { position, calculationReason, message } = calculated(answer.json<GenerateAnswer>());
    expect(position).toMatchObject({ referencePrice: '100', priceSource: 'signal' });
    expect(calculationReason).toContain('Maximum 2 requests per second), so the signal price is used');
    expect(message).toContain('Maximum 2 requests per second');
  });

  // Requirements: trading-calculator-and-execution-2
  testEveryCase('is the signal price when the exchange has none', async () => {
    const request = await signalAt('100', '120');
    trading.site.setFaults([
      { kind: 'refuse', code: '40725', status: 400, on: { path: 'ticker', times: always } },
    ]);
    const { position, calculationReason } = calculated(await trading.generate(request));
    expect(position.referencePrice).toBe('100');
    expect(calculationReason).toMatch(/Bitget could not be asked: .*, so the signal price is used/);
  });
});

describe('a balance that cannot be read', () => {
  const balanceFails = () =>
    trading.site.setFaults([{ kind: 'badGatewayBefore', on: { path: 'account/accounts', times: always } }]);

  // Requirements: trading-messages-16
  test('is replaced by the last real one for a minute, whichever instance read it', async () => {
    const { userId, signalId } = await subject();
    const second = await trading.startInstance({ engine: false });
    expect((await second.admin.get(`/api/admin/account-balance/${userId}`)).statusCode).toBe(200);
    balanceFails();
    const answer = calculated(await trading.generate({ signalId, userId }));
    expect(answer).toMatchObject({ isEstimate: false, position: { availableBalance: '10000' } });
    expect(answer.message).toMatch(
      /API Integration failed: .* the real account balance of \d+ s ago is used/,
    );
    expect(answer.calculationReason).toMatch(/the real account balance that was read \d+ s ago is used\.$/);

    await trading.db
      .update(accountBalances)
      .set({ readAt: new Date(Date.now() - 61_000) })
      .where(eq(accountBalances.userId, userId));
    expect(calculated(await trading.generate({ signalId, userId })).isEstimate).toBe(true);
  });

  // Requirements: trading-messages-16, trading-constants-15
  test('yields a marked estimate with the fallback balance if none was read before', async () => {
    const { userId, signalId } = await subject();
    balanceFails();
    const answer = calculated(await trading.generate({ signalId, userId }));
    expect(answer).toMatchObject({ isEstimate: true, position: { availableBalance: '254.648' } });
    expect(answer.message).toContain('This is an estimate with a fallback balance of 254.648 USDT');
    // These words would trigger a toast that claims a real balance.
    expect(answer.message).not.toMatch(/Maximum 2 requests per second|rate limit|API Integration failed/);
    const log = await findPositionGeneratorLog(trading.db, answer.positionGeneratorLogId);
    expect(log?.isEstimate).toBe(true);
  });

  testEveryCase('is replaced by an earlier one less later orders', async () => {
    const { userId, signalId } = await subject();
    const first = calculated(await trading.generate({ signalId, userId }));
    const { db } = trading.database;
    const tradeId = randomUUID();
    await trading.query(
      `insert into trades (id, position_generator_log_id, signal_id, user_id, trigger_type, profile, exchange_platform,
         token, side, planned_quantity, entry_price, stop_loss, take_profit, leverage, planned_margin, state, created_at)
       values ($1, $2, $3, $4, 'manual', 'manual', 'Bitget', 'X', 'buy', 1, 1, 1, 1, 5, 4000, 'done', now())`,
      [tradeId, first.positionGeneratorLogId, signalId, userId],
    );
    await trading.query(
      `insert into order_attempts (id, trade_id, attempt, client_order_id, price, quantity, state, submitted_at)
       values ($1, $2, 1, $3, 1, 1, 'open', now())`,
      [randomUUID(), tradeId, tradeId],
    );
    balanceFails();
    const answer = calculated(await trading.generate({ signalId, userId }));
    expect(answer.position.availableBalance).toBe('6000');
    expect(await db.select().from(accountBalances).where(eq(accountBalances.userId, userId))).toMatchObject([
      { futuresAvailable: '10000' },
    ]);
  });

  test('is not overwritten by an older reading that arrives late', async () => {
    const { db } = trading.database;
    const { userId } = await trading.createTrader();
    const owner = { userId, exchangePlatform: 'Bitget' };
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
    await rememberBalance(db, { ...owner, futuresAvailable: '1', readAt: at(1) });
    await rememberBalance(db, { ...owner, futuresAvailable: '3', readAt: at(3) });
    await rememberBalance(db, { ...owner, futuresAvailable: '2', readAt: at(2) });
    expect(await findLastBalance(db, owner)).toMatchObject({ futuresAvailable: '3', readAt: at(3) });
  });

  testEveryCase(
    'yields an estimate with built-in contract rules when the contract is missing too',
    async () => {
      const offline = await trading.startInstance({
        engine: false,
        config: { bitgetBaseUrl: 'http://127.0.0.1:9', bybitBaseUrl: 'http://127.0.0.1:9' },
      });
      const { userId, signalId } = await subject();
      const answer = await offline.admin.post(GENERATE, { signalId, userId });
      expect(calculated(answer.json<GenerateAnswer>())).toMatchObject({
        isEstimate: true,
        position: { availableBalance: '254.648', referencePrice: '100' },
      });
    },
  );
});

describe('a preview', () => {
  const settings = {
    positionSizingMethod: 'Portfolio Allocation',
    investmentPortion: '0.10',
    maximumRiskPerTrade: '0.15',
  };

  // Requirements: additions-charts-5
  test('returns the calculation with the edited settings and all three methods, and saves nothing', async () => {
    const { userId, signalId } = await subject({ price: '100', atr: '1' });
    const before = (await logs()).length;
    await trading.clearPriceLimit();
    const answer = await post(PREVIEW, { signalId, userId, settings });
    expect(answer.statusCode, answer.body).toBe(200);
    const { chosen, methods, isEstimate } = answer.json<PreviewAnswer>();
    expect(isEstimate).toBe(false);
    expect(methods.map(({ method }) => method)).toEqual([
      'Risk Management',
      'Portfolio Allocation',
      'Technical Analysis',
    ]);
    expect(chosen).toEqual(methods[1]?.result);
    if (!chosen.success) throw new Error(chosen.error);
    expect(D(chosen.position.investment).lte(1_000)).toBe(true);
    expect(D(chosen.position.investment).gt(990)).toBe(true);
    expect(await logs()).toHaveLength(before);
    const [stored] = await trading.db.select().from(userSettings).where(eq(userSettings.userId, userId));
    expect(stored?.positionSizingMethod).toBe('Risk Management');

    // Saving and generating gives the previewed result.
    await trading.admin.put(`/api/admin/user-settings/${userId}`, settings);
    const generated = calculated(await trading.generate({ signalId, userId }));
    expect(generated.position).toEqual(chosen.position);
    expect(generated.hyperparameters).toEqual(chosen.hyperparameters);
  });

  test('gives a reason for each method that does not trade', async () => {
    const { userId, signalId } = await subject();
    const answer = await post(PREVIEW, { signalId, userId, settings: {} });
    const { chosen, methods } = answer.json<PreviewAnswer>();
    expect(chosen.success).toBe(true);
    expect(methods[2]?.result).toMatchObject({
      success: false,
      error: 'ATR is required for Technical Analysis',
    });
  });

  // Requirements: trading-calculator-and-execution-19, trading-validation-9
  test.each([
    ['a portion above 33%', { investmentPortion: '0.34' }],
    ['a risk above 15%', { maximumRiskPerTrade: '0.16' }],
    ['a method that is coming soon', { positionSizingMethod: 'Scalping' }],
  ])('with %s is answered 400', async (_name, changes) => {
    const { userId, signalId } = await subject({ token: 'BTC', price: '65000' });
    const answer = await post(PREVIEW, { signalId, userId, settings: { ...settings, ...changes } });
    expect(answer.statusCode).toBe(400);
  });

  test('of an unknown user or signal is answered 404', async () => {
    const { userId, signalId } = await subject({ token: 'BTC', price: '65000' });
    for (const changes of [{ userId: randomUUID() }, { signalId: randomUUID() }]) {
      expect((await post(PREVIEW, { signalId, userId, settings, ...changes })).statusCode).toBe(404);
    }
  });
});
