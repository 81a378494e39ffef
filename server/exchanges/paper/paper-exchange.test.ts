import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { firstCases } from '#test/app/in-turn.ts';
import { exchangeSuite } from '#test/venues/exchange-suite.ts';
import { openInPaperMode, openOnVenue } from '#test/venues/exchanges-under-test.ts';
import { buy, type ExchangeUnderTest, inTime } from '#test/venues/test-registry.ts';

for (const platform of firstCases(EXCHANGE_PLATFORMS)) {
  exchangeSuite(platform, 'in paper mode', () => openInPaperMode(platform), test);
}

for (const platform of EXCHANGE_PLATFORMS) {
  describe(`${platform} in paper mode, compared with the real client on the venue`, () => {
    let paper: Awaited<ReturnType<typeof openInPaperMode>>;
    let venue: Awaited<ReturnType<typeof openOnVenue>>;
    beforeAll(async () => {
      [paper, venue] = [await openInPaperMode(platform), await openOnVenue(platform, { overHttp: false })];
      for (const { push } of [paper, venue]) {
        push('BTC', '65000');
        push('NEW', '1.2345');
      }
    });
    afterAll(async () => {
      await paper?.close();
      await venue?.close();
    });

    test('describes the same order request', async () => {
      for (const changes of [{}, { side: 'sell', stopLoss: '66000', takeProfit: '62000' }] as const) {
        const order = buy(changes);
        expect(await paper.exchange.describeOrder(order)).toEqual(await venue.exchange.describeOrder(order));
      }
    });

    test('has the same contracts', async () => {
      for (const token of ['BTC', 'ETH', 'SOL', 'XRP', 'TON', 'SUI', 'PEPE', 'NEW', 'NONE']) {
        expect(await paper.exchange.fetchContract(token), token).toEqual(
          await venue.exchange.fetchContract(token),
        );
      }
    });

    test('has the same name, kind of account and order memory', () => {
      const { accountMode, apiEndpoint, orderMemory } = venue.exchange;
      expect(paper.exchange).toMatchObject({ accountMode, apiEndpoint, orderMemory });
    });

    test('refuses with the same messages', async () => {
      const refusedBy = async ({ exchange, newAccount }: ExchangeUnderTest) => {
        const account = newAccount();
        await exchange.prepareAccount(account, { token: 'BTC', leverage: 10 });
        const resting = buy({ clientOrderId: 'twin', price: '60000', stopLoss: '59000' });
        const close = { token: 'BTC', side: 'long', quantity: '0.01', clientOrderId: 'close' } as const;
        return [
          await exchange.placeOrder(account, buy({ quantity: '5' }), inTime()),
          await exchange.placeOrder(account, buy({ stopLoss: '66000' }), inTime()),
          await exchange.placeOrder(account, buy({ takeProfit: '64000' }), inTime()),
          await exchange.placeOrder(
            account,
            buy({ quantity: '0.001', price: '4000', stopLoss: '3000', takeProfit: '5000' }),
            inTime(),
          ),
          await exchange.placeOrder(account, buy({ price: '65000.01' }), inTime()),
          await exchange.placeOrder(account, buy({ token: 'NONE' }), inTime()),
          await exchange.closePosition(account, close, inTime()),
          (await exchange.placeOrder(account, resting, inTime())).outcome,
          await exchange.placeOrder(account, resting, inTime()),
          await exchange
            .prepareAccount(account, { token: 'BTC', leverage: 500 })
            .catch(({ kind, code, message }) => ({ kind, code, message })),
        ];
      };
      expect(await refusedBy(paper)).toEqual(await refusedBy(venue));
    });
  });
}

describe('paper mode', () => {
  let under: Awaited<ReturnType<typeof openInPaperMode>>;
  beforeAll(async () => {
    under = await openInPaperMode('Bitget');
    under.push('BTC', '65000');
  });
  afterAll(() => under?.close());

  test('needs no key and has an account for everybody', async () => {
    const account = under.newAccount();
    expect(await under.exchange.inspectKey(account)).toEqual({
      accountMode: 'classic',
      mayTrade: true,
      mayWithdraw: false,
      accountId: account.userId,
    });
    expect(await under.exchange.fetchBalance(account)).toMatchObject({ futuresAvailable: '10000' });
  });

  test('places nothing if the account’s lock was acquired only after `notAfter`', async () => {
    const account = under.newAccount();
    await under.exchange.prepareAccount(account, { token: 'BTC', leverage: 10 });
    const release = await under.holdAccount(account);
    const notAfter = new Date(Date.now() + 50);
    const placing = under.exchange.placeOrder(account, buy(), { notAfter });
    await vi.waitUntil(() => new Date() > notAfter);
    await release();
    expect(await placing).toMatchObject({ outcome: 'refused', code: 'not-sent' });
    expect(await under.ordersOf(account)).toEqual([]);
  });

  test('can be retried if the list of contracts cannot be read: nothing was placed', async () => {
    const away = await openInPaperMode('Bitget', {
      tokens: async () => {
        throw new Error('the database is away');
      },
    });
    const account = away.newAccount();
    const order = buy({ token: 'UNSEEN', price: '100', stopLoss: '98', takeProfit: '104' });
    const retryLater = { kind: 'retry-later', message: 'Bitget: the list of contracts could not be read' };
    await expect(away.exchange.fetchTicker('UNSEEN')).rejects.toMatchObject(retryLater);
    await expect(away.exchange.fetchContract('UNSEEN')).rejects.toMatchObject(retryLater);
    expect(await away.exchange.placeOrder(account, order, inTime())).toMatchObject({
      outcome: 'retry-later',
    });
    await expect(away.close()).rejects.toThrow('the database is away');
  });

  test('leaves the outcome open if the books cannot be reached', async () => {
    const away = await openInPaperMode('Bitget');
    away.push('BTC', '65000');
    const account = away.newAccount();
    // A user id that no book can have makes every statement fail, like an unavailable database.
    const nobody = { ...account, userId: `not a uuid ${randomUUID()}` };
    expect(await away.exchange.placeOrder(nobody, buy(), inTime())).toEqual({
      outcome: 'unknown',
      message: 'Bitget: the paper books could not be read or written',
    });
    await expect(away.exchange.findOrder(nobody, buy())).rejects.toMatchObject({ kind: 'unknown' });
    await expect(away.close()).rejects.toThrow();
  });
});
