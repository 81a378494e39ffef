import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type CallRecord,
  type Exchange,
  type ExchangeAccount,
  type OrderReport,
  UNREADABLE,
} from '#server/exchanges/exchange.ts';
import { oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { ledgerTests } from './exchange-suite-ledger.ts';
import { wiredMoveTests } from './exchange-suite-protection.ts';
import { SUITE_WORDS, type SuiteDialect } from './exchange-suite-words.ts';
import type { FaultMatch, VenueFault } from './faults.ts';
import { buy, inTime, newId, recording, type WiredExchange } from './test-registry.ts';

/** How every client of an exchange classifies failed requests and unreadable answers. */
export function wireSuite(platform: SuiteDialect, name: string, open: () => Promise<WiredExchange>): void {
  const words = SUITE_WORDS[platform];
  describe(`${platform} ${name}: on the wire`, () => {
    let under: WiredExchange;
    let exchange: Exchange;
    let account: ExchangeAccount;

    beforeAll(async () => {
      under = await open();
      exchange = under.exchange;
    });
    afterAll(() => under?.close());
    beforeEach(async () => {
      under.setFaults([]);
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
    wiredMoveTests(platform, suite);
    ledgerTests(platform, suite);

    describe('an entry', () => {
      const resting = () => buy({ price: '64000', stopLoss: '62000' });

      test('may fill partly: the rest stays open and the stop covers the position', async () => {
        under.setFaults([{ kind: 'partialFill', fraction: '0.3' }]);
        const order = buy({ quantity: '0.01' });
        await exchange.placeOrder(account, order, inTime());
        expect(await find(order)).toMatchObject({ state: 'partially-filled', filledQuantity: '0.003' });
        expect((await exchange.fetchPosition(account, 'BTC'))?.quantity).toBe('0.003');
        expect((await exchange.fetchProtection(account, 'BTC')).stopLoss).toBe('63000');
        expect(await exchange.cancelOrder(account, order)).toEqual({ outcome: 'accepted' });
        expect(await find(order)).toMatchObject({ state: 'cancelled', filledQuantity: '0.003' });
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

    describe('a look-up', () => {
      test('finds orders even if the exchange has forgotten ended ones', async () => {
        const [open, filled, cancelled] = [
          buy({ price: '64000', stopLoss: '62000' }),
          buy(),
          buy({ price: '63900', stopLoss: '62000' }),
        ] as const;
        for (const order of [open, filled, cancelled]) await exchange.placeOrder(account, order, inTime());
        await exchange.cancelOrder(account, cancelled);
        under.setFaults([{ kind: 'endedOrdersForgotten' }]);
        const found = await Promise.all([open, filled, cancelled].map(find));
        expect(found.map(({ state }) => state)).toEqual(['open', 'filled', 'cancelled']);
      });

      test('reports an order as unknown only after every look-up was tried', async () => {
        const order = buy();
        await exchange.placeOrder(account, order, inTime());
        under.setFaults([
          { kind: 'endedOrdersForgotten' },
          { kind: 'html200', on: { operation: 'find-order', nth: platform === 'Bybit' ? 2 : 1 } },
        ]);
        await expect(exchange.findOrder(account, order)).rejects.toMatchObject({ kind: 'unknown' });
      });
    });

    describe('a look-up that shows', () => {
      const unreadable: [string, VenueFault][] = [
        ['a page of HTML with 200', { kind: 'html200', on: { operation: 'find-order' } }],
        ['an empty 200', { kind: 'empty200', on: { operation: 'find-order' } }],
        ['another client order id', { kind: 'contradictoryLookUps', shows: 'another client order id' }],
        ['another symbol', { kind: 'contradictoryLookUps', shows: 'another symbol' }],
        ['a volume of NaN', { kind: 'contradictoryLookUps', shows: 'a volume of NaN' }],
        ['a negative volume', { kind: 'contradictoryLookUps', shows: 'a negative volume' }],
        ['a price of 200,000 digits', { kind: 'contradictoryLookUps', shows: 'a price of 200,000 digits' }],
      ];
      test.each(unreadable)('%s is unreadable', async (_name, fault) => {
        const order = buy();
        await exchange.placeOrder(account, order, inTime());
        under.setFaults([fault]);
        await expect(exchange.findOrder(account, order)).rejects.toMatchObject({
          kind: 'unknown',
          code: UNREADABLE,
        });
      });

      test('a bad gateway is not unreadable: the exchange itself has not answered', async () => {
        const order = buy();
        await exchange.placeOrder(account, order, inTime());
        under.setFaults([{ kind: 'badGatewayBefore', on: { operation: 'find-order' } }]);
        const failure = await exchange.findOrder(account, order).catch((error: unknown) => error);
        expect(failure).toMatchObject({ kind: 'unknown', code: null });
      });
    });

    describe('a cancel', () => {
      test('answered with "unknown order" proves nothing: the order lives on', async () => {
        const order = buy({ price: '64000', stopLoss: '62000' });
        await exchange.placeOrder(account, order, inTime());
        under.setFaults([{ kind: 'cancelUnknown' }]);
        expect((await exchange.cancelOrder(account, order)).outcome).toBe('not-found');
        expect((await find(order)).state).toBe('open');
      });
    });

    describe('the outcome of a placement', () => {
      const outcomes: [string, VenueFault[], string, number][] = [
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
          words.firewall,
          0,
        ],
        ['a rate limit', [{ kind: 'tooManyRequests', on: placing }], 'retry-later', 0],
        ['a body that is cut off', [{ kind: 'truncatedBody', on: placing }], 'unknown', 1],
        [
          'HTTP 500 after it was accepted',
          [{ kind: 'internalError', after: true, on: placing }],
          'unknown',
          1,
        ],
        [
          'HTTP 500 without an envelope',
          [{ kind: 'internalError', envelope: false, on: placing }],
          'unknown',
          0,
        ],
        [
          'HTTP 500 in the exchange’s own words',
          [{ kind: 'internalError', envelope: true, on: placing }],
          'unknown',
          0,
        ],
        ...words.answered.map(([said, answer, outcome]): [string, VenueFault[], string, number] => [
          said,
          [{ kind: 'refuse', ...answer, on: placing }],
          outcome,
          0,
        ]),
      ];

      const waitsFor = (faults: VenueFault[]) => faults.some(({ kind }) => WAITING.has(kind));
      // One exchange stands for all where it is the client's time limit that ends the request.
      const played = oneOfEachKind(outcomes, ([, faults]) => platform === 'Bitget' || !waitsFor(faults));
      test.each(played)('%s', async (_, faults, outcome, orders) => {
        under.setFaults(faults);
        const order = buy();
        const { calls, context } = recording();
        const waits = waitsFor(faults);
        const placement = await (waits ? under.hastyExchange : exchange).placeOrder(account, order, context);
        expect(placement.outcome).toBe(outcome);
        expect(calls.filter(({ type }) => type === 'place-order')).toHaveLength(1);
        expect(await under.ordersOf(account)).toHaveLength(orders);
        expect((await exchange.findOrder(account, order)) !== null).toBe(orders === 1);
      });

      test('reports wrong credentials as a credentials error', async () => {
        const thief = { ...account, credentials: { ...account.credentials, apiSecret: 'guessed' } };
        expect(await exchange.placeOrder(thief, buy(), inTime())).toMatchObject({
          outcome: 'refused',
          code: words.codes.wrongSignature,
        });
        await expect(exchange.fetchBalance(thief)).rejects.toMatchObject({
          kind: 'credentials',
          code: words.codes.wrongSignature,
        });
      });
    });

    describe('preparing an account', () => {
      test('sets modes and leverage once, and nothing if they are already set', async () => {
        const fresh = under.newAccount();
        const endpoints: string[] = [];
        const onCall = ({ endpoint }: CallRecord) => endpoints.push(endpoint.split('/').slice(-2).join('/'));
        await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 }, { onCall });
        expect(endpoints).toEqual(words.preparing);
        endpoints.length = 0;
        await exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 }, { onCall });
        expect(endpoints).toEqual(words.stateReading);
      });

      test.each(['leverageIgnored', 'leverageRefused', 'leverageDiffers'] as const)(
        'fails when the leverage cannot be set, or reads back differently: %s',
        async (kind) => {
          const fresh = under.newAccount();
          under.setFaults([{ kind }]);
          await expect(exchange.prepareAccount(fresh, { token: 'BTC', leverage: 5 })).rejects.toMatchObject({
            name: 'ExchangeError',
            kind: 'refused',
          });
        },
      );
    });

    describe('protection', () => {
      test('cancels a leftover stop and target', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        under.setFaults([{ kind: 'protectionKept' }]);
        const close = { token: 'BTC', side: 'long' as const, quantity: '0.01', clientOrderId: newId() };
        expect((await exchange.closePosition(account, close, inTime())).outcome).toBe('placed');
        under.setFaults([]);
        expect(await exchange.cancelProtection(account, 'BTC')).toBe(2);
        expect(await exchange.cancelProtection(account, 'BTC')).toBe(0);
      });

      test('cancels the others when one cancel is lost, and says that one is left', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        under.setFaults([{ kind: 'protectionKept' }]);
        const close = { token: 'BTC', side: 'long' as const, quantity: '0.01', clientOrderId: newId() };
        await exchange.closePosition(account, close, inTime());
        const cancels = ['cancel-protection', 'cancel-order'] as const;
        under.setFaults(cancels.map((operation) => ({ kind: 'badGatewayBefore', on: { operation } })));
        const lost = { name: 'ExchangeError', kind: 'unknown' };
        await expect(exchange.cancelProtection(account, 'BTC')).rejects.toMatchObject(lost);
        expect(await exchange.cancelProtection(account, 'BTC')).toBe(1);
      });
    });

    describe('failed reads', () => {
      const faults = [
        ['a timeout', { kind: 'timeout' } as const, 'unknown'],
        ['a 502', { kind: 'badGatewayBefore' } as const, 'unknown'],
        ['HTML', { kind: 'html200' } as const, 'unknown'],
        ['a rate limit', { kind: 'tooManyRequests' } as const, 'retry-later'],
      ] as const;
      const stands = oneOfEachKind(faults, ([, { kind }]) => platform === 'Bitget' || kind !== 'timeout');
      test.each(stands)(
        'a look-up that meets %s does not report the order as unknown',
        async (_, fault, kind) => {
          const order = buy();
          await exchange.placeOrder(account, order, inTime());
          under.setFaults([{ ...fault, on: { operation: 'find-order' } }]);
          const patient = fault.kind === 'timeout' ? under.hastyExchange : exchange;
          await expect(patient.findOrder(account, order)).rejects.toMatchObject({
            name: 'ExchangeError',
            kind,
          });
        },
      );

      (platform === 'Bitget' ? test : testEveryCase)(
        'reports a cancel without an answer as unknown',
        async () => {
          const order = buy({ price: '64000', stopLoss: '62000' });
          await exchange.placeOrder(account, order, inTime());
          under.setFaults([{ kind: 'acceptThenTimeout', on: { operation: 'cancel-order' } }]);
          expect((await under.hastyExchange.cancelOrder(account, order)).outcome).toBe('unknown');
          expect((await find(order)).state).toBe('cancelled');
        },
      );
    });

    describe.each(['html200', 'empty200'] as const)('an unusable answer (%s)', (kind) => {
      const meets = (on: FaultMatch) => under.setFaults([{ kind, on: { ...on, times: 10 } }]);
      const unknown = { name: 'ExchangeError', kind: 'unknown' };

      test('is not read as a flat account', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        meets({ operation: 'positions' });
        await expect(exchange.fetchPosition(account, 'BTC')).rejects.toMatchObject(unknown);
        await expect(exchange.fetchHoldings(account)).rejects.toMatchObject(unknown);
      });

      test('is not read as a missing stop or as no open orders', async () => {
        await exchange.placeOrder(account, buy(), inTime());
        meets({ operation: 'protection' });
        await expect(exchange.fetchHoldings(account)).rejects.toMatchObject(unknown);
        await expect(exchange.fetchProtection(account, 'BTC')).rejects.toMatchObject(unknown);
        meets({ operation: 'open-orders' });
        await expect(exchange.fetchOpenOrders(account, 'BTC')).rejects.toMatchObject(unknown);
      });

      test('is not read as an empty history', async () => {
        meets({ path: words.readingHistory });
        const since = new Date(Date.now() - 3_600_000);
        await expect(exchange.fetchClosedPositions(account, { since })).rejects.toMatchObject(unknown);
      });
    });

    test('records the request and answer of a call without secrets', async () => {
      const { calls, context } = recording();
      const order = buy();
      await exchange.placeOrder(account, order, context);
      expect(calls).toMatchObject([
        {
          type: 'place-order',
          method: 'POST',
          endpoint: words.placing.endpoint,
          success: true,
          status: 200,
          requestData: words.placing.requestData(order.clientOrderId),
          responseData: words.placing.responseData,
        },
      ]);
      const { apiKey, apiSecret, passphrase } = account.credentials;
      for (const secret of [apiKey, apiSecret, passphrase ?? apiSecret, words.headerPrefix]) {
        expect(JSON.stringify(calls)).not.toContain(secret);
      }
    });
  });
}

const WAITING = new Set<VenueFault['kind']>(['acceptThenTimeout', 'timeout', 'stalledBody']);

const placing = { operation: 'place-order' } as const;
