import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AttentionAnswer } from '#contract/attention.ts';
import type { GenerateAnswer } from '#contract/position-generator.ts';
import type { Program } from '#server/program.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { expectAnswer, testClient } from '#test/app/test-client.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import type { SiteCredentials } from '#test/venues/test-exchange-site.ts';
import { adminKeyPath as adminPath, KEY_PATH as PATH } from '#test/world/keys.ts';
import { startWorld, type TestUser } from '#test/world.ts';
import { duplicateAccountConditions } from './account-claims.ts';

/** One exchange account per user: two instances, and an exchange where several users have keys. */
const TOKENS = Array.from({ length: 30 }, (_, index) => `SHARE${index + 1}`);
const HELD =
  'The Bitget account of this API key is connected for another user too, who was first: nothing is ordered here until one of the two keys is removed or replaced';

/** The second instance; it allows manual orders. */
let first: TestUser;
let other: TestUser;
let token: string;

const board = await startWorld({ exchange: 'demo', engine: true, config: { exchangeTimeoutMs: 3_000 } });
const { site } = board;
const second = await board.buildInstance({ appEnv: 'development', instanceId: 'second' });
const byHand = testClient(second.app, board.admin.cookie);
for (const name of TOKENS) await site.push(name, '100');
afterAll(async () => {
  await second.app.close();
  await second.stop();
  await board.close();
});
beforeEach(async () => {
  site.setFaults([]);
  token = TOKENS.shift() ?? '';
  [first, other] = [await board.createTrader(), await board.createTrader()];
});
afterEach(async () => {
  await board.query('update user_settings set active_trading = false');
});

const bitget = (credentials: SiteCredentials) => ({ exchangePlatform: 'Bitget', ...credentials });
const rowOf = async ({ user }: TestUser) =>
  (await board.query('select * from exchange_credentials where user_id = $1', [user.id]))[0];
const guard = ({ user }: TestUser, { deps }: Pick<Program, 'deps'> = board) =>
  deps.accountGuard.deny(user.id, 'Bitget');

async function enter(user: TestUser, key: SiteCredentials): Promise<void> {
  const saved = await board.enter(user, key);
  expect(saved.statusCode, saved.body).toBe(200);
}

/** Stores the key while the exchange does not answer the inspection. */
async function enterUnverified(trader: TestUser, key: SiteCredentials): Promise<void> {
  site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info' } }]);
  await enter(trader, key);
  site.setFaults([]);
  expect(await board.shown(trader)).toMatchObject({ state: 'unverified' });
}

/** As an older version without this check left it: both have keys for one account, and `first` connected first. */
async function shareAccount(): Promise<{ accountId: string; issued: [SiteCredentials, SiteCredentials] }> {
  const { accountId, ...key } = board.newKey();
  const later = site.addKey(accountId);
  await enter(first, key);
  await board.query("update exchange_credentials set account_id = 'hidden' where user_id = $1", [
    first.user.id,
  ]);
  await enter(other, later);
  await board.query(
    'update exchange_credentials set account_id = $1, account_since = null where user_id = any($2)',
    [accountId, [first.user.id, other.user.id]],
  );
  return { accountId, issued: [key, later] };
}

/** Reads the stored state only, without asking the exchange. */
const storedDenial = async ({ user }: TestUser) =>
  (await board.deps.accountGuard.readDenials())(user.id, 'Bitget');

async function trade(): Promise<string> {
  const id = await board.send(token);
  await board.traded(id);
  return id;
}

const tradesOf = ({ user }: TestUser) =>
  board.query('select * from trades where user_id = $1 and token = $2', [user.id, token]);

/** Makes all runs reach the point of storing before any of them has stored. */
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

describe('entering a key of an account that another user has connected', () => {
  // Requirements: users-12
  test('is refused, keeps the stored key, and names the other user only to administrators', async () => {
    const { accountId, ...key } = board.newKey();
    await enter(first, key);
    await enter(other, board.newKey());
    const before = await rowOf(other);
    const again = bitget(site.addKey(accountId));
    const refused = await other.client.put(PATH, again);
    const text = (who: string) =>
      `This API key belongs to Bitget account ${accountId}, which is connected for ${who}. An account serves one user: enter a key of another account (a sub-account is one), or have the other key removed first.`;
    expectAnswer(refused, 409, { message: text('another user') });
    expectAnswer(await board.admin.put(adminPath(other.user.id), again), 409, text(first.username));
    expect(await rowOf(other)).toEqual(before);
  });

  testEveryCase(
    'is accepted for the other exchange, in another mode, and after the first key is removed',
    async () => {
      const { accountId, ...key } = board.newKey();
      await enter(first, key);
      const again = site.addKey(accountId);
      const { passphrase: _none, ...bybit } = again;
      const elsewhere = await other.client.put(PATH, { exchangePlatform: 'Bybit', ...bybit });
      expect([elsewhere.statusCode, elsewhere.json().state], elsewhere.body).toEqual([200, 'ready']);
      await board.query("update exchange_credentials set exchange_mode = 'live' where user_id = $1", [
        first.user.id,
      ]);
      await enter(other, again);
      await other.client.delete(`${PATH}?exchangePlatform=Bitget`);
      await board.query("update exchange_credentials set exchange_mode = 'demo' where user_id = $1", [
        first.user.id,
      ]);
      expect((await other.client.put(PATH, bitget(again))).statusCode).toBe(409);
      await first.client.delete(PATH);
      await enter(other, again);
    },
  );

  // Requirements: users-12
  test('succeeds for exactly one of two concurrent users on two instances', async () => {
    const { accountId, ...key } = board.newKey();
    const again = site.addKey(accountId);
    const otherClient = testClient(second.app, other.client.cookie);
    const answers = await storeSideBySide(() => [
      first.client.put(PATH, bitget(key)),
      otherClient.put(PATH, bitget(again)),
    ]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    const rows = await board.query('select user_id from exchange_credentials where account_id = $1', [
      accountId,
    ]);
    expect(rows).toHaveLength(1);
  });
});

describe('a key whose account is unknown', () => {
  // Requirements: users-13
  test('makes its user not eligible with a reason, and is inspected when a signal arrives', async () => {
    const { accountId, ...key } = board.newKey();
    await enterUnverified(first, key);
    expect(await storedDenial(first)).toMatchObject({
      code: 'exchange_key_not_inspected',
      reason:
        'Bitget has not yet said what the API key may do and to which account it belongs: it is asked when a signal comes',
    });
    const id = await trade();
    expect(await board.userOf(id, first)).toMatchObject({ status: 'eligible' });
    expect(await tradesOf(first)).toMatchObject([{ exchange_account_id: accountId, success: true }]);
  });

  // Requirements: users-13
  test('is neither used for sizing nor for orders while the exchange does not answer', async () => {
    const { accountId, ...key } = board.newKey();
    await enterUnverified(first, key);
    site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info', times: Infinity } }]);
    const before = site.requests.length;
    const id = await trade();
    expect(await board.userOf(id, first)).toMatchObject({
      status: 'not eligible',
      reason: expect.stringMatching(/^Bitget has not yet said .* to which account it belongs: /),
    });
    const asked = site.requests.slice(before).map(({ path }) => path);
    expect(new Set(asked)).toEqual(new Set(['/api/v2/spot/account/info']));
    expect(await site.exchangeOrders(accountId)).toEqual([]);
  });

  testEveryCase(
    'is not traded with when the exchange omits the account, even if it was inspected earlier',
    async () => {
      const { accountId, ...key } = board.newKey();
      site.setKey(accountId, { mayTrade: true, mayWithdraw: false, hidesAccount: true });
      const saved = await first.client.put(PATH, bitget(key));
      const message = 'Bitget did not say to which account the API key belongs: nothing is ordered with it';
      expect(saved.json()).toMatchObject({ state: 'unverified', test: { success: false, message } });
      await board.query('update exchange_credentials set inspected_at = now() where user_id = $1', [
        first.user.id,
      ]);
      expect(await board.shown(first)).toMatchObject({ state: 'unverified' });
      expect(await guard(first)).toMatchObject({ code: 'exchange_key_not_inspected' });
      const id = await trade();
      expect(await board.userOf(id, first)).toMatchObject({ status: 'not eligible' });
      expect(await site.exchangeOrders(accountId)).toEqual([]);
      site.setKey(accountId, { mayTrade: true, mayWithdraw: false });
      expect(await guard(first)).toBeNull();
      expect(await rowOf(first)).toMatchObject({ account_id: accountId });
    },
  );

  testEveryCase('fails a test that finds another user’s account, but is not marked as rejected', async () => {
    const { accountId, ...key } = board.newKey();
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
    expect(await board.shown(other)).toMatchObject({ state: 'duplicate', connected: false, problem: HELD });
    expect((await board.admin.get(adminPath(other.user.id))).json()).toMatchObject({
      problem: HELD.replace('another user', first.username),
    });
    expect(await guard(first)).toBeNull();
  });

  // Requirements: users-13
  testEveryCase('is refused by the inspection before its first order, before anything is sized', async () => {
    const { accountId, ...key } = board.newKey();
    await enterUnverified(other, site.addKey(accountId));
    await enter(first, key);
    const before = site.requests.length;
    const id = await trade();
    expect(await board.userOf(id, other)).toMatchObject({ status: 'not eligible', reason: HELD });
    expect(await tradesOf(other)).toEqual([]);
    expect(await tradesOf(first)).toMatchObject([{ success: true }]);
    const { apiKey } = (await board.deps.findAccount(other.user.id, 'Bitget'))?.credentials ?? {};
    const asked = site.requests.slice(before).filter(({ headers }) => headers['access-key'] === apiKey);
    const paths = asked.map(({ path }) => path);
    expect(paths[0]).toBe('/api/v2/spot/account/info');
    // What accounts hold is read in the background as well.
    expect(
      paths.filter((path) => /order|leverage|margin|ticker/.test(path.replace('orders-plan-pending', ''))),
    ).toEqual([]);
  });

  testEveryCase(
    'may trade for exactly one of two users whose account is found concurrently on two instances',
    async () => {
      const { accountId, ...key } = board.newKey();
      await enterUnverified(first, key);
      await enterUnverified(other, site.addKey(accountId));
      const denials = await storeSideBySide(() => [guard(first), guard(other, second)]);
      expect(denials.map((denial) => denial?.code ?? 'may trade').sort()).toEqual([
        'exchange_account_duplicate',
        'may trade',
      ]);
      const again = [await guard(first), await guard(other)];
      expect(again.map((denial) => denial?.code)).toEqual(denials.map((denial) => denial?.code));
    },
  );
});

describe('two users who already have keys of one account', () => {
  // Requirements: users-14
  test('the later user is not eligible, the earlier one trades', async () => {
    const { accountId } = await shareAccount();
    expect(await storedDenial(first)).toBeNull();
    expect(await storedDenial(other)).toMatchObject({ code: 'exchange_account_duplicate', reason: HELD });
    expect(await board.shown(other)).toMatchObject({ state: 'duplicate', connected: false, problem: HELD });
    const id = await trade();
    expect(await board.userOf(id, other)).toMatchObject({ status: 'not eligible', reason: HELD });
    expect(await tradesOf(first)).toMatchObject([{ success: true }]);
    expect(await site.exchangeOrders(accountId)).toHaveLength(1);
  });

  // Requirements: users-14
  testEveryCase('the later user gets no manual order', async () => {
    const { accountId, issued } = await shareAccount();
    await other.client.delete(PATH);
    await board.query('delete from exchange_credentials where user_id = $1', [first.user.id]);
    await enter(other, issued[1]);
    const { signalId, logId } = await calculate(other);
    await board.query(
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
  testEveryCase(
    'open orders and positions of the later user are followed and protected, and can be closed',
    async () => {
      const { accountId, ...key } = board.newKey();
      await enter(other, key);
      site.setFaults([{ kind: 'restFirst' }]);
      const id = await board.send(token);
      await expect
        .poll(async () => (await site.exchangeOrders(accountId)).length, { timeout: 10_000 })
        .toBe(1);
      await enter(first, board.newKey());
      await board.query(
        "update exchange_credentials set account_id = $1, account_since = now() - interval '1 day' where user_id = $2",
        [accountId, first.user.id],
      );
      expect(await guard(other)).toMatchObject({ code: 'exchange_account_duplicate' });
      await site.push(token, '99');
      await board.traded(id);
      expect(await tradesOf(other)).toMatchObject([
        { state: 'done', success: true, protection_status: 'verified' },
      ]);
      const { position, stopLoss } = await site.holding(accountId, token);
      expect([position?.side, stopLoss]).toEqual(['long', expect.any(String)]);
      const closed = await board.admin.post('/api/positions/close', { userId: other.user.id, token });
      expect(closed.json(), closed.body).toMatchObject({ success: true });
      expect((await site.holding(accountId, token)).position).toBeNull();
    },
  );

  testEveryCase(
    'the earlier user may enter a second key of the account, the later user may not',
    async () => {
      const { accountId } = await shareAccount();
      await enter(first, site.addKey(accountId));
      expect(await guard(first)).toBeNull();
      expect(await guard(other)).toMatchObject({ code: 'exchange_account_duplicate' });
      expect((await other.client.put(PATH, bitget(site.addKey(accountId)))).statusCode).toBe(409);
    },
  );

  testEveryCase(
    'the later user trades automatically once the earlier key is removed or replaced',
    async () => {
      await shareAccount();
      await first.client.delete(PATH);
      expect(await guard(other)).toBeNull();
      expect(await board.shown(other)).toMatchObject({ state: 'ready', problem: null });
      await trade();
      expect(await tradesOf(other)).toMatchObject([{ success: true }]);

      await board.query('delete from exchange_credentials where user_id = $1', [other.user.id]);
      await board.query('update trades set position_closed_at = now()');
      const { accountId } = await shareAccount();
      await enter(first, board.newKey());
      expect(await guard(other)).toBeNull();
      expect(await rowOf(other)).toMatchObject({ account_id: accountId });
    },
  );

  // Requirements: users-14
  testEveryCase(
    'are reported in attention while the conflict lasts, in the mode of the program',
    async () => {
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
    },
  );
});

/** A position for the user, calculated on the instance that allows manual orders. */
async function calculate({ user }: TestUser): Promise<{ signalId: string; logId: string }> {
  await board.query('update user_settings set active_trading = false');
  const signalId = await trade();
  await board.query(`delete from rate_limits where key like 'current-price%'`);
  const answer = await byHand.post('/api/internal/position-generator/generate', {
    signalId,
    userId: user.id,
  });
  const calculated = answer.json<GenerateAnswer>();
  if (!calculated.success) throw new Error(answer.body);
  return { signalId, logId: calculated.positionGeneratorLogId };
}
