import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '#test/app/count-statements.ts';
import { type ExchangeWorld, startWorld } from '#test/world.ts';

let board: ExchangeWorld;
beforeAll(async () => {
  board = await startWorld({ exchange: 'demo' });
});
afterAll(() => board?.close());

test('the keys of many users are read with one statement, each user’s own', async () => {
  const { findAccount, accountGuard } = board.deps;
  const owners: { userId: string; apiKey: string | null }[] = [];
  for (const platform of ['Bitget', 'Bitget', 'Bybit', null]) {
    const trader = await board.createTrader();
    const key = board.newKey();
    if (platform !== null) expect((await board.enter(trader, key, platform)).statusCode).toBe(200);
    owners.push({ userId: trader.user.id, apiKey: platform === 'Bitget' ? key.apiKey : null });
  }
  let found: unknown[] = [];
  const findAll = async () => {
    const accounts = await Promise.all(owners.map(({ userId }) => findAccount(userId, 'Bitget')));
    found = accounts.map((account) => account?.credentials.apiKey ?? null);
  };
  expect(await countStatements(findAll, 'exchange_credentials')).toBe(1);
  expect(found).toEqual(owners.map(({ apiKey }) => apiKey));
  const guardAll = () => Promise.all(owners.map(({ userId }) => accountGuard.deny(userId, 'Bitget')));
  expect(await countStatements(guardAll, 'exchange_credentials')).toBe(1);
});
