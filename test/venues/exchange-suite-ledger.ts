import { describe, expect, test } from 'vitest';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import type { Exchange, ExchangeAccount, LedgerEntry } from '#server/exchanges/exchange.ts';
import type { SuiteDialect } from './exchange-suite-words.ts';
import { platformOf } from './exchange-suite-words.ts';
import { buy, inTime, newId, type WiredExchange } from './test-registry.ts';

/** More than two pages of any exchange. */
const MANY = 130;

/** What every client of an exchange reads of the exchange's ledger. */
export function ledgerTests(
  dialect: SuiteDialect,
  suite: { under: WiredExchange; account: ExchangeAccount },
): void {
  const aHour = 3_600_000;

  async function readAll(
    { exchange, account }: { exchange: Exchange; account: ExchangeAccount },
    period: { from: Date; to: Date },
  ): Promise<LedgerEntry[]> {
    const entries: LedgerEntry[] = [];
    let cursor: string | null = null;
    do {
      const page = await exchange.fetchLedger(account, { ...period, ...(cursor === null ? {} : { cursor }) });
      entries.push(...page.entries);
      cursor = page.next;
    } while (cursor !== null);
    return entries;
  }

  const sumOf = (entries: LedgerEntry[]) =>
    entries.reduce((sum, { amount }): Decimal => sum.plus(amount), D(0));

  describe('the ledger', () => {
    test('tells every movement once, also where pages meet within a millisecond', async () => {
      const { under, account } = suite;
      const { exchange } = under;
      const owner = { userId: account.userId, platform: platformOf(dialect) };
      const now = Date.now();
      const at = (ms: number) => new Date(now - ms);
      const order = buy({ takeProfit: '69000' });
      await exchange.placeOrder(account, order, inTime());
      under.push('BTC', '66000');
      const close = { token: 'BTC', side: 'long', quantity: '0.01', clientOrderId: newId() } as const;
      await exchange.closePosition(account, close, inTime());
      await under.move({ ...owner, kind: 'deposit', at: at(50_000), amount: '500.5' });
      for (let index = 0; index < MANY; index += 1) {
        const amount = index % 3 === 0 ? '-0.01' : '0.0001';
        await under.move({ ...owner, kind: 'funding', token: 'BTC', at: at(40_000), amount });
      }
      await under.move({ ...owner, kind: 'withdrawal', at: at(30_000), amount: '-200' });

      const all = { from: at(aHour), to: at(-60_000) };
      const entries = await readAll({ exchange, account }, all);
      expect(entries).toHaveLength(1 + 1 + MANY + 1 + 3);
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
      expect(toPlain(sumOf(entries))).toBe(toPlain(await under.balanceOf(account)));
      const ofKind = (kind: LedgerEntry['kind']) => entries.filter((one) => one.kind === kind);
      expect(ofKind('trade')).toMatchObject([{ amount: '10', token: 'BTC', text: 'Sold BTC' }]);
      expect(ofKind('fee').map(({ amount }) => amount)).toEqual(['-0.396', '-0.39']);
      expect(ofKind('funding')).toHaveLength(MANY);
      expect(toPlain(sumOf(ofKind('funding')))).toBe('-0.4314');
      expect(ofKind('withdrawal')).toMatchObject([{ amount: '-200', token: null, at: at(30_000) }]);
      expect(ofKind('deposit').map(({ amount }) => amount)).toContain('500.5');
      const orders = ofKind('fee').map(({ clientOrderId }) => clientOrderId);
      expect(orders).toEqual(dialect === 'Bybit' ? [close.clientOrderId, order.clientOrderId] : [null, null]);

      // Within a category of Bitget v3, and everywhere else over all: newest first, and balances follow.
      const ofToken = entries.filter(({ token }) => token !== null);
      const times = ofToken.map((one) => one.at.getTime());
      expect(times).toEqual(times.toSorted((a, b) => b - a));
      if (dialect !== 'Bitget unified') {
        let balance = D(0);
        for (const entry of entries.toReversed()) {
          balance = balance.plus(entry.amount);
          if (entry.balance !== null) expect(entry.balance).toBe(toPlain(balance));
        }
      }

      // From the start of a period until just before its end.
      const funded = await readAll({ exchange, account }, { from: at(40_000), to: at(30_000) });
      expect(funded).toHaveLength(MANY);

      // A page that fails is no end: the next request begins where it was.
      const first = await exchange.fetchLedger(account, all);
      expect(first.next).not.toBeNull();
      under.setFaults([{ kind: 'internalError', on: { operation: 'ledger' } }]);
      const second = () => exchange.fetchLedger(account, { ...all, cursor: first.next ?? '' });
      await expect(second()).rejects.toMatchObject({ kind: 'unknown' });
      const known = new Set(first.entries.map(({ id }) => id));
      expect((await second()).entries.filter(({ id }) => known.has(id))).toEqual([]);
    });
  });
}
