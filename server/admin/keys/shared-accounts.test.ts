import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AttentionAnswer } from '#contract/attention.ts';
import type { GenerateAnswer } from '#contract/position-generator.ts';
import { systemClock } from '#server/platform/clock.ts';
import { createLog } from '#server/platform/log.ts';
import { buildProgram, type Program } from '#server/program.ts';
import { startTestApp, type TestApp, type TestUser } from '#test/app/test-app.ts';
import { type TestClient, testClient } from '#test/app/test-client.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import {
  type ExchangeSite,
  type SiteCredentials,
  startExchangeSite,
} from '#test/venues/test-exchange-site.ts';
import { duplicateAccountConditions } from './duplicate-accounts.ts';

/** One exchange account belongs to one user: two instances of the program, and an exchange that users have keys of. */
const PATH = '/api/user-settings/exchange-credentials';
const adminPath = (userId: string) => `/api/admin/user-settings/${userId}/exchange-credentials`;
const TOKENS = Array.from({ length: 30 }, (_, index) => `SHARE${index + 1}`);
const HELD =
  'The Bitget account of this API key is connected for another user too, who was first: nothing is ordered here until one of the two keys is removed or replaced';

let site: ExchangeSite;
let board: TestApp;
/** The second instance; operators may order by hand there. */
let second: Program;
let byHand: TestClient;
let sender: TestSender;
let first: TestUser;
let other: TestUser;
let token: string;

beforeAll(async () => {
  site = await startExchangeSite({ environment: 'demo' });
  const config = {
    appEnv: 'production',
    exchangeMode: 'demo' as const,
    autoTrade: { enabled: true, configured: true },
    bitgetBaseUrl: site.url,
    bybitBaseUrl: site.url,
    exchangeTimeoutMs: 3_000,
    verifyFirstMs: 300,
    verifySecondMs: 300,
    cancelDelayMs: 100,
  };
  board = await startTestApp({ engine: true, config });
  second = await buildProgram({
    config: { ...board.config, appEnv: 'development', instanceId: 'second' },
    log: createLog({ level: 'silent' }),
    clock: systemClock,
    database: board.database,
  });
  byHand = testClient(second.app, board.admin.cookie);
  for (const name of TOKENS) await site.push(name, '100');
  sender = await createSender({ app: board.app, client: board.admin });
});
afterAll(async () => {
  await second.app.close();
  await second.stop();
  await board.close();
  await site.close();
});
beforeEach(async () => {
  site.setFaults([]);
  token = TOKENS.shift() ?? '';
  [first, other] = [await createTrader(), await createTrader()];
});
afterEach(async () => {
  await query('update user_settings set active_trading = false');
});

async function createTrader(): Promise<TestUser> {
  const created = await board.createUser();
  await created.client.put('/api/user-settings', { positionSizingMethod: 'Risk Management' });
  await board.admin.put(`/api/admin/user/${created.user.id}/active-trading`, { activeTrading: true });
  return created;
}

const bitget = (credentials: SiteCredentials) => ({ exchangePlatform: 'Bitget', ...credentials });
const query = async (text: string, values: unknown[] = []) =>
  (await board.database.pool.query(text, values)).rows;
const rowOf = async ({ user }: TestUser) =>
  (await query('select * from exchange_credentials where user_id = $1', [user.id]))[0];
const shown = async ({ client }: TestUser) => (await client.get(PATH)).json();
const guard = ({ user }: TestUser, { deps }: Pick<Program, 'deps'> = board) =>
  deps.accountGuard.deny(user.id, 'Bitget');

/** An account of the exchange with its first key. */
function newAccount(): { accountId: string; key: SiteCredentials } {
  const key = {
    apiKey: `key-${randomUUID()}`,
    apiSecret: `secret-${randomUUID()}`,
    passphrase: `phrase-${randomUUID()}`,
  };
  return { accountId: site.addAccount(key), key };
}

async function enter({ client }: TestUser, key: SiteCredentials): Promise<void> {
  const saved = await client.put(PATH, bitget(key));
  expect(saved.statusCode, saved.body).toBe(200);
}

/** Stores the key while the exchange does not answer what it is. */
async function enterUnverified(trader: TestUser, key: SiteCredentials): Promise<void> {
  site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info' } }]);
  await enter(trader, key);
  site.setFaults([]);
  expect(await shown(trader)).toMatchObject({ state: 'unverified' });
}

/** As a version that did not look for it left it: both have keys of one account, `first` entered the first. */
async function shareAccount(): Promise<{ accountId: string; keys: [SiteCredentials, SiteCredentials] }> {
  const { accountId, key } = newAccount();
  const later = site.addKey(accountId);
  await enter(first, key);
  await query("update exchange_credentials set account_id = 'hidden' where user_id = $1", [first.user.id]);
  await enter(other, later);
  await query(
    'update exchange_credentials set account_id = $1, account_since = null where user_id = any($2)',
    [accountId, [first.user.id, other.user.id]],
  );
  return { accountId, keys: [key, later] };
}

/** From what is stored, without asking anybody. */
const storedDenial = async ({ user }: TestUser) =>
  (await board.deps.accountGuard.readDenials())(user.id, 'Bitget');

async function send(): Promise<string> {
  await site.push(token, '100');
  const answer = await sender.signal({
    symbol: `${token}USDT`,
    price: '100',
    time: new Date().toISOString(),
  });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<{ id: string }>().id;
}

async function trade(): Promise<string> {
  const id = await send();
  await workflowEnd(id);
  return id;
}

const workflowEnd = (signalId: string) =>
  expect
    .poll(
      async () => (await query('select status from workflows where signal_id = $1', [signalId]))[0]?.status,
      { timeout: 15_000, interval: 50 },
    )
    .toMatch(/completed|failed|aborted/);

async function userOf(signalId: string, { user }: TestUser) {
  const users = (await board.admin.get(`/api/signals/${signalId}/users`)).json<Record<string, string>[]>();
  return users.find(({ id }) => id === user.id);
}

const tradesOf = ({ user }: TestUser) =>
  query('select * from trades where user_id = $1 and token = $2', [user.id, token]);

/** Both get to the point of storing before either has stored. */
async function storeSideBySide<Result>(run: () => Promise<Result>[]): Promise<Result[]> {
  const blocker = await board.database.pool.connect();
  try {
    await blocker.query('begin');
    await blocker.query('lock table exchange_credentials in share row exclusive mode');
    const running = run();
    await expect.poll(() => countWaitingForLocks(board.deps.db), { timeout: 10_000 }).toBe(running.length);
    await blocker.query('commit');
    return await Promise.all(running);
  } finally {
    blocker.release();
  }
}

describe('entering a key of an account that is connected for another user', () => {
  // Requirements: users-12
  test('is refused, stores nothing, and tells only an administrator who that is', async () => {
    const { accountId, key } = newAccount();
    await enter(first, key);
    const again = bitget(site.addKey(accountId));
    const refused = await other.client.put(PATH, again);
    const text = (who: string) =>
      `This API key belongs to Bitget account ${accountId}, which is connected for ${who}. An account serves one user: enter a key of another account (a sub-account is one), or have the other key removed first.`;
    expect([refused.statusCode, refused.json()]).toEqual([409, { message: text('another user') }]);
    const byAdmin = await board.admin.put(adminPath(other.user.id), again);
    expect([byAdmin.statusCode, byAdmin.json()]).toEqual([409, { message: text(first.username) }]);
    expect(await rowOf(other)).toBeUndefined();
  });

  test('leaves the key that was stored before', async () => {
    const { accountId, key } = newAccount();
    await enter(first, key);
    const own = newAccount();
    await enter(other, own.key);
    const before = await rowOf(other);
    expect((await other.client.put(PATH, bitget(site.addKey(accountId)))).statusCode).toBe(409);
    expect(await rowOf(other)).toEqual(before);
    expect(await shown(other)).toMatchObject({ state: 'ready' });
  });

  test('is taken on the other exchange, in another mode, and after the first key is removed', async () => {
    const { accountId, key } = newAccount();
    await enter(first, key);
    const again = site.addKey(accountId);
    const { passphrase: _none, ...bybit } = again;
    const elsewhere = await other.client.put(PATH, { exchangePlatform: 'Bybit', ...bybit });
    expect([elsewhere.statusCode, elsewhere.json().state], elsewhere.body).toEqual([200, 'ready']);
    await query("update exchange_credentials set exchange_mode = 'live' where user_id = $1", [first.user.id]);
    await enter(other, again);
    await other.client.delete(`${PATH}?exchangePlatform=Bitget`);
    await query("update exchange_credentials set exchange_mode = 'demo' where user_id = $1", [first.user.id]);
    expect((await other.client.put(PATH, bitget(again))).statusCode).toBe(409);
    await first.client.delete(PATH);
    await enter(other, again);
  });

  // Requirements: users-12
  test('two users at once on two instances: exactly one of them gets it', async () => {
    const { accountId, key } = newAccount();
    const again = site.addKey(accountId);
    const otherClient = testClient(second.app, other.client.cookie);
    const answers = await storeSideBySide(() => [
      first.client.put(PATH, bitget(key)),
      otherClient.put(PATH, bitget(again)),
    ]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    const rows = await query('select user_id from exchange_credentials where account_id = $1', [accountId]);
    expect(rows).toHaveLength(1);
  });

  test('a user enters a second key of the own account any time', async () => {
    const { accountId, key } = newAccount();
    await enter(first, key);
    await enter(first, site.addKey(accountId));
    expect(await shown(first)).toMatchObject({ state: 'ready' });
  });
});

describe('a key whose account is not known', () => {
  // Requirements: users-13
  test('makes its user not eligible, says why, and is asked about when a signal comes', async () => {
    const { accountId, key } = newAccount();
    await enterUnverified(first, key);
    expect(await storedDenial(first)).toMatchObject({
      code: 'exchange_key_not_inspected',
      reason:
        'Bitget has not yet said what the API key may do and to which account it belongs: it is asked when a signal comes',
    });
    const id = await trade();
    expect(await userOf(id, first)).toMatchObject({ status: 'eligible' });
    expect(await tradesOf(first)).toMatchObject([{ exchange_account_id: accountId, success: true }]);
  });

  // Requirements: users-13
  test('is neither sized nor ordered with while the exchange does not answer', async () => {
    const { accountId, key } = newAccount();
    await enterUnverified(first, key);
    site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info', times: Infinity } }]);
    const before = site.requests.length;
    const id = await trade();
    expect(await userOf(id, first)).toMatchObject({
      status: 'not eligible',
      reason: expect.stringMatching(/^Bitget has not yet said .* to which account it belongs: /),
    });
    const asked = site.requests.slice(before).map(({ path }) => path);
    expect(new Set(asked)).toEqual(new Set(['/api/v2/spot/account/info']));
    expect(await site.exchangeOrders(accountId)).toEqual([]);
  });

  test('is not traded with either when the exchange leaves the account out, an older key included', async () => {
    const { accountId, key } = newAccount();
    site.setKey(accountId, { mayTrade: true, mayWithdraw: false, hidesAccount: true });
    const saved = await first.client.put(PATH, bitget(key));
    const message = 'Bitget did not say to which account the API key belongs: nothing is ordered with it';
    expect(saved.json()).toMatchObject({ state: 'unverified', test: { success: false, message } });
    await query('update exchange_credentials set inspected_at = now() where user_id = $1', [first.user.id]);
    expect(await shown(first)).toMatchObject({ state: 'unverified' });
    expect(await guard(first)).toMatchObject({ code: 'exchange_key_not_inspected' });
    const id = await trade();
    expect(await userOf(id, first)).toMatchObject({ status: 'not eligible' });
    expect(await site.exchangeOrders(accountId)).toEqual([]);
    site.setKey(accountId, { mayTrade: true, mayWithdraw: false });
    expect(await guard(first)).toBeNull();
    expect(await rowOf(first)).toMatchObject({ account_id: accountId });
  });

  test('is refused by a test that finds another user’s account, and is not called rejected', async () => {
    const { accountId, key } = newAccount();
    await enterUnverified(other, site.addKey(accountId));
    await enter(first, key);
    const tested = await other.client.post(`${PATH}/test`);
    expect(tested.json()).toEqual({
      success: false,
      exchangePlatform: 'Bitget',
      error: 'duplicate',
      message: HELD,
    });
    const named = (await board.admin.post(`${adminPath(other.user.id)}/test`)).json<{ message: string }>();
    expect(named.message).toBe(HELD.replace('another user', first.username));
    expect(await rowOf(other)).toMatchObject({ rejected_at: null, account_id: accountId });
    expect(await shown(other)).toMatchObject({ state: 'duplicate', connected: false, problem: HELD });
    expect((await board.admin.get(adminPath(other.user.id))).json()).toMatchObject({
      problem: HELD.replace('another user', first.username),
    });
    expect(await guard(first)).toBeNull();
  });

  // Requirements: users-13
  test('is refused by the check before its first order, before anything is sized', async () => {
    const { accountId, key } = newAccount();
    await enterUnverified(other, site.addKey(accountId));
    await enter(first, key);
    const before = site.requests.length;
    const id = await trade();
    expect(await userOf(id, other)).toMatchObject({ status: 'not eligible', reason: HELD });
    expect(await tradesOf(other)).toEqual([]);
    expect(await tradesOf(first)).toMatchObject([{ success: true }]);
    const { apiKey } = (await board.deps.findAccount(other.user.id, 'Bitget'))?.credentials ?? {};
    const asked = site.requests.slice(before).filter(({ headers }) => headers['access-key'] === apiKey);
    expect(asked.map(({ path }) => path)).toEqual(['/api/v2/spot/account/info']);
  });

  test('two that turn out to be of one account at once on two instances: exactly one may trade', async () => {
    const { accountId, key } = newAccount();
    await enterUnverified(first, key);
    await enterUnverified(other, site.addKey(accountId));
    const denials = await storeSideBySide(() => [guard(first), guard(other, second)]);
    expect(denials.map((denial) => denial?.code ?? 'may trade').sort()).toEqual([
      'exchange_account_duplicate',
      'may trade',
    ]);
    const again = [await guard(first), await guard(other)];
    expect(again.map((denial) => denial?.code)).toEqual(denials.map((denial) => denial?.code));
  });
});

describe('two users who have keys of one account from before', () => {
  // Requirements: users-14
  test('the one whose key was entered later is not eligible, the other one trades', async () => {
    const { accountId } = await shareAccount();
    expect(await storedDenial(first)).toBeNull();
    expect(await storedDenial(other)).toMatchObject({ code: 'exchange_account_duplicate', reason: HELD });
    expect(await shown(other)).toMatchObject({ state: 'duplicate', connected: false, problem: HELD });
    const id = await trade();
    expect(await userOf(id, other)).toMatchObject({ status: 'not eligible', reason: HELD });
    expect(await tradesOf(first)).toMatchObject([{ success: true }]);
    expect(await site.exchangeOrders(accountId)).toHaveLength(1);
  });

  // Requirements: users-14
  test('the later one gets no order by hand', async () => {
    const { accountId, keys } = await shareAccount();
    await other.client.delete(PATH);
    await query('delete from exchange_credentials where user_id = $1', [first.user.id]);
    await enter(other, keys[1]);
    const { signalId, logId } = await calculate(other);
    await query(
      `insert into exchange_credentials (user_id, exchange_platform, api_key_hint, sealed, account_mode, exchange_mode, account_id, inspected_at, updated_at)
        select $1, exchange_platform, api_key_hint, sealed, account_mode, exchange_mode, account_id, inspected_at, updated_at - interval '1 hour'
        from exchange_credentials where user_id = $2`,
      [first.user.id, other.user.id],
    );
    const prepared = await byHand.post('/api/position-maker/prepare', { positionGeneratorLogId: logId });
    expect(prepared.json().data.validation.preAssessment).toEqual({ valid: false, reason: HELD });
    for (const path of ['/api/position-maker/submit-order', '/api/individual-position-maker/process']) {
      const body = path.includes('process')
        ? { signalId, positionGeneratorLogId: logId }
        : { positionGeneratorLogId: logId };
      const answer = await byHand.post(path, body);
      expect(answer.json(), path).toMatchObject({
        success: false,
        error: 'Account Of Another User',
        message: HELD,
      });
    }
    expect(await tradesOf(other)).toEqual([]);
    expect(await site.exchangeOrders(accountId)).toEqual([]);
  });

  // Requirements: users-14
  test('what the later one has open is followed, protected and can be closed', async () => {
    const { accountId, key } = newAccount();
    await enter(other, key);
    site.setFaults([{ kind: 'restFirst' }]);
    const id = await send();
    await expect.poll(async () => (await site.exchangeOrders(accountId)).length, { timeout: 10_000 }).toBe(1);
    await enter(first, newAccount().key);
    await query(
      "update exchange_credentials set account_id = $1, account_since = now() - interval '1 day' where user_id = $2",
      [accountId, first.user.id],
    );
    expect(await guard(other)).toMatchObject({ code: 'exchange_account_duplicate' });
    await site.push(token, '99');
    await workflowEnd(id);
    expect(await tradesOf(other)).toMatchObject([
      { state: 'done', success: true, protection_status: 'verified' },
    ]);
    const { position, stopLoss } = await site.holding(accountId, token);
    expect([position?.side, stopLoss]).toEqual(['long', expect.any(String)]);
    const closed = await board.admin.post('/api/positions/close', { userId: other.user.id, token });
    expect(closed.json(), closed.body).toMatchObject({ success: true });
    expect((await site.holding(accountId, token)).position).toBeNull();
  });

  test('the earlier one keeps the account with a second key of it, the later one may not enter one', async () => {
    const { accountId } = await shareAccount();
    await enter(first, site.addKey(accountId));
    expect(await guard(first)).toBeNull();
    expect(await guard(other)).toMatchObject({ code: 'exchange_account_duplicate' });
    const refused = await other.client.put(PATH, bitget(site.addKey(accountId)));
    expect(refused.statusCode).toBe(409);
  });

  test('the later one trades by itself once the earlier key is removed or replaced', async () => {
    await shareAccount();
    await first.client.delete(PATH);
    expect(await guard(other)).toBeNull();
    expect(await shown(other)).toMatchObject({ state: 'ready', problem: null });
    await trade();
    expect(await tradesOf(other)).toMatchObject([{ success: true }]);

    await query('delete from exchange_credentials where user_id = $1', [other.user.id]);
    await query('update trades set position_closed_at = now()');
    const { accountId } = await shareAccount();
    await enter(first, newAccount().key);
    expect(await guard(other)).toBeNull();
    expect(await rowOf(other)).toMatchObject({ account_id: accountId });
  });

  // Requirements: users-14
  test('are named in attention for as long as that lasts, in the mode that the program runs in', async () => {
    const conditions = async () =>
      (await board.admin.get('/api/attention'))
        .json<AttentionAnswer>()
        .conditions.filter(({ link }) => link?.includes(other.user.id));
    expect(await conditions()).toEqual([]);
    const { accountId } = await shareAccount();
    expect(await conditions()).toEqual([
      {
        code: 'duplicate_exchange_account',
        severity: 'critical',
        since: (await rowOf(other)).updated_at.toISOString(),
        text: `Bitget account ${accountId} is connected for ${first.username} and ${other.username}. Nothing is ordered for ${other.username}, who was later, until one of the two keys is removed or replaced.`,
        link: `/settings?userId=${other.user.id}`,
        action: 'Open settings',
      },
    ]);
    const inPaper = { ...board.deps, config: { ...board.config, exchangeMode: 'paper' as const } };
    expect(await duplicateAccountConditions(inPaper)).toEqual([]);
    await first.client.delete(PATH);
    expect(await conditions()).toEqual([]);
  });
});

/** A position for the user, calculated on the instance where operators order by hand. */
async function calculate({ user }: TestUser): Promise<{ signalId: string; logId: string }> {
  await query('update user_settings set active_trading = false');
  const signalId = await trade();
  await query(`delete from rate_limits where key like 'current-price%'`);
  const answer = await byHand.post('/api/internal/position-generator/generate', {
    signalId,
    userId: user.id,
  });
  const calculated = answer.json<GenerateAnswer>();
  if (!calculated.success) throw new Error(answer.body);
  return { signalId, logId: calculated.positionGeneratorLogId };
}
