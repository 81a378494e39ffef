import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { PrepareAnswer, PreparedOrder } from '#contract/position-maker.ts';
import { D } from '#domain/decimal.ts';
import { positionGeneratorLogs, trades, userSettings, users } from '#server/platform/db/schema.ts';
import { oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { ALWAYS } from '#test/app/shared-test-engine.ts';
import { startWorldByHand, type WorldByHand } from '#test/world/by-hand.ts';

let trading: WorldByHand;

beforeAll(async () => {
  trading = await startWorldByHand({ engine: false });
});
afterEach(() => trading.site.setFaults([]));
afterAll(() => trading.close());

const db = () => trading.db;
const post = (body: unknown) => trading.admin.post('/api/position-maker/prepare', body);
const submit = (positionGeneratorLogId: string) =>
  trading.admin.post('/api/position-maker/submit-order', { positionGeneratorLogId });

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
  test('shows what would be sent, to which exchange, and that it may be sent', async () => {
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

  test('reveals no secret of the account', async () => {
    const { logId, userId } = await trading.calculate();
    const account = await trading.deps.findAccount(userId, 'Bitget');
    const answer = await post({ positionGeneratorLogId: logId });
    for (const secret of Object.values(account?.credentials ?? {}).filter((text) => text !== 'classic')) {
      expect(answer.body).not.toContain(secret);
    }
  });

  test('writes nothing', async () => {
    const { logId, userId, accountId } = await trading.calculate();
    await prepare(logId);
    await prepare(logId, '100.1');
    expect(await db().select().from(trades).where(eq(trades.userId, userId))).toEqual([]);
    expect(await trading.site.exchangeOrders(accountId)).toEqual([]);
  });
});

describe('an order with a custom entry price', () => {
  // Requirements: trading-calculator-and-execution-8
  test('has its own quantities, never above the calculated ones', async () => {
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
  ])('of %s is shown as calculated, with the reason why it cannot be submitted', async (custom, reason) => {
    const { logId, answer } = await trading.calculate();
    const order = await prepared(logId, custom);
    expect(order.validation.preAssessment).toEqual({ valid: false, reason });
    expect(order.positionDetails.entryPrice).toBe(answer.position.entryPrice);
  });

  // Requirements: trading-validation-11
  test.each(['1e5', '-1', 'abc', '0.123456789', '1,5'])('of %s returns 400', async (custom) => {
    const { logId } = await trading.calculate({ token: 'BTC', price: '65000' });
    const answer = await post({ positionGeneratorLogId: logId, customEntryPrice: custom });
    expect([answer.statusCode, answer.json().message]).toEqual([
      400,
      'Entry price must be a number with at most 8 decimals',
    ]);
  });
});

/** Both routes refuse the order with this answer, and nothing is ordered. */
async function expectRefused(logId: string, userId: string, answer: { error: string; message: unknown }) {
  const submitted = await submit(logId);
  expect([submitted.statusCode, submitted.json()]).toMatchObject([200, { success: false, ...answer }]);
  expect(await db().select().from(trades).where(eq(trades.userId, userId))).toEqual([]);
}

describe('nothing is prepared or submitted', () => {
  const NO_POSITION = { error: 'No Position Data', message: 'Please calculate position parameters first.' };
  const UNPROTECTED = {
    error: 'SAFETY VIOLATION',
    message: 'Cannot prepare order without Stop Loss and Take Profit. This is a strict safety rule.',
  };

  test('for a calculation that does not exist', async () => {
    const answer = await post({ positionGeneratorLogId: randomUUID() });
    expect([answer.statusCode, answer.json()]).toEqual([404, { message: 'Calculation not found' }]);
    expect((await post({ positionGeneratorLogId: 'none' })).statusCode).toBe(400);
  });

  // Requirements: trading-validation-2
  test('for a calculation that was refused', async () => {
    const { userId } = await trading.createTrader({ positionSizingMethod: 'Technical Analysis' });
    const signalId = await trading.storeSignal({ token: 'BTC', price: '65000' });
    const logId = (await trading.generate({ signalId, userId })).positionGeneratorLogId ?? '';
    expect(await prepare(logId)).toEqual({ success: false, ...NO_POSITION, details: '', data: null });
    await expectRefused(logId, userId, NO_POSITION);
  });

  // Requirements: trading-calculator-and-execution-7, trading-validation-3
  test.each(['stopLoss', 'takeProfit'])('without a %s', async (missing) => {
    const { logId, userId } = await trading.calculate({ token: 'BTC', price: '65000' });
    await trading.database.pool.query(
      `update position_generator_logs set position = jsonb_set(position, $2, 'null') where id = $1`,
      [logId, `{${missing}}`],
    );
    expect(await prepare(logId)).toMatchObject({ success: false, ...UNPROTECTED, data: null });
    await expectRefused(logId, userId, UNPROTECTED);
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

describe('an order is assessed as invalid, and not submitted', () => {
  interface Calculation {
    logId: string;
    userId: string;
    token: string;
  }
  const user =
    (fields: Partial<typeof users.$inferInsert>) =>
    ({ userId }: Calculation) =>
      db().update(users).set(fields).where(eq(users.id, userId));
  const price =
    (livePrice: string) =>
    async ({ token }: Calculation) => {
      await trading.site.push(token, livePrice);
      await trading.outlivePrices();
    };
  const silent = (path: string) => async () => {
    await trading.outlivePrices();
    trading.site.setFaults([{ kind: 'cutBeforeAccept', on: { path, times: ALWAYS } }]);
  };
  const age =
    (minutes: number) =>
    ({ logId }: Calculation) =>
      db()
        .update(positionGeneratorLogs)
        .set({ createdAt: new Date(Date.now() - minutes * 60_000) })
        .where(eq(positionGeneratorLogs.id, logId));

  const invalid: [string, (calculation: Calculation) => PromiseLike<unknown>, string, RegExp][] = [
    [
      '5 minutes old',
      age(5.1),
      'Calculation Too Old',
      /^The calculation is 5\.1 minutes old, the limit is 5 minutes$/,
    ],
    [
      'at a price that moved by more than 1%',
      price('101.1'),
      'Price Moved',
      /^The live price 101\.1 has moved 1\.10% from the calculated price 100, the limit is 1%$/,
    ],
    [
      'beyond its stop',
      price('97'),
      'Price Beyond Stop Loss',
      /^The live price 97 has reached the stop loss 98$/,
    ],
    [
      'beyond its target',
      price('104.5'),
      'Price Beyond Take Profit',
      /^The live price 104\.5 has reached the take profit 104$/,
    ],
    ['of an inactive user', user({ isActive: false }), 'User Inactive', /^User is inactive$/],
    [
      'of a user of another mode',
      user({ isTestUser: false }),
      'Wrong Mode',
      /^Regular users trade only in live mode, the current mode is sandbox$/,
    ],
    ['without a price', silent('ticker'), 'Exchange Unavailable', /^Bitget could not be asked: /],
    ['without positions', silent('single-position'), 'Exchange Unavailable', /^Bitget could not be asked: /],
    ['without open orders', silent('orders-pending'), 'Exchange Unavailable', /^Bitget could not be asked: /],
  ];
  /** Other prices, users and requests. */
  const neighbours = [
    'beyond its stop',
    'beyond its target',
    'of a user of another mode',
    'without positions',
    'without open orders',
  ];
  // Requirements: position-sizing-9, trading-validation-5
  test.each(oneOfEachKind(invalid, ([name]) => !neighbours.includes(name)))(
    '%s',
    async (_name, arrange, error, message) => {
      const calculation = await trading.calculate();
      expect(await reasonOf(calculation.logId)).toEqual({ valid: true, reason: null });
      await arrange(calculation);
      const reason = expect.stringMatching(message);
      expect(await reasonOf(calculation.logId)).toEqual({ valid: false, reason });
      await expectRefused(calculation.logId, calculation.userId, { error, message: reason });
    },
  );

  // Requirements: position-sizing-9, trading-validation-5, trading-messages-16
  testEveryCase('from an estimate', async () => {
    const { userId } = await trading.createTrader();
    const signalId = await trading.storeSignal({ token: trading.nextToken(), price: '100' });
    trading.site.setFaults([{ kind: 'badGatewayBefore', on: { path: 'account/accounts', times: ALWAYS } }]);
    const answer = await trading.generate({ signalId, userId });
    trading.site.setFaults([]);
    expect(answer).toMatchObject({ success: true, isEstimate: true });
    const logId = answer.positionGeneratorLogId ?? '';
    const reason = 'The calculation is an estimate without a real account balance and cannot be submitted';
    expect((await reasonOf(logId)).reason).toBe(reason);
    await expectRefused(logId, userId, { error: 'Estimate Only', message: reason });
  });

  // Requirements: position-sizing-9
  test('of a user without a connection', async () => {
    const { logId } = await trading.calculate();
    const { findAccount } = trading.deps;
    trading.deps.findAccount = async () => null;
    try {
      expect((await reasonOf(logId)).reason).toMatch(/credentials are connected$/);
    } finally {
      trading.deps.findAccount = findAccount;
    }
    expect((await reasonOf(logId)).valid).toBe(true);
  });

  // Requirements: position-sizing-9
  testEveryCase('when a position or an open entry in the token exists at the exchange', async () => {
    const { logId, token, userId } = await trading.calculate();
    const account = await trading.deps.findAccount(userId, 'Bitget');
    if (account === null) throw new Error('no account');
    const exchange = trading.deps.exchanges.get('Bitget');
    await exchange.prepareAccount(account, { token, leverage: 5 });
    const order = {
      token,
      side: 'buy',
      quantity: '1',
      leverage: 5,
      stopLoss: '90',
      takeProfit: '120',
    } as const;
    const inTime = { notAfter: new Date(Date.now() + 10_000) };
    await exchange.placeOrder(account, { ...order, clientOrderId: 'rests', price: '95' }, inTime);
    expect((await reasonOf(logId)).reason).toBe(`An entry order in ${token} is already open`);
    await exchange.cancelOrder(account, { token, clientOrderId: 'rests' });
    expect((await reasonOf(logId)).valid).toBe(true);
    await exchange.placeOrder(account, { ...order, clientOrderId: 'fills', price: '100' }, inTime);
    expect((await reasonOf(logId)).reason).toBe(`A position in ${token} is already open`);
  });
});

test('accepts an order by hand while active trading is off', async () => {
  const { logId, userId } = await trading.calculate();
  await db().update(userSettings).set({ activeTrading: false }).where(eq(userSettings.userId, userId));
  const order = await prepared(logId);
  expect(order.validation.preAssessment.valid).toBe(true);
  expect(order.userSettings.activeTrading).toBe(false);
});
