import { afterAll, beforeAll, expect, test } from 'vitest';
import { countStatements } from '#test/app/count-statements.ts';
import { type KeyBoard, startKeyBoard } from '#test/app/key-board.ts';

let keys: KeyBoard;
beforeAll(async () => {
  keys = await startKeyBoard();
});
afterAll(() => keys?.close());

test('the keys of many users are read with one statement, each user’s own', async () => {
  const { findAccount, accountGuard } = keys.board.deps;
  const owners: { userId: string; apiKey: string | null }[] = [];
  for (const platform of ['Bitget', 'Bitget', 'Bybit', null]) {
    const trader = await keys.createTrader();
    const key = keys.newKey();
    if (platform !== null) expect((await keys.enter(trader, key, platform)).statusCode).toBe(200);
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
