import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { D } from '#domain/decimal.ts';
import type {
  CallRecord,
  EntryOrder,
  Exchange,
  ExchangeAccount,
  OrderReport,
  PlacementContext,
} from './exchange.ts';
import type { PaperFault } from './paper/faults.ts';

/** An exchange under test, with a hand on its prices, its faults and its books. */
export interface ExchangeUnderTest {
  exchange: Exchange;
  /** The same with a deadline of a second, for the tests that wait for it. */
  hastyExchange: Exchange;
  /** A new account with 10,000 USDT. */
  newAccount(): ExchangeAccount;
  push(token: string, price: string): void;
  setFaults(faults: PaperFault[]): void;
  /** The exchange's own ledger, read past the port. */
  ordersOf(account: ExchangeAccount): Promise<{ clientOrderId: string; state: string; filledSize: string }[]>;
  balanceOf(account: ExchangeAccount): Promise<string>;
  close(): Promise<void>;
}

let lastId = 0;
const newId = () => {
  lastId += 1;
  return `t${Date.now().toString(36)}-${lastId}`;
};

const inTime = (): PlacementContext => ({ notAfter: new Date(Date.now() + 60_000) });

function buy(changes: Partial<EntryOrder> = {}): EntryOrder {
  return {
    token: 'BTC',
    side: 'buy',
    clientOrderId: newId(),
    price: '65000',
    quantity: '0.01',
    leverage: 10,
    stopLoss: '63000',
    takeProfit: '69000.1',
    ...changes,
  };
}

/** What every exchange behind the port has to do. */
export function exchangeSuite(name: string, open: () => Promise<ExchangeUnderTest>): void {
  describe(name, () => {
    let under: ExchangeUnderTest;
    let exchange: Exchange;
    let account: ExchangeAccount;

    beforeAll(async () => {
      under = await open();
      exchange = under.exchange;
    });
    afterAll(() => under?.close());

    async function readyAccount(): Promise<ExchangeAccount> {
      const fresh = under.newAccount();
      await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 10 });
      return fresh;
    }

    beforeEach(async () => {
      under.setFaults([]);
      under.push('BTC', '65000');
      account = await readyAccount();
    });

    const find = async (order: { token: string; clientOrderId: string }): Promise<OrderReport> => {
      const report = await exchange.findOrder(account, order);
      if (!report) throw new Error(`${order.clientOrderId} was not found`);
      return report;
    };

    describe('an order that is described', () => {
      test('is the request that is sent when it is placed, and describing it sends nothing', async () => {
        const order = buy({ price: '64999.5' });
        const described = await exchange.describeOrder(order);
        expect(await exchange.findOrder(account, order)).toBeNull();
        expect(await under.ordersOf(account)).toEqual([]);
        const calls: CallRecord[] = [];
        const context = { ...inTime(), onCall: (call: CallRecord) => calls.push(call) };
        expect(await exchange.placeOrder(account, order, context)).toMatchObject({ outcome: 'placed' });
        const [placed] = calls.filter(({ type }) => type === 'place-order');
        expect(placed).toMatchObject({ method: described.method, endpoint: described.endpoint });
        expect(described.payload).toEqual(placed?.requestData);
        expect(JSON.stringify(described)).toContain(order.clientOrderId);
      });

      test('is refused where it would not be sent', async () => {
        await expect(exchange.describeOrder(buy({ price: '65000.123456' }))).rejects.toMatchObject({
          kind: 'refused',
        });
        await expect(exchange.describeOrder(buy({ token: 'NOSUCHTOKEN' }))).rejects.toMatchObject({
          kind: 'refused',
        });
      });
    });

    describe('market data', () => {
      test('the ticker gives the newest price', async () => {
        under.push('ETH', '3012.55');
        const ticker = await exchange.fetchTicker('ETH');
        expect(ticker).toMatchObject({ token: 'ETH', lastPrice: '3012.55', markPrice: '3012.55' });
      });

      test('a token without a contract has neither ticker nor contract', async () => {
        expect(await exchange.fetchTicker('NOSUCHTOKEN')).toBeNull();
        expect(await exchange.fetchContract('BTC?x=')).toBeNull();
        expect(await exchange.fetchContract('__proto__')).toBeNull();
      });

      test('steps and minimums are exact decimals', async () => {
        expect(await exchange.fetchContract('PEPE')).toMatchObject({
          tickSize: '0.00000001',
          quantityStep: '1',
          minimumQuantity: '1000',
          minimumNotional: '5',
        });
        expect(await exchange.fetchContract('BTC')).toMatchObject({
          tickSize: '0.1',
          quantityStep: '0.0001',
        });
      });

      test('twenty simultaneous price requests make one call', async () => {
        under.push('SOL', '150.123');
        const calls: CallRecord[] = [];
        await exchange.fetchContract('SOL');
        await Promise.all(
          Array.from({ length: 20 }, () =>
            exchange.fetchTicker('SOL', { onCall: (call) => calls.push(call) }),
          ),
        );
        expect(calls).toHaveLength(1);
      });
    });

    describe('an entry that fills', () => {
      test('is placed, found filled at the mark, and its position has the stop and target it carried', async () => {
        const order = buy({ price: '65010' });
        expect(await exchange.placeOrder(account, order, inTime())).toMatchObject({ outcome: 'placed' });
        expect(await find(order)).toMatchObject({
          state: 'filled',
          side: 'buy',
          quantity: '0.01',
          filledQuantity: '0.01',
          averagePrice: '65000',
          price: '65010',
          fee: '0.39',
          stopLoss: '63000',
          takeProfit: '69000.1',
        });
        expect(await exchange.fetchPosition(account, 'BTC')).toMatchObject({
          side: 'long',
          quantity: '0.01',
          entryPrice: '65000',
          leverage: 10,
          marginMode: 'isolated',
          margin: '65',
        });
        expect(await exchange.fetchProtection(account, 'BTC')).toEqual({
          stopLoss: '63000',
          takeProfit: '69000.1',
        });
      });

      test('moves the balance by margin and fee, exactly as the ledger has it', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        const balance = await exchange.fetchBalance(account);
        expect(balance).toMatchObject({
          futuresBalance: '9999.61',
          futuresAvailable: '9934.61',
          futuresLocked: '0',
          spotBalance: null,
        });
        expect(D(await under.balanceOf(account)).toFixed()).toBe('9999.61');
      });

      test('is closed by its stop when the mark falls through it, at that mark', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        under.push('BTC', '62900');
        expect(await exchange.fetchPosition(account, 'BTC')).toBeNull();
        // 21 lost, 0.39 and 0.3774 of fees.
        expect((await exchange.fetchBalance(account)).futuresBalance).toBe('9978.2326');
        expect(await exchange.fetchProtection(account, 'BTC')).toEqual({ stopLoss: null, takeProfit: null });
      });

      test('is closed by its target when the mark rises through it', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        under.push('BTC', '69100');
        expect(await exchange.fetchPositions(account)).toEqual([]);
        expect((await exchange.fetchBalance(account)).futuresBalance).toBe('10040.1954');
      });

      test('can be a short, protected on its other sides', async () => {
        const order = buy({ side: 'sell', price: '64990', stopLoss: '66000', takeProfit: '62000' });
        await exchange.placeOrder(account, order, inTime());
        expect(await exchange.fetchPosition(account, 'BTC')).toMatchObject({
          side: 'short',
          quantity: '0.01',
        });
        expect(await exchange.fetchProtection(account, 'BTC')).toEqual({
          stopLoss: '66000',
          takeProfit: '62000',
        });
      });

      test('may fill in part: the rest stays open and the stop covers the position', async () => {
        under.setFaults([{ kind: 'partialFill', fraction: '0.3' }]);
        const order = buy({ quantity: '0.01' });
        await exchange.placeOrder(account, order, inTime());
        expect(await find(order)).toMatchObject({ state: 'partially-filled', filledQuantity: '0.003' });
        expect((await exchange.fetchPosition(account, 'BTC'))?.quantity).toBe('0.003');
        expect((await exchange.fetchProtection(account, 'BTC')).stopLoss).toBe('63000');
        expect(await exchange.cancelOrder(account, order)).toEqual({ outcome: 'accepted' });
        expect(await find(order)).toMatchObject({ state: 'cancelled', filledQuantity: '0.003' });
      });
    });

    describe('an entry that rests', () => {
      const resting = () => buy({ price: '64000', stopLoss: '62000' });

      test('is listed as open and locks its margin and fee', async () => {
        const order = resting();
        await exchange.placeOrder(account, order, inTime());
        expect(await find(order)).toMatchObject({ state: 'open', filledQuantity: '0', averagePrice: null });
        const open = await exchange.fetchOpenOrders(account, 'BTC');
        expect(open.map(({ clientOrderId }) => clientOrderId)).toEqual([order.clientOrderId]);
        expect(await exchange.fetchBalance(account)).toMatchObject({
          futuresBalance: '10000',
          futuresAvailable: '9935.616',
          futuresLocked: '64.384',
        });
      });

      test('fills as a maker when the mark reaches it', async () => {
        const order = resting();
        await exchange.placeOrder(account, order, inTime());
        under.push('BTC', '64000.1');
        expect((await find(order)).state).toBe('open');
        under.push('BTC', '63990');
        expect(await find(order)).toMatchObject({ state: 'filled', averagePrice: '63990', fee: '0.12798' });
        expect((await exchange.fetchProtection(account, 'BTC')).stopLoss).toBe('62000');
      });

      test('is cancelled, and its money comes back', async () => {
        const order = resting();
        await exchange.placeOrder(account, order, inTime());
        expect(await exchange.cancelOrder(account, order)).toEqual({ outcome: 'accepted' });
        expect((await find(order)).state).toBe('cancelled');
        expect(await exchange.fetchOpenOrders(account, 'BTC')).toEqual([]);
        expect((await exchange.fetchBalance(account)).futuresAvailable).toBe('10000');
      });

      test('may fill before its cancel arrives', async () => {
        const order = resting();
        await exchange.placeOrder(account, order, inTime());
        under.setFaults([{ kind: 'cancelLosesToFill' }]);
        expect((await exchange.cancelOrder(account, order)).outcome).toBe('not-found');
        expect((await find(order)).state).toBe('filled');
      });

      test('may fill although its cancel was acknowledged', async () => {
        const order = resting();
        await exchange.placeOrder(account, order, inTime());
        under.setFaults([{ kind: 'cancelAcknowledgedButFilled' }]);
        expect((await exchange.cancelOrder(account, order)).outcome).toBe('accepted');
        expect((await find(order)).state).toBe('filled');
      });
    });

    describe('client order ids', () => {
      test('an unknown one is found to be unknown, and cannot be cancelled', async () => {
        const reference = { token: 'BTC', clientOrderId: newId() };
        expect(await exchange.findOrder(account, reference)).toBeNull();
        expect((await exchange.cancelOrder(account, reference)).outcome).toBe('not-found');
      });

      test('one that is still pending is a duplicate', async () => {
        const order = buy({ price: '64000', stopLoss: '62000' });
        await exchange.placeOrder(account, order, inTime());
        expect((await exchange.placeOrder(account, order, inTime())).outcome).toBe('duplicate');
        expect(await under.ordersOf(account)).toHaveLength(1);
      });

      test('one whose order has filled makes a NEW order: the exchange does not keep us from doubling', async () => {
        const order = buy();
        await exchange.placeOrder(account, order, inTime());
        expect((await exchange.placeOrder(account, order, inTime())).outcome).toBe('placed');
        expect(await under.ordersOf(account)).toHaveLength(2);
      });

      test.each(['', 'x'.repeat(33), 'a b', 'ä'])(
        '%j is refused without being sent',
        async (clientOrderId) => {
          const calls: CallRecord[] = [];
          const context = { ...inTime(), onCall: (call: CallRecord) => calls.push(call) };
          const placement = await exchange.placeOrder(account, buy({ clientOrderId }), context);
          expect(placement).toMatchObject({ outcome: 'refused', code: 'not-sent' });
          expect(calls).toEqual([]);
        },
      );
    });

    describe('the outcome of a placement', () => {
      const outcomes: [string, PaperFault[], string, number][] = [
        ['no answer after it was accepted', [{ kind: 'acceptThenTimeout', on: placing }], 'unknown', 1],
        ['no answer, not accepted', [{ kind: 'timeout', on: placing }], 'unknown', 0],
        ['a cut connection after it was accepted', [{ kind: 'cutAfterAccept', on: placing }], 'unknown', 1],
        ['a cut connection before', [{ kind: 'cutBeforeAccept', on: placing }], 'unknown', 0],
        ['an answer that stops after its headers', [{ kind: 'stalledBody', on: placing }], 'unknown', 1],
        ['a 502 after it was accepted', [{ kind: 'badGatewayAfter', on: placing }], 'unknown', 1],
        ['a 502 before', [{ kind: 'badGatewayBefore', on: placing }], 'unknown', 0],
        ['a 504', [{ kind: 'badGatewayAfter', status: 504, on: placing }], 'unknown', 1],
        ['a 408', [{ kind: 'badGatewayAfter', status: 408, on: placing }], 'unknown', 1],
        ['an empty 200', [{ kind: 'empty200', on: placing }], 'unknown', 1],
        ['a page of HTML with 200', [{ kind: 'html200', on: placing }], 'unknown', 1],
        ['a redirect', [{ kind: 'badGatewayBefore', status: 302, on: placing }], 'unknown', 0],
        [
          'a refusal by a web firewall',
          [{ kind: 'badGatewayBefore', status: 403, on: placing }],
          'unknown',
          0,
        ],
        ['a rate limit', [{ kind: 'tooManyRequests', on: placing }], 'retry-later', 0],
        ['maintenance', [refusal('40200')], 'retry-later', 0],
        ['a clock that is off', [refusal('40008')], 'retry-later', 0],
        ['"request timed out" with a code', [refusal('40010')], 'unknown', 0],
        ['"system is abnormal"', [refusal('40015')], 'unknown', 0],
        ['"service return an error"', [refusal('40725')], 'unknown', 0],
        ['"unknown error"', [refusal('45001')], 'unknown', 0],
        ['a code that nobody has seen', [refusal('99999')], 'unknown', 0],
        ['a known code with HTTP 500', [refusal('40762', 500)], 'unknown', 0],
        ['a known code with HTTP 200', [refusal('40762', 200)], 'refused', 0],
        ['a missing permission', [refusal('40014')], 'refused', 0],
        ['an address that is not allowed', [refusal('40018')], 'refused', 0],
        ['a duplicate', [refusal('40786')], 'duplicate', 0],
        ['a duplicate by its other code', [refusal('40708')], 'duplicate', 0],
      ];

      test.each(outcomes)('%s', async (_, faults, outcome, orders) => {
        under.setFaults(faults);
        const order = buy();
        const calls: CallRecord[] = [];
        const context = { ...inTime(), onCall: (call: CallRecord) => calls.push(call) };
        const waits = faults.some(({ kind }) => WAITING.has(kind));
        const placement = await (waits ? under.hastyExchange : exchange).placeOrder(account, order, context);
        expect(placement.outcome).toBe(outcome);
        expect(calls.filter(({ endpoint }) => endpoint.endsWith('place-order'))).toHaveLength(1);
        expect(await under.ordersOf(account)).toHaveLength(orders);
        expect((await exchange.findOrder(account, order)) !== null).toBe(orders === 1);
      });

      test('too little money is a refusal with its code', async () => {
        const placement = await exchange.placeOrder(account, buy({ quantity: '5' }), inTime());
        expect(placement).toMatchObject({ outcome: 'refused', code: '40762' });
      });

      test('a stop on the wrong side is a refusal', async () => {
        const placement = await exchange.placeOrder(account, buy({ stopLoss: '66000' }), inTime());
        expect(placement).toMatchObject({ outcome: 'refused', code: '40917' });
      });

      test.each([
        ['quantity', { quantity: '0.00123' }],
        ['price', { price: '65000.05' }],
        ['stop', { stopLoss: '63000.01' }],
        ['target', { takeProfit: '69000.123' }],
        ['not a number', { price: 'NaN' }],
        ['a negative quantity', { quantity: '-1' }],
      ])('what the contract would still round is not sent: %s', async (_, changes) => {
        const placement = await exchange.placeOrder(account, buy(changes), inTime());
        expect(placement).toMatchObject({ outcome: 'refused', code: 'not-sent' });
        expect(await under.ordersOf(account)).toEqual([]);
      });

      test('nothing is sent after the last permitted instant', async () => {
        const placement = await exchange.placeOrder(account, buy(), { notAfter: new Date(Date.now() - 1) });
        expect(placement).toMatchObject({ outcome: 'refused', code: 'not-sent' });
        expect(await under.ordersOf(account)).toEqual([]);
      });

      test('an account of another environment is never served', async () => {
        const stranger: ExchangeAccount = { ...account, environment: 'live' };
        expect(await exchange.placeOrder(stranger, buy(), inTime())).toMatchObject({ outcome: 'refused' });
        await expect(exchange.fetchBalance(stranger)).rejects.toMatchObject({ kind: 'refused' });
        expect(await under.ordersOf(account)).toEqual([]);
      });

      test('wrong credentials are told apart', async () => {
        const thief = { ...account, credentials: { ...account.credentials, apiSecret: 'guessed' } };
        expect(await exchange.placeOrder(thief, buy(), inTime())).toMatchObject({
          outcome: 'refused',
          code: '40009',
        });
        await expect(exchange.fetchBalance(thief)).rejects.toMatchObject({
          kind: 'credentials',
          code: '40009',
        });
      });
    });

    describe('preparing an account', () => {
      test('sets modes and leverage once, and does nothing when they are so', async () => {
        const fresh = under.newAccount();
        const endpoints: string[] = [];
        const onCall = ({ endpoint }: CallRecord) => endpoints.push(endpoint.split('/').at(-1) ?? '');
        await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 }, { onCall });
        expect(endpoints).toEqual([
          'account',
          'set-position-mode',
          'set-margin-mode',
          'account',
          'set-leverage',
          'account',
        ]);
        endpoints.length = 0;
        await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 }, { onCall });
        expect(endpoints).toEqual(['account']);
      });

      test('fails when the leverage reads back differently', async () => {
        const fresh = under.newAccount();
        under.setFaults([{ kind: 'leverageIgnored' }]);
        await expect(exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 })).rejects.toMatchObject({
          name: 'ExchangeError',
          kind: 'refused',
        });
      });

      test('an account that was not prepared cannot trade', async () => {
        const placement = await exchange.placeOrder(under.newAccount(), buy(), inTime());
        expect(placement).toMatchObject({ outcome: 'refused', code: '40774' });
      });
    });

    describe('protection', () => {
      test('a stop that the exchange lost is seen to be missing, and can be placed', async () => {
        under.setFaults([{ kind: 'stopDropped' }]);
        await exchange.placeOrder(account, buy(), inTime());
        expect(await exchange.fetchProtection(account, 'BTC')).toEqual({
          stopLoss: null,
          takeProfit: '69000.1',
        });
        const request = { token: 'BTC', side: 'long' as const, quantity: '0.01', takeProfit: null };
        await exchange.placeProtection(
          account,
          { ...request, stopLoss: '63000', clientOrderId: newId() },
          inTime(),
        );
        expect((await exchange.fetchProtection(account, 'BTC')).stopLoss).toBe('63000');
        under.push('BTC', '62000');
        expect(await exchange.fetchPosition(account, 'BTC')).toBeNull();
      });

      test('a stop that the mark has already crossed is refused', async () => {
        under.setFaults([{ kind: 'stopDropped' }]);
        await exchange.placeOrder(account, buy(), inTime());
        under.push('BTC', '62000');
        const request = { token: 'BTC', side: 'long' as const, quantity: '0.01', takeProfit: null };
        await expect(
          exchange.placeProtection(
            account,
            { ...request, stopLoss: '63000', clientOrderId: newId() },
            inTime(),
          ),
        ).rejects.toMatchObject({ kind: 'refused', code: '40917' });
      });
    });

    describe('closing a position', () => {
      test('sells it at the market and cancels its protection', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        const close = { token: 'BTC', side: 'long' as const, quantity: '0.01', clientOrderId: newId() };
        expect((await exchange.closePosition(account, close, inTime())).outcome).toBe('placed');
        expect(await find(close)).toMatchObject({ state: 'filled', side: 'sell', price: null });
        expect(await exchange.fetchPosition(account, 'BTC')).toBeNull();
        expect(await exchange.fetchProtection(account, 'BTC')).toEqual({ stopLoss: null, takeProfit: null });
      });

      test('never opens the opposite one', async () => {
        const close = { token: 'BTC', side: 'long' as const, quantity: '0.01', clientOrderId: newId() };
        expect(await exchange.closePosition(account, close, inTime())).toMatchObject({
          outcome: 'refused',
          code: '22002',
        });
        await exchange.placeOrder(account, buy(), inTime());
        const tooMuch = { ...close, clientOrderId: newId(), quantity: '0.05' };
        expect((await exchange.closePosition(account, tooMuch, inTime())).outcome).toBe('placed');
        expect(await exchange.fetchPositions(account)).toEqual([]);
      });
    });

    describe('reads that fail', () => {
      test.each([
        ['a timeout', { kind: 'timeout' } as const, 'unknown'],
        ['a 502', { kind: 'badGatewayBefore' } as const, 'unknown'],
        ['HTML', { kind: 'html200' } as const, 'unknown'],
        ['a rate limit', { kind: 'tooManyRequests' } as const, 'retry-later'],
      ])('a look-up that meets %s does not say that the order is unknown', async (_, fault, kind) => {
        const order = buy();
        await exchange.placeOrder(account, order, inTime());
        under.setFaults([{ ...fault, on: { path: 'detail' } }]);
        await expect(exchange.findOrder(account, order)).rejects.toMatchObject({
          name: 'ExchangeError',
          kind,
        });
      });

      test('a cancel without an answer is unknown', async () => {
        const order = buy({ price: '64000', stopLoss: '62000' });
        await exchange.placeOrder(account, order, inTime());
        under.setFaults([{ kind: 'acceptThenTimeout', on: { path: 'cancel-order' } }]);
        expect((await under.hastyExchange.cancelOrder(account, order)).outcome).toBe('unknown');
        expect((await find(order)).state).toBe('cancelled');
      });
    });

    test('what is recorded of a call shows request and answer, and no secret', async () => {
      const calls: CallRecord[] = [];
      const order = buy();
      await exchange.placeOrder(account, order, { ...inTime(), onCall: (call) => calls.push(call) });
      expect(calls).toMatchObject([
        {
          type: 'place-order',
          method: 'POST',
          endpoint: '/api/v2/mix/order/place-order',
          success: true,
          status: 200,
          requestData: {
            clientOid: order.clientOrderId,
            presetStopLossPrice: '63000',
            marginMode: 'isolated',
          },
          responseData: { code: '00000' },
        },
      ]);
      const { apiKey, apiSecret, passphrase } = account.credentials;
      for (const secret of [apiKey, apiSecret, passphrase, 'ACCESS-']) {
        expect(JSON.stringify(calls)).not.toContain(secret);
      }
    });

    test('two hundred users at once each trade on their own account', async () => {
      const users = Array.from({ length: 40 }, () => under.newAccount());
      const prepare = { token: 'BTC', leverage: 10 };
      await Promise.all(users.map((user) => exchange.prepareAccount(user, prepare)));
      const placements = users.flatMap((user, index) =>
        Array.from({ length: 5 }, (_, nth) => ({
          user,
          order: buy({ quantity: `0.0${index + 10}`, price: `6400${nth}`, stopLoss: '62000' }),
        })),
      );
      const outcomes = await Promise.all(
        placements.map(({ user, order }) => exchange.placeOrder(user, order, inTime())),
      );
      expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['placed']));
      for (const user of users) {
        const own = placements.filter((placement) => placement.user === user);
        const ids = (await under.ordersOf(user)).map(({ clientOrderId }) => clientOrderId).sort();
        expect(ids).toEqual(own.map(({ order }) => order.clientOrderId).sort());
      }
    });
  });
}

const WAITING = new Set<PaperFault['kind']>(['acceptThenTimeout', 'timeout', 'stalledBody']);

const placing = { path: 'place-order' };

const refusal = (code: string, status?: number): PaperFault => ({
  kind: 'refuse',
  code,
  ...(status === undefined ? {} : { status }),
  on: placing,
});
