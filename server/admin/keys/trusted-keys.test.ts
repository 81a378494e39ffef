import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { evaluateEligibility } from '#domain/eligibility/eligibility.ts';
import { deny } from '#domain/workflow/denials.ts';
import { readEligibilityInput } from '#server/engine/workflow/select-users.ts';
import { forgetCredentialCalls } from '#test/app/credential-limits.ts';
import { startTestApp, type TestApp, type TestUser } from '#test/app/test-app.ts';
import {
  type ExchangeSite,
  type SiteCredentials,
  startExchangeSite,
} from '#test/venues/test-exchange-site.ts';

const PATH = '/api/user-settings/exchange-credentials';

let site: ExchangeSite;
let board: TestApp;
let trader: TestUser;

beforeAll(async () => {
  site = await startExchangeSite({ environment: 'demo' });
  board = await startTestApp({
    config: {
      exchangeMode: 'demo',
      bitgetBaseUrl: site.url,
      bybitBaseUrl: site.url,
      exchangeTimeoutMs: 1_000,
    },
  });
});
afterAll(async () => {
  await board.close();
  await site.close();
});
beforeEach(async () => {
  site.setFaults([]);
  trader = await board.createUser();
  await board.admin.put(`/api/admin/user/${trader.user.id}/active-trading`, { activeTrading: true });
});

const newCredentials = (): SiteCredentials & { accountId: string } => {
  const secrets = {
    apiKey: `key-${randomUUID()}`,
    apiSecret: `secret-${randomUUID()}`,
    passphrase: `phrase-${randomUUID()}`,
  };
  return { ...secrets, accountId: site.addAccount(secrets) };
};
async function enter({ accountId: _id, ...secrets }: SiteCredentials & { accountId: string }) {
  await forgetCredentialCalls(board.database.pool);
  return await trader.client.put(PATH, { exchangePlatform: 'Bitget', ...secrets });
}
const shown = async () => (await trader.client.get(PATH)).json();
const find = () => board.deps.findAccount(trader.user.id, 'Bitget');
const guard = () => board.deps.accountGuard.deny(trader.user.id, 'Bitget');
const asked = (path: string) => site.requests.filter((request) => request.path.endsWith(path)).length;

/** What eligibility says of the trader. */
async function eligibility() {
  const signal = { processor: 'Tesla', timeframe: '15', ownerUserId: trader.user.id, fromAdmin: true };
  const { decisions } = evaluateEligibility(await readEligibilityInput(board.deps, signal));
  return decisions.find(({ userId }) => userId === trader.user.id);
}

describe('a key of which nothing is known yet', () => {
  beforeEach(async () => {
    site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info' } }]);
    await enter(newCredentials());
    site.setFaults([]);
  });

  // Requirements: users-11
  test('is asked about before its first order, once', async () => {
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
  test('orders nothing as long as the exchange says nothing of it', async () => {
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

  test('and may withdraw is not traded with, and says so from then on', async () => {
    const credentials = newCredentials();
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
  test('is marked by whatever call the exchange refuses, with its words, and is not used any more', async () => {
    const credentials = newCredentials();
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
    const again = await board.admin.get(`/api/admin/account-balance/${trader.user.id}`);
    expect([again.statusCode, again.json()]).toEqual([503, { message: problem }]);
    expect(site.requests).toHaveLength(before);
    const found = await board.deps.findAccount(trader.user.id, 'Bitget', { evenRejected: true });
    expect(found).toMatchObject({
      accountId: credentials.accountId,
      denial: { code: 'exchange_key_rejected' },
    });
  });

  test('a test that fails marks it, and one that succeeds lifts that', async () => {
    const credentials = newCredentials();
    await enter(credentials);
    site.replaceKey(credentials.accountId);
    expect((await trader.client.post(`${PATH}/test`)).json()).toMatchObject({
      success: false,
      error: 'credentials',
    });
    expect(await shown()).toMatchObject({ state: 'rejected' });
    site.replaceKey(credentials.accountId, credentials);
    expect((await trader.client.post(`${PATH}/test`)).json()).toMatchObject({ success: true });
    expect(await shown()).toMatchObject({ state: 'ready', problem: null });
    expect(await guard()).toBeNull();
  });

  test('a right that it gained since marks it too', async () => {
    const credentials = newCredentials();
    await enter(credentials);
    site.setKey(credentials.accountId, { mayTrade: true, mayWithdraw: true });
    expect((await trader.client.post(`${PATH}/test`)).json()).toMatchObject({ success: false });
    expect(await shown()).toMatchObject({ state: 'rejected' });
    site.setKey(credentials.accountId, { mayTrade: true, mayWithdraw: false });
    await trader.client.post(`${PATH}/test`);
    expect(await shown()).toMatchObject({ state: 'ready' });
  });

  test('a new key lifts it, and a refused new one does not', async () => {
    const credentials = newCredentials();
    await enter(credentials);
    site.replaceKey(credentials.accountId);
    await trader.client.post(`${PATH}/test`);
    expect((await enter({ ...newCredentials(), apiSecret: 'wrong' })).statusCode).toBe(400);
    expect(await shown()).toMatchObject({ state: 'rejected' });
    expect((await enter(newCredentials())).json()).toMatchObject({ state: 'ready', problem: null });
  });

  test('an exchange that cannot be reached marks nothing', async () => {
    await enter(newCredentials());
    for (const kind of ['badGatewayBefore', 'tooManyRequests', 'html200', 'cutAfterAccept'] as const) {
      site.setFaults([{ kind, on: { times: Infinity } }]);
      await trader.client.post(`${PATH}/test`);
      expect(await shown(), kind).toMatchObject({ state: 'ready' });
    }
  });

  test('what is said of a key that was replaced meanwhile does not mark the new one', async () => {
    const old = newCredentials();
    await enter(old);
    const account = await find();
    await enter(newCredentials());
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
  test('is not used, and says so, and no exchange sees it', async () => {
    await enter(newCredentials());
    await board.database.pool.query(
      "update exchange_credentials set exchange_mode = 'live' where user_id = $1",
      [trader.user.id],
    );
    const before = site.requests.length;
    expect(await shown()).toMatchObject({ state: 'other-mode', connected: false, problem });
    expect(await find()).toBeNull();
    expect(await board.deps.findAccount(trader.user.id, 'Bitget', { evenRejected: true })).toBeNull();
    expect(await guard()).toMatchObject({ code: 'exchange_key_other_mode' });
    expect(await eligibility()).toMatchObject({ status: 'not eligible', reason: problem });
    expect((await trader.client.post(`${PATH}/test`)).json()).toEqual({
      success: false,
      exchangePlatform: 'Bitget',
      error: 'credentials',
      message: problem,
    });
    expect(site.requests).toHaveLength(before);
  });

  test('one of paper mode, which asks nobody, belongs to the mode in which it is first asked about', async () => {
    await enter(newCredentials());
    await board.database.pool.query(
      'update exchange_credentials set exchange_mode = null, inspected_at = null, account_id = null where user_id = $1',
      [trader.user.id],
    );
    expect(await shown()).toMatchObject({ state: 'unverified' });
    expect(await guard()).toBeNull();
    const { rows } = await board.database.pool.query(
      'select exchange_mode from exchange_credentials where user_id = $1',
      [trader.user.id],
    );
    expect(rows).toEqual([{ exchange_mode: 'demo' }]);
  });
});

test('credentials that do not open make nobody eligible, and the reason is said', async () => {
  await enter(newCredentials());
  await board.database.pool.query(
    "update exchange_credentials set sealed = 'v1.' || reverse(substr(sealed, 4)) where user_id = $1",
    [trader.user.id],
  );
  const { reason } = deny('exchange_key_unreadable', { exchange: 'Bitget' });
  expect(await eligibility()).toMatchObject({ status: 'not eligible', reason });
});
