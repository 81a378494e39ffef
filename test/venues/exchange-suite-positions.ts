import { beforeEach, describe, expect, test } from 'vitest';
import { D, toPlain } from '#domain/decimal.ts';
import type { EntryOrder, ExchangeAccount } from '#server/exchanges/exchange.ts';
import type { TestsInTurn } from '#test/app/in-turn.ts';
import { buy, type ExchangeUnderTest, inTime, newId } from './test-registry.ts';

const anHourAgo = () => new Date(Date.now() - 3_600_000);

const entry = (changes: Partial<EntryOrder> = {}) => buy({ takeProfit: '69000', ...changes });

/** What every exchange behind the port reports about open and closed positions. */
export function positionTests(
  suite: { under: ExchangeUnderTest; account: ExchangeAccount },
  alike: TestsInTurn,
): void {
  describe('positions', () => {
    let under: ExchangeUnderTest;
    let account: ExchangeAccount;
    beforeEach(() => {
      ({ under, account } = suite);
    });

    async function place(order: EntryOrder) {
      expect(await under.exchange.placeOrder(account, order, inTime())).toMatchObject({ outcome: 'placed' });
    }

    async function close(token: string, side: 'long' | 'short', quantity: string) {
      const clientOrderId = newId();
      const request = { token, side, quantity, clientOrderId };
      expect(await under.exchange.closePosition(account, request, inTime())).toMatchObject({
        outcome: 'placed',
      });
      return clientOrderId;
    }

    const history = () => under.exchange.fetchClosedPositions(account, { since: anHourAgo() });

    async function closedOnce() {
      const [position, ...more] = await history();
      if (position === undefined || more.length > 0) throw new Error('not exactly one closed position');
      return position;
    }

    test('an account without positions has no holdings and no history', async () => {
      expect(await under.exchange.fetchHoldings(account)).toEqual({ holdings: [], unreadable: [] });
      expect(await history()).toEqual([]);
    });

    alike('a token without a contract has no position', async () => {
      expect(await under.exchange.fetchPosition(account, 'NOSUCHTOKEN')).toBeNull();
      const read = under.exchange.readTradeAccount(account, { token: 'NOSUCHTOKEN', leverage: 10 });
      await expect(read).rejects.toMatchObject({ kind: 'refused' });
    });

    test('holdings are the open positions, each with its own stop and target', async () => {
      under.push('ETH', '3000');
      await under.exchange.prepareAccount(account, { token: 'ETH', leverage: 10 });
      await place(entry());
      await place(
        entry({
          token: 'ETH',
          side: 'sell',
          price: '3000',
          quantity: '0.1',
          stopLoss: '3100',
          takeProfit: '2800',
        }),
      );
      await under.loseStop(account, 'ETH');
      const { holdings } = await under.exchange.fetchHoldings(account);
      expect(holdings.toSorted((a, b) => a.position.token.localeCompare(b.position.token))).toMatchObject([
        {
          position: { token: 'BTC', side: 'long', quantity: '0.01' },
          protection: { stopLoss: '63000', takeProfit: '69000' },
        },
        {
          position: { token: 'ETH', side: 'short', quantity: '0.1' },
          protection: { stopLoss: null, takeProfit: '2800' },
        },
      ]);
    });

    test('a closed long reports its averages, profit and fees, as in the ledger', async () => {
      const before = await under.balanceOf(account);
      await place(entry());
      under.push('BTC', '66000');
      await close('BTC', 'long', '0.01');
      const position = await closedOnce();
      // 0.01 × (66,000 − 65,000) = 10; 0.06% of 650 and of 660 = 0.39 + 0.396.
      expect(position).toMatchObject({
        token: 'BTC',
        side: 'long',
        quantity: '0.01',
        entryPrice: '65000',
        closePrice: '66000',
        realisedProfit: '10',
        fees: '0.786',
        funding: '0',
      });
      const change = D(await under.balanceOf(account)).minus(before);
      expect(toPlain(change)).toBe(toPlain(D(position.realisedProfit).minus(position.fees)));
      expect(position.openedAt.getTime()).toBeLessThanOrEqual(position.closedAt.getTime());
    });

    alike('a short loses when the price rises', async () => {
      await place(entry({ side: 'sell', stopLoss: '67000', takeProfit: '60000' }));
      under.push('BTC', '66000');
      await close('BTC', 'short', '0.01');
      expect(await closedOnce()).toMatchObject({ side: 'short', realisedProfit: '-10', fees: '0.786' });
    });

    alike('reports a position closed in two parts as one, at its average', async () => {
      await place(entry());
      under.push('BTC', '66000');
      await close('BTC', 'long', '0.004');
      expect(await history()).toEqual([]);
      under.push('BTC', '67000');
      await close('BTC', 'long', '0.006');
      // 0.004 × 1,000 + 0.006 × 2,000 = 16; (0.004 × 66,000 + 0.006 × 67,000) / 0.01 = 66,600.
      expect(await closedOnce()).toMatchObject({
        quantity: '0.01',
        closePrice: '66600',
        realisedProfit: '16',
      });
    });

    test('an opposite order larger than the position closes it and opens another with the rest', async () => {
      await place(entry());
      under.push('BTC', '66000');
      await place(
        entry({ side: 'sell', price: '66000', quantity: '0.03', stopLoss: '68000', takeProfit: '60000' }),
      );
      expect(await closedOnce()).toMatchObject({
        side: 'long',
        quantity: '0.01',
        realisedProfit: '10',
        fees: '0.786',
      });
      expect(await under.exchange.fetchPosition(account, 'BTC')).toMatchObject({
        side: 'short',
        quantity: '0.02',
      });
    });

    alike('each position of a token has a stable id of its own, newest first', async () => {
      for (const price of ['65100', '65200']) {
        under.push('BTC', '65000');
        await place(entry());
        under.push('BTC', price);
        await close('BTC', 'long', '0.01');
      }
      const told = await history();
      expect(told.map(({ realisedProfit }) => realisedProfit)).toEqual(['2', '1']);
      expect(new Set(told.map(({ positionId }) => positionId)).size).toBe(2);
      expect(await history()).toEqual(told);
    });

    test('reads more than one page of history completely', async () => {
      await place(entry({ quantity: '0.001' }));
      await close('BTC', 'long', '0.001');
      await under.repeatTrades(account, 102);
      const told = await history();
      expect(told).toHaveLength(103);
      expect(new Set(told.map(({ positionId }) => positionId)).size).toBe(103);
    });

    alike.each([
      ['62000', 'stop loss', '-30'],
      ['70000', 'take profit', '50'],
      ['1', 'liquidation', '-65'],
    ] as const)('at a mark of %s it is closed by its %s', async (mark, source, realisedProfit) => {
      await place(entry());
      under.push('BTC', mark);
      const position = await closedOnce();
      expect(position.realisedProfit).toBe(realisedProfit);
      expect(await under.exchange.findClosingOrder(account, position)).toMatchObject({ source });
    });

    test('reports the client order id of the closing order', async () => {
      await place(entry());
      await close('BTC', 'long', '0.004');
      const clientOrderId = await close('BTC', 'long', '0.006');
      expect(await under.exchange.findClosingOrder(account, await closedOnce())).toEqual({
        clientOrderId,
        source: 'order',
      });
    });
  });
}
