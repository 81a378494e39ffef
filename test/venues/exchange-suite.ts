import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { apiCall } from '#contract/position-maker.ts';
import { D } from '#domain/decimal.ts';
import type { Exchange, ExchangeAccount, OrderReport } from '#server/exchanges/exchange.ts';
import { type TestsInTurn, testInTurn } from '#test/app/in-turn.ts';
import { positionTests } from './exchange-suite-positions.ts';
import { protectionMoveTests } from './exchange-suite-protection.ts';
import { SUITE_DIALECTS, SUITE_WORDS, type SuiteDialect } from './exchange-suite-words.ts';
import { buy, type ExchangeUnderTest, inTime, newId, recording } from './test-registry.ts';

/** What every exchange behind the port must do: the real clients and paper mode. */
export function exchangeSuite(
  platform: SuiteDialect,
  name: string,
  open: () => Promise<ExchangeUnderTest>,
  /** Declares what does not depend on the words of an exchange. */
  alike: TestsInTurn = testInTurn(SUITE_DIALECTS, platform),
): void {
  const words = SUITE_WORDS[platform];
  describe(`${platform} ${name}`, () => {
    let under: ExchangeUnderTest;
    let exchange: Exchange;
    let account: ExchangeAccount;

    beforeAll(async () => {
      under = await open();
      exchange = under.exchange;
    });
    afterAll(() => under?.close());

    beforeEach(async () => {
      under.push('BTC', '65000');
      account = under.newAccount();
      await exchange.prepareAccount(account, { token: 'BTC', leverage: 10 });
    });

    const find = async (order: { token: string; clientOrderId: string }): Promise<OrderReport> => {
      const report = await exchange.findOrder(account, order);
      if (!report) throw new Error(`${order.clientOrderId} was not found`);
      return report;
    };

    const suite = {
      get under() {
        return under;
      },
      get account() {
        return account;
      },
    };
    positionTests(suite, alike);
    protectionMoveTests(platform, suite, alike);

    describe('describing an order', () => {
      test('returns the request that placing it sends, and sends nothing', async () => {
        const order = buy({ price: '64999.5' });
        const described = await exchange.describeOrder(order, account.credentials.accountMode);
        expect(await exchange.findOrder(account, order)).toBeNull();
        expect(await under.ordersOf(account)).toEqual([]);
        const { calls, context } = recording();
        expect(await exchange.placeOrder(account, order, context)).toMatchObject({ outcome: 'placed' });
        const [placed] = calls.filter(({ type }) => type === 'place-order');
        expect(placed).toMatchObject({ method: described.method, endpoint: described.endpoint });
        expect(described.payload).toEqual(placed?.requestData);
        expect(JSON.stringify(described)).toContain(order.clientOrderId);
      });

      alike('refuses an order that would not be sent', async () => {
        await expect(exchange.describeOrder(buy({ price: '65000.123456' }))).rejects.toMatchObject({
          kind: 'refused',
        });
        await expect(exchange.describeOrder(buy({ token: 'NOSUCHTOKEN' }))).rejects.toMatchObject({
          kind: 'refused',
        });
      });
    });

    describe('market data', () => {
      test('the ticker returns the newest price', async () => {
        under.push('ETH', '3012.55');
        const ticker = await exchange.fetchTicker('ETH');
        expect(ticker).toMatchObject({ token: 'ETH', lastPrice: '3012.55', markPrice: '3012.55' });
      });

      test('the mark prices of several tokens come in one call, without those that have none', async () => {
        under.push('ETH', '3012.55');
        under.push('SOL', '150.123');
        await exchange.fetchContract('SOL');
        const { calls, context } = recording();
        const ask = () => exchange.fetchMarkPrices(['ETH', 'SOL', 'NOSUCHTOKEN'], context);
        expect(Object.fromEntries(await ask())).toEqual({ ETH: '3012.55', SOL: '150.123' });
        expect(calls).toHaveLength(1);
      });

      alike('a token without a contract has neither ticker nor contract', async () => {
        expect(await exchange.fetchTicker('NOSUCHTOKEN')).toBeNull();
        expect(await exchange.fetchContract('BTC?x=')).toBeNull();
        expect(await exchange.fetchContract('__proto__')).toBeNull();
      });

      test('steps and minimums are exact decimals', async () => {
        expect(await exchange.fetchContract('BTC')).toMatchObject({
          tickSize: '0.1',
          quantityStep: words.btcQuantityStep,
          minimumQuantity: words.btcQuantityStep,
          minimumNotional: '5',
        });
      });

      test('a contract of a thousand coins is not the token’s', async () => {
        const contract = await exchange.fetchContract('PEPE');
        if (words.pepe === null) expect(contract).toBeNull();
        else expect(contract).toMatchObject(words.pepe);
      });

      alike('twenty concurrent price requests make one call', async () => {
        under.push('SOL', '150.123');
        const { calls, context } = recording();
        await exchange.fetchContract('SOL');
        await Promise.all(Array.from({ length: 20 }, () => exchange.fetchTicker('SOL', context)));
        expect(calls).toHaveLength(1);
      });
    });

    describe('an entry that fills', () => {
      test('is placed and found filled at the mark, and its position has the stop and target of the order', async () => {
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
          marginMode: under.marginModeOfPosition,
          margin: '65',
        });
        const protection = { stopLoss: '63000', takeProfit: '69000.1' };
        expect(await exchange.fetchProtection(account, 'BTC')).toEqual(protection);
        expect(await exchange.fetchHolding(account, 'BTC')).toEqual({
          position: await exchange.fetchPosition(account, 'BTC'),
          protection,
        });
      });

      test('changes the balance by margin and fee, exactly as in the ledger', async () => {
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
        // A loss of 21, and 0.39 and 0.3774 in fees.
        expect((await exchange.fetchBalance(account)).futuresBalance).toBe('9978.2326');
        expect(await exchange.fetchProtection(account, 'BTC')).toEqual({ stopLoss: null, takeProfit: null });
        expect(await exchange.fetchHolding(account, 'BTC')).toBeNull();
      });

      alike('is closed by its target when the mark rises through it', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        under.push('BTC', '69100');
        expect(await exchange.fetchHoldings(account)).toEqual({ holdings: [], unreadable: [] });
        expect((await exchange.fetchBalance(account)).futuresBalance).toBe('10040.1954');
      });

      test('can be a short with stop and target on the opposite sides', async () => {
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

      test('is cancelled, and its funds are released', async () => {
        const order = resting();
        await exchange.placeOrder(account, order, inTime());
        expect(await exchange.cancelOrder(account, order)).toEqual({ outcome: 'accepted' });
        expect((await find(order)).state).toBe('cancelled');
        expect(await exchange.fetchOpenOrders(account, 'BTC')).toEqual([]);
        expect((await exchange.fetchBalance(account)).futuresAvailable).toBe('10000');
      });
    });

    describe('a look-up', () => {
      test('finds open, filled and cancelled orders', async () => {
        const [open, filled, cancelled] = [
          buy({ price: '64000', stopLoss: '62000' }),
          buy(),
          buy({ price: '63900', stopLoss: '62000' }),
        ] as const;
        for (const order of [open, filled, cancelled]) await exchange.placeOrder(account, order, inTime());
        await exchange.cancelOrder(account, cancelled);
        const found = await Promise.all([open, filled, cancelled].map(find));
        expect(found.map(({ state }) => state)).toEqual(['open', 'filled', 'cancelled']);
      });
    });

    describe('client order ids', () => {
      test('an unknown one is not found and cannot be cancelled', async () => {
        const reference = { token: 'BTC', clientOrderId: newId() };
        expect(await exchange.findOrder(account, reference)).toBeNull();
        expect((await exchange.cancelOrder(account, reference)).outcome).toBe('not-found');
      });

      test('a pending one is a duplicate', async () => {
        const order = buy({ price: '64000', stopLoss: '62000' });
        await exchange.placeOrder(account, order, inTime());
        expect((await exchange.placeOrder(account, order, inTime())).outcome).toBe('duplicate');
        expect(await under.ordersOf(account)).toHaveLength(1);
      });

      test('reusing the id of a filled order places a NEW order: the exchange does not prevent duplicates', async () => {
        const order = buy();
        await exchange.placeOrder(account, order, inTime());
        expect((await exchange.placeOrder(account, order, inTime())).outcome).toBe(words.usedAgain);
        expect(await under.ordersOf(account)).toHaveLength(words.usedAgain === 'placed' ? 2 : 1);
      });

      alike.each(['', 'x'.repeat(33), 'a b', 'ä'])(
        '%j is refused without being sent',
        async (clientOrderId) => {
          const { calls, context } = recording();
          const placement = await exchange.placeOrder(account, buy({ clientOrderId }), context);
          expect(placement).toMatchObject({ outcome: 'refused', code: 'not-sent' });
          expect(calls).toEqual([]);
        },
      );
    });

    describe('the outcome of a placement', () => {
      test('an insufficient balance is a refusal with its code', async () => {
        const placement = await exchange.placeOrder(account, buy({ quantity: '5' }), inTime());
        expect(placement).toMatchObject({ outcome: 'refused', code: words.codes.tooLittleMoney });
      });

      test('a stop on the wrong side is a refusal', async () => {
        const placement = await exchange.placeOrder(account, buy({ stopLoss: '66000' }), inTime());
        expect(placement).toMatchObject({ outcome: 'refused', code: words.codes.stopOnWrongSide });
      });

      test.each([
        ['quantity', { quantity: '0.00123' }],
        ['price', { price: '65000.05' }],
        ['stop', { stopLoss: '63000.01' }],
        ['target', { takeProfit: '69000.123' }],
        ['not a number', { price: 'NaN' }],
        ['a negative quantity', { quantity: '-1' }],
      ])('an order that would be rounded to the contract’s steps is not sent: %s', async (_, changes) => {
        const placement = await exchange.placeOrder(account, buy(changes), inTime());
        expect(placement).toMatchObject({ outcome: 'refused', code: 'not-sent' });
        expect(await under.ordersOf(account)).toEqual([]);
      });

      test.each([
        ['of 1e28 coins', { quantity: `1${'0'.repeat(28)}` }],
        ['worth more than 1e12 USDT', { quantity: '20000000' }],
      ])('an entry %s is not sent', async (_, changes) => {
        const { calls, context } = recording();
        const placement = await exchange.placeOrder(account, buy(changes), context);
        expect(placement).toMatchObject({ outcome: 'refused', code: 'not-sent' });
        expect(calls).toEqual([]);
      });

      alike('sends nothing after the last permitted instant', async () => {
        const placement = await exchange.placeOrder(account, buy(), { notAfter: new Date(Date.now() - 1) });
        expect(placement).toMatchObject({ outcome: 'refused', code: 'not-sent' });
        expect(await under.ordersOf(account)).toEqual([]);
      });

      alike('never serves an account of another environment', async () => {
        const stranger: ExchangeAccount = { ...account, environment: 'live' };
        expect(await exchange.placeOrder(stranger, buy(), inTime())).toMatchObject({ outcome: 'refused' });
        await expect(exchange.fetchBalance(stranger)).rejects.toMatchObject({ kind: 'refused' });
        expect(await under.ordersOf(account)).toEqual([]);
      });
    });

    describe('preparing an account', () => {
      test('sets modes and leverage, and changes nothing if they are already set', async () => {
        const fresh = under.newAccount();
        const methods: string[] = [];
        const onCall = ({ method }: { method: string }) => methods.push(method);
        await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 }, { onCall });
        expect(methods).toContain('POST');
        methods.length = 0;
        await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 }, { onCall });
        expect(new Set(methods)).toEqual(new Set(['GET']));
        await exchange.placeOrder(fresh, buy({ leverage: 5 }), inTime());
        expect(await exchange.fetchPosition(fresh, 'BTC')).toMatchObject({ leverage: 5, margin: '130' });
      });

      test('refuses more leverage than the contract allows, with the exchange’s code', async () => {
        const wanted = { token: 'BTC', leverage: 126 };
        await expect(exchange.prepareAccount(account, wanted)).rejects.toMatchObject({
          kind: 'refused',
          message: expect.stringContaining(`(${words.codes.tooMuchLeverage})`),
        });
      });

      test('an account in hedge mode cannot trade until it is prepared', async () => {
        const fresh = under.newAccount();
        await under.setHedgeMode(fresh, 'BTC');
        const placement = await exchange.placeOrder(fresh, buy(), inTime());
        expect(placement).toMatchObject({ outcome: 'refused', code: words.codes.notPrepared });
        await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 10 });
        expect(await exchange.placeOrder(fresh, buy(), inTime())).toMatchObject({ outcome: 'placed' });
      });

      test('accepts a setting that is already in place, whatever the exchange answers', async () => {
        const fresh = under.newAccount();
        // A stale read makes `prepareAccount` set everything again.
        await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 });
        await under.setHedgeMode(fresh, 'BTC');
        await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 });
      });
    });

    const LONG = { token: 'BTC', side: 'long', quantity: '0.01' } as const;
    const newStop = () => ({ ...LONG, stopLoss: '63000', takeProfit: null, clientOrderId: newId() });

    describe('protection', () => {
      test('reports a stop that the exchange lost as missing, and places it again', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        await under.loseStop(account, 'BTC');
        expect(await exchange.fetchProtection(account, 'BTC')).toEqual({
          stopLoss: null,
          takeProfit: '69000.1',
        });
        await exchange.placeProtection(account, newStop(), inTime());
        expect((await exchange.fetchProtection(account, 'BTC')).stopLoss).toBe('63000');
        under.push('BTC', '62000');
        expect(await exchange.fetchPosition(account, 'BTC')).toBeNull();
      });

      test('refuses a stop that the mark has already crossed', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        await under.loseStop(account, 'BTC');
        under.push('BTC', '62000');
        await expect(exchange.placeProtection(account, newStop(), inTime())).rejects.toMatchObject({
          kind: 'refused',
          code: words.codes.stopOnWrongSide,
        });
      });
    });

    describe('closing a position', () => {
      test('sells it at market and cancels its protection', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        const close = { ...LONG, clientOrderId: newId() };
        expect((await exchange.closePosition(account, close, inTime())).outcome).toBe('placed');
        expect(await find(close)).toMatchObject({ state: 'filled', side: 'sell', price: null });
        expect(await exchange.fetchPosition(account, 'BTC')).toBeNull();
        expect(await exchange.fetchProtection(account, 'BTC')).toEqual({ stopLoss: null, takeProfit: null });
      });

      test('in part leaves the rest with its stop, which closes it and opens nothing', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        const before = await exchange.fetchProtection(account, 'BTC');
        const half = String(Number(LONG.quantity) / 2);
        const close = { ...LONG, quantity: half, clientOrderId: newId() };
        expect((await exchange.closePosition(account, close, inTime())).outcome).toBe('placed');
        expect(await exchange.fetchHolding(account, 'BTC')).toMatchObject({
          position: { side: 'long', quantity: half },
          protection: before,
        });
        expect(before.stopLoss).not.toBeNull();
        under.push('BTC', String(Number(before.stopLoss) - 1_000));
        expect(await exchange.fetchHoldings(account)).toEqual({ holdings: [], unreadable: [] });
      });

      test('never opens the opposite position', async () => {
        const close = { ...LONG, clientOrderId: newId() };
        expect(await exchange.closePosition(account, close, inTime())).toMatchObject({
          outcome: 'refused',
          code: words.codes.nothingToClose,
        });
        await exchange.placeOrder(account, buy(), inTime());
        const tooMuch = { ...close, clientOrderId: newId(), quantity: '0.05' };
        expect((await exchange.closePosition(account, tooMuch, inTime())).outcome).toBe('placed');
        expect(await exchange.fetchHoldings(account)).toEqual({ holdings: [], unreadable: [] });
      });
    });

    alike('records a call with its request and answer, without secrets', async () => {
      const { calls, context } = recording();
      const order = buy();
      await exchange.placeOrder(account, order, context);
      await exchange.placeOrder(account, buy({ quantity: '5' }), context);
      await exchange.findOrder(account, order, context);
      expect(calls).toMatchObject([
        {
          type: 'place-order',
          method: 'POST',
          endpoint: words.placing.endpoint,
          success: true,
          status: 200,
          requestData: words.placing.requestData(order.clientOrderId),
        },
        { type: 'place-order', success: false },
        { type: 'find-order', method: 'GET', success: true },
      ]);
      expect(JSON.stringify(calls[1]?.responseData)).toContain(words.codes.tooLittleMoney);
      calls.length = 0;
      const fresh = under.newAccount();
      await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 }, context);
      await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 }, context);
      await exchange.placeProtection(account, { ...newStop(), stopLoss: '62000' }, context);
      const resting = buy({ price: '64000', stopLoss: '62000' });
      await exchange.placeOrder(account, resting, context);
      await exchange.cancelOrder(account, resting, context);
      await exchange.findOrder(account, { token: 'BTC', clientOrderId: newId() }, context);
      // As the calls are stored and displayed.
      const stored: unknown = JSON.parse(JSON.stringify(calls));
      expect(z.array(apiCall).safeParse(stored).error).toBeUndefined();
      const { apiSecret } = account.credentials;
      expect(JSON.stringify(calls)).not.toContain(`"${apiSecret}"`);
    });

    alike('places fifty concurrent orders of ten users each on their own account', async () => {
      const users = Array.from({ length: 10 }, () => under.newAccount());
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
