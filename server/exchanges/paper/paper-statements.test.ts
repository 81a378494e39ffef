import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { storedMarks } from '#server/engine/sizing/stored-marks.ts';
import type { ClosedPosition, Exchange, ExchangeAccount } from '#server/exchanges/exchange.ts';
import { openPaper, paperAccount } from '#server/exchanges/paper/open-paper.ts';
import { countStatements } from '#test/app/count-statements.ts';
import { startTestEngine, type TestEngine } from '#test/app/test-engine.ts';

/* The number of statements per call: most of the cost of a paper order. */

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine?.close());

/** The statements of each call in the course of two orders. */
async function countCalls(exchange: Exchange, account: ExchangeAccount): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const count = async (call: string, work: () => Promise<unknown>) => {
    counts[call] = await countStatements(work);
  };
  const token = 'BTC';
  const context = { notAfter: new Date(engine.clock.now().getTime() + 60_000) };
  const order = { token, side: 'buy', quantity: '0.01', leverage: 10, takeProfit: '69000' } as const;
  const filled = { ...order, clientOrderId: 'filled', price: '65000', stopLoss: '63000' };
  const resting = { ...order, clientOrderId: 'resting', price: '64000', stopLoss: '62000' };
  const held = { token, side: 'long', quantity: '0.01' } as const;
  const newStop = { ...held, clientOrderId: 'stop', stopLoss: '62000', takeProfit: null };

  await exchange.fetchTicker(token);
  await count('price', () => exchange.fetchTicker(token, { viewerUserId: account.userId }));
  await count('prepare', () => exchange.prepareAccount(account, { token, leverage: 10 }));
  await count('prepare again', () => exchange.prepareAccount(account, { token, leverage: 10 }));
  await count('balance', () => exchange.fetchBalance(account));
  await count('place', () => exchange.placeOrder(account, filled, context));
  await count('find filled', () => exchange.findOrder(account, filled));
  await count('balance with a position', () => exchange.fetchBalance(account));
  await count('holding', () => exchange.fetchHolding(account, token));
  await count('holdings', () => exchange.fetchHoldings(account));
  await count('place resting', () => exchange.placeOrder(account, resting, context));
  await count('find resting', () => exchange.findOrder(account, resting));
  await count('open orders', () => exchange.fetchOpenOrders(account, token));
  await count('cancel', () => exchange.cancelOrder(account, resting));
  await count('cancel again', () => exchange.cancelOrder(account, resting));
  await count('move stop', () => exchange.placeProtection(account, newStop, context));
  await count('close', () => exchange.closePosition(account, { ...held, clientOrderId: 'close' }, context));
  let closed: ClosedPosition[] = [];
  await count('history', async () => {
    closed = await exchange.fetchClosedPositions(account, { since: new Date(0) });
  });
  const [position] = closed;
  if (position === undefined) throw new Error('no position was closed');
  await count('closing order', () => exchange.findClosingOrder(account, position));
  await count('cancel protection', () => exchange.cancelProtection(account, token));
  return counts;
}

test.each(EXCHANGE_PLATFORMS)(
  'no call on %s takes more statements in paper mode than the real client at the venue',
  async (platform) => {
    const { db, clock, deps } = engine;
    const startBalance = '10000';
    const onError = () => {};
    const paper = openPaper({ db, clock, marks: storedMarks(), startBalance, onError }).exchange(platform);
    await engine.storeCandle({ token: 'BTC', price: '65000' });
    const account = paperAccount(await engine.createUser(), paper.accountMode);
    const inPaper = await countCalls(paper, account);
    const atVenue = await deps.findAccount(await engine.createUser(), platform);
    if (atVenue === null) throw new Error('no account');
    const byClient = await countCalls(deps.exchanges.get(platform), atVenue);
    const more = Object.keys(inPaper).filter((call) => (inPaper[call] ?? 0) > (byClient[call] ?? 0));
    expect(more).toEqual([]);
    expect(inPaper).toMatchObject({
      price: 1,
      'prepare again': 1,
      balance: 1,
      'find filled': 1,
      'find resting': 1,
      'open orders': 1,
      holding: 2,
      holdings: 2,
    });
  },
);
