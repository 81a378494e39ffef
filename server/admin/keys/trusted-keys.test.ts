import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { evaluateEligibility } from '#domain/eligibility/eligibility.ts';
import { readEligibilityInput } from '#server/engine/workflow/select-users.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { expectAnswer } from '#test/app/test-client.ts';
import type { SiteKey } from '#test/world/keys.ts';
import { startWorld, type TestUser } from '#test/world.ts';

let trader: TestUser;

const board = await startWorld({ exchange: 'demo' });
const { site } = board;
afterAll(() => board.close());
beforeEach(async () => {
  site.setFaults([]);
  trader = await board.createTrader();
});

const { newKey } = board;
const enter = (key: SiteKey) => board.enter(trader, key);
const shown = () => board.shown(trader);
const testKey = () => board.testKey(trader);
const find = () => board.deps.findAccount(trader.user.id, 'Bitget');
const guard = () => board.deps.accountGuard.deny(trader.user.id, 'Bitget');
const asked = (path: string) => site.requests.filter((request) => request.path.endsWith(path)).length;

/** The eligibility decision about the trader. */
async function eligibility() {
  const owner = { ownerUserId: trader.user.id, fromAdmin: true };
  const signal = { processor: 'Tesla', timeframe: '15', token: 'BTC', ...owner };
  const { decisions } = evaluateEligibility(await readEligibilityInput(board.deps, signal));
  return decisions.find(({ userId }) => userId === trader.user.id);
}

describe('a key that was not inspected yet', () => {
  beforeEach(async () => {
    site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info' } }]);
    await enter(newKey());
    site.setFaults([]);
  });

  // Requirements: users-11
  test('is inspected once, before its first order', async () => {
    expect(await eligibility()).toMatchObject({
      status: 'not eligible',
      saw: 'an API key of an unknown account',
    });
    const before = asked('/account/info');
    expect(await guard()).toBeNull();
    expect(await guard()).toBeNull();
    expect(asked('/account/info')).toBe(before + 1);
    expect(await eligibility()).toMatchObject({ status: 'eligible' });
    expect(await shown()).toMatchObject({ state: 'ready' });
  });

  // Requirements: users-11
  test('places no orders until the exchange has answered the inspection', async () => {
    site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info', times: Infinity } }]);
    expect(await guard()).toMatchObject({
      code: 'exchange_key_not_inspected',
      reason: expect.stringMatching(
        /^Bitget has not yet said what the API key may do and to which account it belongs: Bitget: /,
      ),
    });
    expect((await find())?.denial).toMatchObject({ code: 'exchange_key_not_inspected' });
    expect(await shown()).toMatchObject({ state: 'unverified', connected: true });
  });

  test('is rejected if it may withdraw', async () => {
    const credentials = newKey();
    site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info' } }]);
    await enter(credentials);
    site.setKey(credentials.accountId, { mayTrade: true, mayWithdraw: true });
    expect(await guard()).toMatchObject({ code: 'exchange_key_may_withdraw' });
    expect(await find()).toBeNull();
    const problem = expect.stringMatching(
      /^The Bitget API key is not used since .*Z: This Bitget API key may withdraw: /,
    );
    expect(await shown()).toMatchObject({ state: 'rejected', connected: false, problem });
    expect(await eligibility()).toMatchObject({
      status: 'not eligible',
      rule: 'Criterion 5: exchange ready',
      saw: 'a rejected API key',
      reason: problem,
    });
  });
});

describe('a key that stops working', () => {
  // Requirements: users-17
  test('is marked by any refused call, with the exchange’s message, and not used again', async () => {
    const credentials = newKey();
    await enter(credentials);
    site.replaceKey(credentials.accountId);
    const balance = await board.admin.get(`/api/admin/account-balance/${trader.user.id}`);
    expect(balance.statusCode).toBe(503);
    const before = site.requests.length;
    const problem = expect.stringMatching(
      /^The Bitget API key is not used since .*Z: Bitget refused it: Invalid ACCESS_KEY \(40006\)$/,
    );
    expect(await shown()).toMatchObject({ state: 'rejected', connected: false, problem });
    expect(await find()).toBeNull();
    expect(await guard()).toMatchObject({ code: 'exchange_key_rejected', reason: problem });
    expect(await eligibility()).toMatchObject({ status: 'not eligible', reason: problem });
    expectAnswer(await board.admin.get(`/api/admin/account-balance/${trader.user.id}`), 503, {
      message: problem,
    });
    expect(site.requests).toHaveLength(before);
    const found = await board.deps.findAccount(trader.user.id, 'Bitget', { evenRejected: true });
    expect(found).toMatchObject({
      accountId: credentials.accountId,
      denial: { code: 'exchange_key_rejected' },
    });
  });

  test('is also marked when it has gained a permission since', async () => {
    const credentials = newKey();
    await enter(credentials);
    site.setKey(credentials.accountId, { mayTrade: true, mayWithdraw: true });
    expect(await testKey()).toMatchObject({ success: false });
    expect(await shown()).toMatchObject({ state: 'rejected' });
    site.setKey(credentials.accountId, { mayTrade: true, mayWithdraw: false });
    await testKey();
    expect(await shown()).toMatchObject({ state: 'ready' });
  });

  test('is replaced by a new key, but not by a refused one', async () => {
    const credentials = newKey();
    await enter(credentials);
    site.replaceKey(credentials.accountId);
    await testKey();
    expect((await enter({ ...newKey(), apiSecret: 'wrong' })).statusCode).toBe(400);
    expect(await shown()).toMatchObject({ state: 'rejected' });
    expect((await enter(newKey())).json()).toMatchObject({ state: 'ready', problem: null });
  });

  testEveryCase('is not marked when the exchange cannot be reached', async () => {
    await enter(newKey());
    for (const kind of ['badGatewayBefore', 'tooManyRequests', 'html200', 'cutAfterAccept'] as const) {
      site.setFaults([{ kind, on: { times: Infinity } }]);
      await testKey();
      expect(await shown(), kind).toMatchObject({ state: 'ready' });
    }
  });

  test('does not mark its replacement when it is refused later', async () => {
    const old = newKey();
    await enter(old);
    const account = await find();
    await enter(newKey());
    site.replaceKey(old.accountId);
    if (account === null) throw new Error('there is no account');
    const read = board.deps.exchanges.get('Bitget').fetchBalance(account);
    await expect(read).rejects.toMatchObject({ kind: 'credentials' });
    expect(await shown()).toMatchObject({ state: 'ready' });
  });
});

describe('a key that was entered in another mode', () => {
  const problem =
    'The Bitget API key was entered in live mode and is not used in demo mode: enter one for it';

  // Requirements: users-16
  test('is not used or sent to an exchange, with the reason', async () => {
    await enter(newKey());
    await board.query("update exchange_credentials set exchange_mode = 'live' where user_id = $1", [
      trader.user.id,
    ]);
    const before = site.requests.length;
    expect(await shown()).toMatchObject({ state: 'other-mode', connected: false, problem });
    expect(await find()).toBeNull();
    expect(await board.deps.findAccount(trader.user.id, 'Bitget', { evenRejected: true })).toBeNull();
    expect(await guard()).toMatchObject({ code: 'exchange_key_other_mode' });
    expect(await eligibility()).toMatchObject({ status: 'not eligible', reason: problem });
    expect(await testKey()).toEqual({
      success: false,
      exchangePlatform: 'Bitget',
      error: 'credentials',
      message: problem,
    });
    expect(site.requests).toHaveLength(before);
  });

  test('belongs to the mode in which it is first inspected if it was entered in paper mode', async () => {
    await enter(newKey());
    await board.query(
      'update exchange_credentials set exchange_mode = null, inspected_at = null, account_id = null where user_id = $1',
      [trader.user.id],
    );
    expect(await shown()).toMatchObject({ state: 'unverified' });
    expect(await guard()).toBeNull();
    const rows = await board.query('select exchange_mode from exchange_credentials where user_id = $1', [
      trader.user.id,
    ]);
    expect(rows).toEqual([{ exchange_mode: 'demo' }]);
  });
});
