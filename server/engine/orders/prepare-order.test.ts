import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { PrepareAnswer, PreparedOrder } from '#contract/position-maker.ts';
import { D } from '#domain/decimal.ts';
import { positionGeneratorLogs, trades, userSettings, users } from '#server/platform/db/schema.ts';
import { type HandTrading, startHandTrading } from '#test/app/hand-trading.ts';

const always = Number.POSITIVE_INFINITY;

let trading: HandTrading;

beforeAll(async () => {
  trading = await startHandTrading({ engine: false });
});
afterEach(() => trading.site.setFaults([]));
afterAll(() => trading.close());

const db = () => trading.board.database.db;
const post = (body: unknown) => trading.board.admin.post('/api/position-maker/prepare', body);

async function prepare(positionGeneratorLogId: string, customEntryPrice?: string): Promise<PrepareAnswer> {
  const answer = await post({ positionGeneratorLogId, ...(customEntryPrice && { customEntryPrice }) });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<PrepareAnswer>();
}

async function prepared(logId: string, customEntryPrice?: string): Promise<PreparedOrder> {
  const answer = await prepare(logId, customEntryPrice);
  if (!answer.success) throw new Error(answer.message);
  return answer.data;
}

const reasonOf = async (logId: string, customEntryPrice?: string) =>
  (await prepared(logId, customEntryPrice)).validation.preAssessment;

describe('a prepared order', () => {
  // Requirements: trading-fields-18, trading-calls-23
  test('shows what would be sent, where, and that it may be', async () => {
    const { logId, token, answer } = await trading.calculate();
    const { position } = answer;
    const sent = trading.site.requests.length;
    const order = await prepare(logId);
    expect(order).toEqual({
      success: true,
      message: 'Order prepared',
      data: {
        validation: { preAssessment: { valid: true, reason: null } },
        positionDetails: {
          token,
          action: 'buy',
          entryPrice: position.entryPrice,
          quantity: position.quantity,
          assetQuantity: position.assetQuantity,
          leverage: position.leverage,
          stopLoss: position.stopLoss,
          takeProfit: position.takeProfit,
          riskPercentage: position.riskPercentage,
          investment: position.investment,
        },
        userSettings: { exchangePlatform: 'Bitget', activeTrading: true },
        inputParameters: {
          marketType: 'Futures',
          calculationBehavior: 'Futures_Limit_Classic',
          positionSizingMethod: position.method,
        },
        apiEndpoint: `${trading.site.url}/api/v2/mix/order/place-order`,
        exchange: 'Bitget',
        orderPayload: {
          symbol: `${token}USDT`,
          orderType: 'limit',
          side: 'buy',
          price: position.entryPrice,
          size: position.assetQuantity,
          force: 'GTC',
          marginCoin: 'USDT',
          marginMode: 'isolated',
          productType: 'USDT-FUTURES',
          clientOid: 'set-on-submission',
          presetStopLossPrice: position.stopLoss,
          presetStopSurplusPrice: position.takeProfit,
        },
      },
    });
    const requests = trading.site.requests.slice(sent).map(({ method }) => method);
    expect(new Set(requests)).toEqual(new Set(['GET']));
  });

  test('tells no secret of the account', async () => {
    const { logId, userId } = await trading.calculate();
    const account = await trading.board.deps.findAccount(userId, 'Bitget');
    const answer = await post({ positionGeneratorLogId: logId });
    for (const secret of Object.values(account?.credentials ?? {}).filter((text) => text !== 'classic')) {
      expect(answer.body).not.toContain(secret);
    }
  });

  test('leaves nothing behind', async () => {
    const { logId, userId, accountId } = await trading.calculate();
    await prepare(logId);
    await prepare(logId, '100.1');
    expect(await db().select().from(trades).where(eq(trades.userId, userId))).toEqual([]);
    expect(await trading.site.exchangeOrders(accountId)).toEqual([]);
  });
});

describe('an order with an entry price of the operator’s', () => {
  // Requirements: trading-calculator-and-execution-8
  test('is shown with its own quantities, never above the calculated ones', async () => {
    const { logId, answer } = await trading.calculate();
    const { position } = answer;
    const order = await prepared(logId, '100.99999999');
    expect(order.validation.preAssessment).toEqual({ valid: true, reason: null });
    expect(order.positionDetails).toMatchObject({
      entryPrice: '101',
      stopLoss: position.stopLoss,
      takeProfit: position.takeProfit,
    });
    expect(order.orderPayload).toMatchObject({ price: '101', size: order.positionDetails.assetQuantity });
    for (const key of ['assetQuantity', 'investment', 'riskPercentage'] as const) {
      expect(D(order.positionDetails[key]).lte(position[key]), key).toBe(true);
    }
    expect(D(order.positionDetails.assetQuantity).lt(position.assetQuantity)).toBe(true);
    const lower = await prepared(logId, '99.0001');
    expect(lower.positionDetails).toMatchObject({
      entryPrice: '99.0001',
      assetQuantity: position.assetQuantity,
    });
  });

  test.each([
    ['101.01', 'Custom entry price 101.01 is 1.01% away from the live price 100, the limit is 1%'],
    ['98.9', 'Custom entry price 98.9 is 1.10% away from the live price 100, the limit is 1%'],
    ['0', 'Custom entry price 0 is not a number above zero'],
  ])('of %s is shown as calculated, and why it cannot be submitted', async (custom, reason) => {
    const { logId, answer } = await trading.calculate();
    const order = await prepared(logId, custom);
    expect(order.validation.preAssessment).toEqual({ valid: false, reason });
    expect(order.positionDetails.entryPrice).toBe(answer.position.entryPrice);
  });

  // Requirements: trading-validation-11
  test.each(['1e5', '-1', 'abc', '0.123456789', '1,5'])('of %s is answered 400', async (custom) => {
    const { logId } = await trading.calculate({ token: 'BTC', price: '65000' });
    const answer = await post({ positionGeneratorLogId: logId, customEntryPrice: custom });
    expect([answer.statusCode, answer.json().message]).toEqual([
      400,
      'Entry price must be a number with at most 8 decimals',
    ]);
  });
});

describe('nothing is prepared', () => {
  test('for a calculation that does not exist', async () => {
    const answer = await post({ positionGeneratorLogId: randomUUID() });
    expect([answer.statusCode, answer.json()]).toEqual([404, { message: 'Calculation not found' }]);
    expect((await post({ positionGeneratorLogId: 'none' })).statusCode).toBe(400);
  });

  // Requirements: trading-validation-2
  test('for a calculation that was refused', async () => {
    const { userId } = await trading.createTrader({ positionSizingMethod: 'Technical Analysis' });
    const signalId = await trading.storeSignal({ token: 'BTC', price: '65000' });
    const { positionGeneratorLogId } = await trading.generate({ signalId, userId });
    expect(await prepare(positionGeneratorLogId ?? '')).toEqual({
      success: false,
      error: 'No Position Data',
      message: 'Please calculate position parameters first.',
      details: '',
      data: null,
    });
  });

  // Requirements: trading-calculator-and-execution-7, trading-validation-3
  test.each(['stopLoss', 'takeProfit'])('without a %s', async (missing) => {
    const { logId } = await trading.calculate({ token: 'BTC', price: '65000' });
    await trading.board.database.pool.query(
      `update position_generator_logs set position = jsonb_set(position, $2, 'null') where id = $1`,
      [logId, `{${missing}}`],
    );
    expect(await prepare(logId)).toMatchObject({
      success: false,
      error: 'SAFETY VIOLATION',
      message: 'Cannot prepare order without Stop Loss and Take Profit. This is a strict safety rule.',
      data: null,
    });
  });

  test('when the exchange cannot be asked for its contracts', async () => {
    const { logId } = await trading.calculate({ token: 'BTC', price: '65000' });
    const offline = await trading.startInstance({
      engine: false,
      config: { bitgetBaseUrl: 'http://127.0.0.1:9', bybitBaseUrl: 'http://127.0.0.1:9' },
    });
    const answer = await offline.admin.post('/api/position-maker/prepare', { positionGeneratorLogId: logId });
    expect(answer.json()).toMatchObject({ success: false, error: 'Exchange Unavailable', data: null });
  });
});

describe('the pre-assessment is invalid', () => {
  // Requirements: position-sizing-9
  test('when the calculation is older than 5 minutes', async () => {
    const { logId } = await trading.calculate();
    const at = (ageMs: number) =>
      db()
        .update(positionGeneratorLogs)
        .set({ createdAt: new Date(Date.now() - ageMs) })
        .where(eq(positionGeneratorLogs.id, logId));
    await at(4.8 * 60_000);
    expect(await reasonOf(logId)).toEqual({ valid: true, reason: null });
    await at(5.1 * 60_000);
    expect(await reasonOf(logId)).toEqual({
      valid: false,
      reason: 'The calculation is 5.1 minutes old, the limit is 5 minutes',
    });
  });

  // Requirements: position-sizing-9
  test('for an estimate', async () => {
    const { userId } = await trading.createTrader();
    const signalId = await trading.storeSignal({ token: trading.nextToken(), price: '100' });
    trading.site.setFaults([{ kind: 'badGatewayBefore', on: { path: 'account/accounts', times: always } }]);
    const answer = await trading.generate({ signalId, userId });
    trading.site.setFaults([]);
    expect(answer).toMatchObject({ success: true, isEstimate: true });
    expect((await reasonOf(answer.positionGeneratorLogId ?? '')).reason).toBe(
      'The calculation is an estimate without a real account balance and cannot be submitted',
    );
  });

  // Requirements: position-sizing-9
  test('when the live price has moved by more than 1%, or beyond stop or target', async () => {
    const { logId, token } = await trading.calculate();
    for (const [price, reason] of [
      ['101.1', 'The live price 101.1 has moved 1.10% from the calculated price 100, the limit is 1%'],
      ['97', 'The live price 97 has reached the stop loss 98'],
      ['104.5', 'The live price 104.5 has reached the take profit 104'],
    ] as const) {
      await trading.site.push(token, price);
      await trading.outlivePrices();
      expect(await reasonOf(logId)).toEqual({ valid: false, reason });
    }
  });

  // Requirements: position-sizing-9
  test('for a user who is inactive, in the wrong mode, or without a connection', async () => {
    const { logId, userId } = await trading.calculate();
    const change = (fields: Partial<typeof users.$inferInsert>) =>
      db().update(users).set(fields).where(eq(users.id, userId));
    await change({ isActive: false });
    expect((await reasonOf(logId)).reason).toBe('User is inactive');
    await change({ isActive: true, isTestUser: false });
    expect((await reasonOf(logId)).reason).toBe(
      'Regular users trade only in live mode, the current mode is sandbox',
    );
    await change({ isTestUser: true });
    const { findAccount } = trading.board.deps;
    trading.board.deps.findAccount = async () => null;
    try {
      expect((await reasonOf(logId)).reason).toMatch(/credentials are connected$/);
    } finally {
      trading.board.deps.findAccount = findAccount;
    }
    expect((await reasonOf(logId)).valid).toBe(true);
  });

  // Requirements: position-sizing-9
  test('when a position or an open entry in the token exists at the exchange', async () => {
    const { logId, token, userId } = await trading.calculate();
    const account = await trading.board.deps.findAccount(userId, 'Bitget');
    if (account === null) throw new Error('no account');
    const exchange = trading.board.deps.exchanges.get('Bitget');
    await exchange.prepareAccount(account, { token, leverage: 5 });
    const order = {
      token,
      side: 'buy' as const,
      quantity: '1',
      leverage: 5,
      stopLoss: '90',
      takeProfit: '120',
    };
    const inTime = { notAfter: new Date(Date.now() + 10_000) };
    await exchange.placeOrder(account, { ...order, clientOrderId: 'rests', price: '95' }, inTime);
    expect((await reasonOf(logId)).reason).toBe(`An entry order in ${token} is already open`);
    await exchange.cancelOrder(account, { token, clientOrderId: 'rests' });
    expect((await reasonOf(logId)).valid).toBe(true);
    await exchange.placeOrder(account, { ...order, clientOrderId: 'fills', price: '100' }, inTime);
    expect((await reasonOf(logId)).reason).toBe(`A position in ${token} is already open`);
  });

  test.each(['ticker', 'all-position', 'orders-pending'])(
    'when the exchange does not answer for %s',
    async (path) => {
      const { logId } = await trading.calculate();
      await trading.outlivePrices();
      trading.site.setFaults([{ kind: 'timeout', on: { path, times: always } }]);
      const { valid, reason } = await reasonOf(logId);
      expect(valid).toBe(false);
      expect(reason).toMatch(/^Bitget could not be asked: /);
    },
  );

  test('active trading is no part of it: an order by hand is not an automatic one', async () => {
    const { logId, userId } = await trading.calculate();
    await db().update(userSettings).set({ activeTrading: false }).where(eq(userSettings.userId, userId));
    const order = await prepared(logId);
    expect(order.validation.preAssessment.valid).toBe(true);
    expect(order.userSettings.activeTrading).toBe(false);
  });
});
