import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { OrderResult } from '#contract/position-maker.ts';
import { D } from '#domain/decimal.ts';
import { trades } from '#server/platform/db/schema.ts';
import { acquireLease } from '#server/platform/jobs/leases.ts';
import { nextStatement } from '#test/app/count-statements.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { ALWAYS } from '#test/app/shared-test-engine.ts';
import type { Answer } from '#test/app/test-client.ts';
import { startWorldByHand, type WorldByHand } from '#test/world/by-hand.ts';
import type { Instance } from '#test/world.ts';

const SUBMIT = '/api/position-maker/submit-order';
const PROCESS = '/api/individual-position-maker/process';
const ORDERS = '/api/position-maker/orders';

const SHORT_WAITS = { verifyFirstMs: 100, verifySecondMs: 100, cancelDelayMs: 50 };

let trading: WorldByHand;
let second: Instance;

beforeAll(async () => {
  trading = await startWorldByHand({ config: SHORT_WAITS });
  second = await trading.startInstance();
});
afterEach(() => trading.site.setFaults([]));
afterAll(() => trading.close());

const db = () => trading.db;
const submit = (logId: string, more: object = {}, by = trading.admin) =>
  by.post(SUBMIT, { positionGeneratorLogId: logId, triggerType: 'manual', ...more });
const tradesOf = (userId: string) => db().select().from(trades).where(eq(trades.userId, userId));
const entriesOf = async (accountId: string) =>
  (await trading.site.exchangeOrders(accountId)).filter(({ reduceOnly }) => !reduceOnly);

function resultOf(answer: Answer): OrderResult {
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<OrderResult>();
}

async function orderOf(logId: string, by = trading.admin): Promise<OrderResult | null> {
  const answer = await by.get(`${ORDERS}?positionGeneratorLogId=${logId}`);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<{ order: OrderResult | null }>().order;
}

async function untilDone(logId: string, by = trading.admin): Promise<OrderResult> {
  return await vi.waitFor(
    async () => {
      const order = await orderOf(logId, by);
      return order?.done ? order : expect.fail('the order was not done in time');
    },
    { timeout: 40_000, interval: 100 },
  );
}

describe('an order by hand', () => {
  // Requirements: trading-fields-19, trading-calculator-and-execution-10, trading-calls-24
  test('that fills immediately returns the whole fill without a second attempt', async () => {
    const { logId, token, userId, accountId, answer } = await trading.calculate();
    const { position } = answer;
    const result = resultOf(await submit(logId));
    const [trade] = await tradesOf(userId);
    const [order, ...more] = await entriesOf(accountId);
    expect(more).toEqual([]);
    expect(result).toMatchObject({
      tradeId: trade?.id,
      positionGeneratorLogId: logId,
      done: true,
      success: true,
      message: `Order filled: ${position.assetQuantity} ${token} at 100`,
      error: null,
      clientOid: order?.clientOrderId,
      positionRef: `Bitget:${token}USDT:long`,
      fillStatus: 'filled',
      protectionStatus: 'verified',
      requestData: {
        symbol: `${token}USDT`,
        price: position.entryPrice,
        size: position.assetQuantity,
        presetStopLossPrice: position.stopLoss,
        presetStopSurplusPrice: position.takeProfit,
        clientOid: order?.clientOrderId,
      },
      responseData: { code: '00000', data: { orderId: result.orderId } },
      verificationJourney: {
        attempts: [{ attempt: 1, state: 'filled', filledQuantity: position.assetQuantity, error: null }],
        isFilled: true,
        firstOrderFilled: true,
        secondAttemptExecuted: false,
        nextAttemptReady: false,
      },
      technicalDetails: {
        firstOrderFilled: true,
        secondAttemptExecuted: false,
        endpoint: `${trading.site.url}/api/v2/mix/order/place-order`,
        attempts: 1,
        isSecondAttempt: false,
      },
    });
    expect(result.technicalDetails.executionTime).toBeGreaterThanOrEqual(SHORT_WAITS.verifyFirstMs);
    expect(trade).toMatchObject({ triggerType: 'manual', profile: 'manual', workflowId: null });
    const calls = result.apiCallSequence.map(({ type }) => type);
    expect(calls).toEqual(expect.arrayContaining(['set-leverage', 'place-order', 'positions']));
    expect(calls.filter((type) => type === 'place-order')).toHaveLength(1);
    const { timeline } = result.verificationJourney;
    expect(timeline[0]).toMatch(/^\+0\.0 s Order planned: buy /);
    expect(timeline.at(-1)).toMatch(/^\+\d+\.\d s Done: filled /);
  });

  // Requirements: trading-fields-19, trading-calculator-and-execution-12
  test('that rests is cancelled and tried again at a fresh price', async () => {
    // The entry 100.5 is below the market of 100.8; the second entry at 100.8 + 2 × 0.5% is above it.
    const { logId, token, accountId, answer } = await trading.calculate({ livePrice: '100.8' });
    expect(answer.position.entryPrice).toBe('100.5');
    const result = resultOf(await submit(logId));
    expect(result).toMatchObject({
      success: true,
      fillStatus: 'filled',
      verificationJourney: {
        isFilled: true,
        firstOrderFilled: false,
        secondAttemptExecuted: true,
        attempts: [
          { attempt: 1, state: 'unfilled', price: '100.5', filledQuantity: '0' },
          { attempt: 2, state: 'filled', price: '101.808', averagePrice: '100.8' },
        ],
      },
      technicalDetails: { attempts: 2, isSecondAttempt: true, secondAttemptExecuted: true },
    });
    const entries = await entriesOf(accountId);
    expect(entries.map(({ state }) => state)).toEqual(['canceled', 'filled']);
    expect(result.clientOid).toBe(entries[1]?.clientOrderId);
    const [, again] = result.verificationJourney.attempts;
    expect(D(again?.quantity ?? 0).lt(answer.position.assetQuantity)).toBe(true);
    expect(await trading.site.holding(accountId, token)).toMatchObject({
      stopLoss: answer.position.stopLoss,
      takeProfit: answer.position.takeProfit,
    });
    expect(result.verificationJourney.timeline.join('\n')).toMatch(
      /not filled in time[\s\S]*Attempt 2 planned/,
    );
  });

  // Requirements: order-execution-10
  testEveryCase('that never fills fails', async () => {
    const { logId, accountId } = await trading.calculate();
    trading.site.setFaults([{ kind: 'restFirst', on: { times: ALWAYS } }]);
    const result = resultOf(await submit(logId));
    expect(result).toMatchObject({
      done: true,
      success: false,
      fillStatus: 'unfilled',
      error: 'The order was not filled after two attempts',
      message: 'The order was not filled after two attempts',
      positionRef: null,
      verificationJourney: { isFilled: false, firstOrderFilled: false, secondAttemptExecuted: true },
    });
    expect((await entriesOf(accountId)).map(({ state }) => state)).toEqual(['canceled', 'canceled']);
  });

  test('that the exchange refuses fails with the exchange’s message', async () => {
    const { logId } = await trading.calculate();
    const refusal = { code: '43012', message: 'Insufficient balance', status: 400 };
    trading.site.setFaults([{ kind: 'refuse', ...refusal, on: { path: 'place-order', times: ALWAYS } }]);
    const result = resultOf(await submit(logId));
    expect(result).toMatchObject({ done: true, success: false, fillStatus: 'unfilled', orderId: null });
    expect(result.error).toContain('Insufficient balance');
    expect(result.responseData).toMatchObject({ code: '43012' });
    expect(result.verificationJourney.secondAttemptExecuted).toBe(false);
  });

  // Requirements: order-execution-4
  test('with a lost answer is looked up and not sent again', async () => {
    const { logId, accountId } = await trading.calculate();
    trading.site.setFaults([{ kind: 'cutAfterAccept', on: { path: 'place-order' } }]);
    const result = resultOf(await submit(logId));
    expect(result).toMatchObject({ success: true, fillStatus: 'filled' });
    expect(result.verificationJourney.timeline.join('\n')).toContain('the outcome is not known');
    expect(await entriesOf(accountId)).toHaveLength(1);
  });

  testEveryCase('with a stop missing at the exchange reports that it was placed', async () => {
    const { logId } = await trading.calculate();
    trading.site.setFaults([{ kind: 'stopDropped' }]);
    expect(resultOf(await submit(logId))).toMatchObject({ success: true, protectionStatus: 'repaired' });
  });

  // Requirements: trading-calls-25
  test('goes through the process route as well, which takes only a calculation', async () => {
    const { logId, accountId } = await trading.calculate({ action: 'sell' });
    const answer = await trading.admin.post(PROCESS, { positionGeneratorLogId: logId });
    const result = resultOf(answer);
    expect(result).toMatchObject({ success: true, done: true });
    expect(result.positionRef).toMatch(/:short$/);
    expect(await entriesOf(accountId)).toMatchObject([{ side: 'sell', state: 'filled' }]);
  });

  testEveryCase('can be followed while it runs, and read afterwards', async () => {
    const { logId } = await trading.calculate({ livePrice: '100.8' });
    expect(await orderOf(logId)).toBeNull();
    // The order stays open while the exchange takes its time to say what became of it.
    trading.site.setFaults([{ kind: 'delay', delayMs: 500, on: { operation: 'find-order' } }]);
    const submission = submit(logId);
    const seen: OrderResult[] = [];
    for (;;) {
      const order = await orderOf(logId, second.admin);
      if (order !== null) seen.push(order);
      if (order?.done) break;
    }
    const result = resultOf(await submission);
    expect(seen[0]).toMatchObject({ tradeId: result.tradeId, done: false, success: false, error: null });
    expect(seen.some(({ verificationJourney }) => verificationJourney.attempts[0]?.state === 'open')).toBe(
      true,
    );
    expect(seen.at(-1)).toEqual(result);
    expect((await trading.admin.get(`${ORDERS}/${result.tradeId}`)).json()).toEqual(result);
  });

  test('that does not exist returns 404', async () => {
    for (const [url, message] of [
      [`${ORDERS}/${randomUUID()}`, 'Order not found'],
      [`${ORDERS}?positionGeneratorLogId=${randomUUID()}`, 'Calculation not found'],
    ] as const) {
      const answer = await trading.admin.get(url);
      expect([answer.statusCode, answer.json()]).toEqual([404, { message }]);
    }
    expect((await trading.admin.get(`${ORDERS}?positionGeneratorLogId=x`)).statusCode).toBe(400);
    const answer = await submit(randomUUID());
    expect([answer.statusCode, answer.json()]).toEqual([404, { message: 'Calculation not found' }]);
  });
});

describe('one order, however often it is requested', () => {
  const statuses = (answers: Answer[]) => answers.map(({ statusCode }) => statusCode).sort();

  // Requirements: order-execution-1
  test('for one calculation submitted concurrently from several tabs of two instances', async () => {
    const { logId, userId, accountId } = await trading.calculate();
    const answers = await Promise.all(
      [trading, second, trading, second].map(({ admin }) => submit(logId, {}, admin)),
    );
    expect(statuses(answers)).toEqual([200, 409, 409, 409]);
    const [trade, ...more] = await tradesOf(userId);
    expect(more).toEqual([]);
    for (const answer of answers.filter(({ statusCode }) => statusCode === 409)) {
      expect(answer.json().message).toContain(`This calculation was already traded: trade ${trade?.id}`);
    }
    expect(await entriesOf(accountId)).toHaveLength(1);
    const later = await submit(logId);
    expect([later.statusCode, later.json()]).toEqual([
      409,
      {
        message: `This calculation was already traded: trade ${trade?.id}, order ${trade?.orderId} is filled`,
      },
    ]);
    expect(await entriesOf(accountId)).toHaveLength(1);
  });

  test('for two concurrent calculations of one signal and user', async () => {
    const { logId, signalId, userId, accountId } = await trading.calculate();
    const other = await trading.generate({ signalId, userId });
    const answers = await Promise.all([
      submit(logId),
      submit(other.positionGeneratorLogId ?? '', {}, second.admin),
    ]);
    expect(statuses(answers)).toEqual([200, 409]);
    const refusal = answers.find(({ statusCode }) => statusCode === 409);
    expect(refusal?.json().message).toMatch(/^This signal was already traded: trade /);
    expect(await entriesOf(accountId)).toHaveLength(1);
  });

  testEveryCase('for two concurrent signals in one token for one user', async () => {
    const { logId, token, userId, accountId } = await trading.calculate();
    const signalId = await trading.storeSignal({ token, price: '100' });
    const other = await trading.generate({ signalId, userId });
    const answers = await Promise.all([
      submit(logId),
      submit(other.positionGeneratorLogId ?? '', {}, second.admin),
    ]);
    const results = answers.map((answer) => answer.json<{ success: boolean; message: string }>());
    expect(results.filter(({ success }) => success)).toHaveLength(1);
    expect(results.find(({ success }) => !success)?.message).toMatch(/is already open$/);
    expect(await entriesOf(accountId)).toHaveLength(1);
  });

  testEveryCase('waits while another order of the user is being prepared', async () => {
    const { logId, userId } = await trading.calculate();
    const lease = await acquireLease({ db: db(), key: `user:${userId}`, holder: 'a workflow' });
    expect(lease).not.toBeNull();
    const submission = submit(logId);
    // It asks for the lease again and again.
    for (let time = 0; time < 3; time += 1) await nextStatement('leases');
    expect(await orderOf(logId)).toBeNull();
    await db().execute(`update leases set lease_until = '-infinity' where key = 'user:${userId}'`);
    expect(resultOf(await submission).success).toBe(true);
  });
});

describe('a custom entry price', () => {
  // Requirements: trading-calculator-and-execution-8
  test('goes to the exchange, with its quantity', async () => {
    const { logId, accountId, answer } = await trading.calculate();
    const result = resultOf(await submit(logId, { customEntryPrice: '100.9' }));
    expect(result.success).toBe(true);
    const [order] = await entriesOf(accountId);
    expect(order).toMatchObject({ price: '100.9', presetStopLoss: answer.position.stopLoss });
    expect(D(order?.size ?? 0).lt(answer.position.assetQuantity)).toBe(true);
    expect(result.verificationJourney.timeline[0]).toContain(
      'at 100.9 (custom entry price in place of 100.5)',
    );
  });

  // Requirements: position-sizing-8
  test('is refused more than 1% from the live price', async () => {
    const { logId, userId } = await trading.calculate();
    const answer = await submit(logId, { customEntryPrice: '101.2' });
    expect(answer.json()).toMatchObject({ success: false, error: 'Custom Entry Price Too Far' });
    expect(await tradesOf(userId)).toEqual([]);
    expect((await submit(logId, { customEntryPrice: 'high' })).statusCode).toBe(400);
  });
});

// Requirements: trading-calculator-and-execution-15
testEveryCase.each([SUBMIT, PROCESS])(
  'places orders in production when MANUAL_ORDERS is enabled, through %s',
  async (url) => {
    const config = { appEnv: 'production', manualOrders: 'enabled' } as const;
    const production = await trading.startInstance({ config });
    const { logId, userId, accountId } = await trading.calculate();
    const answer = await production.admin.post(url, { positionGeneratorLogId: logId });
    expect([answer.statusCode, answer.json()], answer.body).toMatchObject([200, { success: true }]);
    expect(await tradesOf(userId)).toMatchObject([{ triggerType: 'manual', success: true }]);
    expect(await entriesOf(accountId)).toHaveLength(1);
    await production.stop();
  },
);

describe('nothing is ordered', () => {
  // Requirements: trading-calculator-and-execution-14
  test('in production outside paper mode, by either route', async () => {
    const production = await trading.startInstance({ engine: false, config: { appEnv: 'production' } });
    const { logId, userId } = await trading.calculate();
    for (const url of [SUBMIT, PROCESS]) {
      const answer = await production.admin.post(url, { positionGeneratorLogId: logId });
      expect([answer.statusCode, answer.json()]).toEqual([
        403,
        { message: 'Trading operations are disabled in live mode for safety' },
      ]);
    }
    const prepared = await production.admin.post('/api/position-maker/prepare', {
      positionGeneratorLogId: logId,
    });
    expect(prepared.json()).toMatchObject({ success: true });
    expect(await tradesOf(userId)).toEqual([]);
  });

  test('by an ordinary user', async () => {
    const { logId, userId } = await trading.calculate();
    const { client } = await trading.createUser();
    for (const url of [SUBMIT, PROCESS]) {
      expect((await client.post(url, { positionGeneratorLogId: logId })).statusCode).toBe(403);
    }
    expect(await tradesOf(userId)).toEqual([]);
  });
});

// Requirements: order-execution-11
test('completes the order when the caller goes away', async () => {
  const { logId, accountId } = await trading.calculate({ livePrice: '100.8' });
  await trading.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = trading.app.server.address() as AddressInfo;
  const gone = new AbortController();
  const call = fetch(`http://127.0.0.1:${port}${SUBMIT}`, {
    method: 'POST',
    headers: { cookie: trading.admin.cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ positionGeneratorLogId: logId }),
    signal: gone.signal,
  });
  await expect.poll(() => orderOf(logId)).not.toBeNull();
  gone.abort();
  await expect(call).rejects.toThrow();
  expect(await untilDone(logId)).toMatchObject({ success: true, verificationJourney: { isFilled: true } });
  expect(await entriesOf(accountId)).toHaveLength(2);
});

// Requirements: order-execution-11
testEveryCase(
  'leaves the order to the next instance when the process ends between intent and answer',
  async () => {
    const lonely = await startWorldByHand({ engine: false, config: SHORT_WAITS });
    try {
      const { logId, accountId } = await lonely.calculate({ livePrice: '100.8' });
      const doomed = await lonely.startInstance({ engine: false });
      const submission = submit(logId, {}, doomed.admin);
      await expect.poll(() => orderOf(logId, lonely.admin)).not.toBeNull();
      await doomed.stop();
      // The caller gets the state known so far.
      expect(resultOf(await submission)).toMatchObject({ done: false, success: false, error: null });
      const successor = await lonely.startInstance();
      const result = await untilDone(logId, successor.admin);
      expect(result).toMatchObject({ success: true, verificationJourney: { secondAttemptExecuted: true } });
      const again = await submit(logId, {}, successor.admin);
      expect(again.statusCode).toBe(409);
      const entries = (await lonely.site.exchangeOrders(accountId)).filter(({ reduceOnly }) => !reduceOnly);
      expect(entries.map(({ state }) => state)).toEqual(['canceled', 'filled']);
    } finally {
      await lonely.close();
    }
  },
);
