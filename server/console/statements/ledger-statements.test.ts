import { and, asc, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { D, toPlain } from '#domain/decimal.ts';
import { createLedgerReads } from '#server/engine/ledger/read-ledgers.ts';
import { paperAccounts, paperFills } from '#server/exchanges/paper/paper-schema.ts';
import {
  exchangeCredentials,
  ledgerCoverage,
  ledgerEntries,
  performanceFees,
} from '#server/platform/db/schema.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { flatten, withLong } from '#test/app/token-holders.ts';
import { accountModeOf, platformOf, type SuiteDialect } from '#test/venues/exchange-suite-words.ts';
import { buy } from '#test/venues/test-registry.ts';
import { readStatement } from './read-statement.ts';

/** Statements by the exchanges' own ledgers: the real clients at the test venue. */
const engine = sharedTestEngine({ config: { displayTimezone: 'Europe/Berlin' } });
/** The exchanges are those of the tests; accounts are kept as those of demo mode. */
const inDemo = () => ({ ...engine.deps, config: { ...engine.deps.config, exchangeMode: 'demo' as const } });
const readLedgers = () => createLedgerReads(inDemo()).run();
const statementOf = (userId: string, month = '2026-05') =>
  readStatement(inDemo(), { id: userId, username: 'ada' }, month);

/** A month with a partial fill, a deposit, funding, a reversal, a liquidation and a withdrawal: May 2026 in Berlin. */
async function tradedMonth(dialect: SuiteDialect) {
  const platform = platformOf(dialect);
  engine.setAccountMode(accountModeOf(dialect));
  engine.clock.set('2026-05-04T10:00:00.000Z');
  engine.venue.setFaults([{ kind: 'partialFill', fraction: '0.4' }]);
  const { userId, token, trade } = await withLong(engine, { exchangePlatform: platform });
  engine.venue.setFaults([]);
  const since = engine.clock.now();
  await engine.db.insert(exchangeCredentials).values({
    ...{
      userId,
      exchangePlatform: platform,
      apiKeyHint: '',
      sealed: '',
      accountMode: accountModeOf(dialect),
    },
    ...{ accountId: userId, accountSince: since, updatedAt: since },
  });
  const move = (at: string, kind: 'deposit' | 'withdrawal' | 'funding', amount: string) =>
    engine.venue.move({
      ...{ userId, platform, kind, amount, at: new Date(at) },
      ...(kind === 'funding' ? { token } : {}),
    });
  await move('2026-05-10T00:00:00.123Z', 'deposit', '500.5');
  await move('2026-05-10T08:00:00.000Z', 'funding', '-0.01234567');
  await move('2026-05-10T16:00:00.000Z', 'funding', '0.00000001');
  await engine.storeCandle({ token, price: '101' });
  const account = await engine.deps.findAccount(userId, platform);
  if (account === null) throw new Error('no account');
  const exchange = engine.deps.exchanges.get(platform);
  engine.clock.set('2026-05-20T10:00:00.000Z');
  const { position } = await engine.holding(userId, token, platform);
  const order = { token, price: '101', leverage: position?.leverage ?? 1 };
  const inTime = { notAfter: new Date('2026-05-20T10:01:00.000Z') };
  const reversal = buy({
    ...{ ...order, side: 'sell', quantity: toPlain(D(position?.size ?? 0).times(2)) },
    ...{ stopLoss: '110', takeProfit: '90' },
  });
  expect(await exchange.placeOrder(account, reversal, inTime)).toMatchObject({ outcome: 'placed' });
  await flatten(engine, { userId, token, platform });
  // The price falls past stop and liquidation at once.
  const lost = buy({ ...order, quantity: '1', stopLoss: '95', takeProfit: '130' });
  expect(await exchange.placeOrder(account, lost, inTime)).toMatchObject({ outcome: 'placed' });
  await engine.storeCandle({ token, price: '1' });
  // Before and after the end of May in Berlin.
  await move('2026-05-31T21:59:59.999Z', 'withdrawal', '-200');
  await move('2026-05-31T22:00:00.000Z', 'deposit', '1000');
  engine.clock.set('2026-06-02T10:00:00.000Z');
  return { userId, platform, token, trade };
}

const storedEntries = (userId: string) =>
  engine.db
    .select()
    .from(ledgerEntries)
    .where(eq(ledgerEntries.userId, userId))
    .orderBy(asc(ledgerEntries.at), asc(ledgerEntries.position));

// Requirements: results-statements-2, results-statements-5
describe.each(firstCases(['Bitget', 'Bitget unified', 'Bybit']))('at %s', (dialect) => {
  test('a month adds up to the last digit, and says incomplete until all of it was read', async () => {
    const { userId, platform, trade } = await tradedMonth(dialect);
    await engine.db.insert(performanceFees).values({ userId, percent: '30', updatedAt: new Date() });
    expect((await statementOf(userId)).complete).toBe(false);

    // The second period cannot be read: what was read before it is kept, and is no statement.
    engine.venue.setFaults([
      { kind: 'internalError', on: { operation: 'ledger', nth: dialect === 'Bitget' ? 2 : 6, times: 9 } },
    ]);
    await readLedgers();
    expect(await statementOf(userId)).toMatchObject({ complete: false, closingBalance: null });
    engine.venue.setFaults([]);
    await readLedgers();
    await readLedgers();

    const fills = await engine.db.select().from(paperFills).where(eq(paperFills.userId, userId));
    const [books] = await engine.db
      .select()
      .from(paperAccounts)
      .where(and(eq(paperAccounts.userId, userId), eq(paperAccounts.platform, platform)));
    const traded = fills.reduce((sum, { profit, fee }) => sum.plus(profit).minus(fee), D(0));
    const funded = D('-0.01234567').plus('0.00000001');
    const closing = D('10000').plus(traded).plus(funded).plus('500.5').minus('200');
    const statement = await statementOf(userId);
    expect(statement).toMatchObject({
      complete: true,
      openingBalance: '0',
      closingBalance: toPlain(closing),
    });
    expect(toPlain(closing.plus('1000'))).toBe(toPlain(books?.balance ?? '0'));
    const sum = statement.lines.reduce((total, { amount }) => total.plus(amount), D(0));
    expect(toPlain(sum)).toBe(statement.closingBalance);
    const amounts = (kind: string) =>
      statement.lines.filter((line) => line.kind === kind).map(({ amount }) => amount);
    // A liquidation costs no fee here, and an entry that only opens has no result: zeros are no lines.
    const ofFills = (amountOf: (fill: (typeof fills)[number]) => string) =>
      fills
        .map((fill) => toPlain(amountOf(fill)))
        .filter((amount) => amount !== '0')
        .toSorted();
    expect(amounts('fee').toSorted()).toEqual(ofFills(({ fee }) => D(fee).negated().toFixed()));
    expect(amounts('trade').toSorted()).toEqual(ofFills(({ profit }) => profit));
    expect(amounts('deposit')).toEqual(['10000', '500.5']);
    expect(amounts('withdrawal')).toEqual(['-200']);
    expect(amounts('funding')).toEqual(['-0.01234567', '0.00000001']);
    expect(statement.lines.some(({ text }) => text.startsWith('Liquidated '))).toBe(true);
    const ours = statement.lines.filter(({ tradeId }) => tradeId === trade.id);
    expect(ours.length > 0).toBe(dialect === 'Bybit');

    // Deposits and withdrawals are not charged.
    const gained = traded.plus(funded);
    const due = gained.gt(0) ? gained.times('0.3').toFixed(2, 4) : '0.00';
    expect(statement.fee).toMatchObject({ percent: '30', due });

    // The running month is known until the last reading.
    const running = await statementOf(userId, '2026-06');
    expect(running).toMatchObject({
      complete: true,
      at: '2026-06-02T09:50:00.000Z',
      openingBalance: statement.closingBalance,
      closingBalance: toPlain(closing.plus('1000')),
    });
    // Before the key was there, and later than now.
    for (const month of ['2026-04', '2026-07'])
      expect((await statementOf(userId, month)).complete).toBe(false);
  });
});

testEveryCase('says incomplete where a told balance differs from the movements', async () => {
  const { userId } = await tradedMonth('Bybit');
  await readLedgers();
  expect((await statementOf(userId)).complete).toBe(true);
  const funding = (await storedEntries(userId)).find(({ kind }) => kind === 'funding');
  await engine.db
    .delete(ledgerEntries)
    .where(and(eq(ledgerEntries.userId, userId), eq(ledgerEntries.entryId, funding?.entryId ?? '')));
  expect(await statementOf(userId)).toMatchObject({ complete: false, openingBalance: null });
  // The next month is right by itself, but the mark is not known.
  expect(await statementOf(userId, '2026-06')).toMatchObject({ complete: true, fee: { due: null } });
});

testEveryCase(
  'reads once an hour from where it ended, an hour back for late entries, and nothing twice',
  async () => {
    const { userId, platform } = await tradedMonth('Bitget');
    await readLedgers();
    const before = await storedEntries(userId);
    // Late: its time is in the part that was read.
    const late = { userId, platform, kind: 'deposit' as const, amount: '7' };
    await engine.venue.move({ ...late, at: new Date('2026-06-02T09:30:00.000Z') });
    engine.clock.set('2026-06-02T10:59:00.000Z');
    await readLedgers();
    expect(await storedEntries(userId)).toHaveLength(before.length);
    engine.clock.set('2026-06-02T11:00:00.000Z');
    await readLedgers();
    const after = await storedEntries(userId);
    expect(after).toHaveLength(before.length + 1);
    expect(after.at(-1)).toMatchObject({ amount: '7', kind: 'deposit' });
    // What the exchange does not keep any more is a hole: another period begins.
    engine.clock.set('2026-12-01T00:00:00.000Z');
    await readLedgers();
    const covered = await engine.db
      .select()
      .from(ledgerCoverage)
      .where(eq(ledgerCoverage.userId, userId))
      .orderBy(asc(ledgerCoverage.coveredFrom));
    expect(covered.map(({ coveredUntil }) => coveredUntil.toISOString())).toEqual([
      '2026-06-02T10:50:00.000Z',
      '2026-11-30T23:50:00.000Z',
    ]);
    expect((await statementOf(userId)).complete).toBe(true);
  },
);

testEveryCase(
  'a key of another account has a ledger of its own, and the month of the change is incomplete',
  async () => {
    const { userId, platform } = await tradedMonth('Bitget');
    engine.clock.set('2026-05-25T00:00:00.000Z');
    await readLedgers();
    await engine.db
      .update(exchangeCredentials)
      .set({ accountId: 'another', accountSince: engine.clock.now() })
      .where(eq(exchangeCredentials.userId, userId));
    engine.clock.set('2026-06-02T10:00:00.000Z');
    await readLedgers();
    const [books] = await engine.db
      .select()
      .from(paperAccounts)
      .where(and(eq(paperAccounts.userId, userId), eq(paperAccounts.platform, platform)));
    expect((await statementOf(userId)).complete).toBe(false);
    expect(await statementOf(userId, '2026-06')).toMatchObject({
      complete: true,
      closingBalance: toPlain(books?.balance ?? '0'),
    });
  },
);
