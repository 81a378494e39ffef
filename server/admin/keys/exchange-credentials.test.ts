import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { acquireLease } from '#server/platform/jobs/leases.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { type Answer, expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import type { SiteCredentials } from '#test/venues/test-exchange-site.ts';
import { adminKeyPath as adminPath, newSecrets, KEY_PATH as PATH } from '#test/world/keys.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';
import { CALLS_PER_MINUTE, ENTRIES_PER_MINUTE } from './exchange-credentials.routes.ts';

/** A port where nothing listens. */
const NOBODY_THERE = 'http://127.0.0.1:9';
const LONG = 'x'.repeat(257);
const NOT_CONNECTED = {
  exchangePlatform: 'Bitget',
  connected: false,
  state: 'none',
  problem: null,
  apiKeyHint: null,
  updatedAt: null,
  accountMode: null,
  callingAddresses: ['frankfurt-1'],
};

let trader: TestUser;

const board = await startWorld({
  exchange: 'demo',
  config: { bybitBaseUrl: NOBODY_THERE, exchangeAddress: 'frankfurt-1' },
});
const { site } = board;
afterAll(() => board.close());
beforeEach(async () => {
  site.setFaults([]);
  trader = await board.createUser();
});

const bitget = (credentials: object) => ({ exchangePlatform: 'Bitget', ...credentials });
const rowsOf = (userId: string) =>
  board.query('select * from exchange_credentials where user_id = $1', [userId]);
const stored = () => board.shown(trader);
const testKey = () => board.testKey(trader);

describe('entering credentials', () => {
  // Requirements: users-5
  test('stores a key that the exchange accepts, and shows only its last characters', async () => {
    const credentials = board.newKey();
    const saved = await trader.client.put(PATH, bitget(credentials));
    expect(saved.statusCode, saved.body).toBe(200);
    const shown = {
      exchangePlatform: 'Bitget',
      connected: true,
      state: 'ready',
      problem: null,
      apiKeyHint: credentials.apiKey.slice(-4),
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      accountMode: 'classic',
      callingAddresses: ['frankfurt-1'],
    };
    expect(saved.json()).toEqual({
      ...shown,
      test: {
        success: true,
        exchangePlatform: 'Bitget',
        message: 'Bitget accepted the API key',
        futuresBalance: '10000',
        futuresAvailable: '10000',
      },
    });
    expect(await stored()).toEqual(shown);
    const [row] = await rowsOf(trader.user.id);
    expect(row).toMatchObject({ account_mode: 'classic', exchange_mode: 'demo', rejected_at: null });
    expect(row.account_id).toBe(site.accountOf(credentials.apiKey));
    expect(row.inspected_at).not.toBeNull();
  });

  // Requirements: settings-of-the-program-15
  test('names the addresses by which instances called the exchange lately, which a key has to allow', async () => {
    const [now, earlier] = [Date.now(), Date.now() - 3_600_000];
    await board.query(
      'insert into exchange_slots (key, next_at_ms) select * from unnest($1::text[], $2::float8[]) on conflict do nothing',
      [
        [
          'Bitget through address:frankfurt-2',
          'Bitget through address:frankfurt-1',
          'Bitget through address:frankfurt-2 mix/market/ticker',
          'Bitget through address:gone',
          'Bitget through direct',
          'Bitget through 0123456789ab',
          'Bybit through address:london',
        ],
        [now, now, now, earlier, now, now, now],
      ],
    );
    expect(await stored()).toMatchObject({ callingAddresses: ['frankfurt-1', 'frankfurt-2'] });
    await board.query("delete from exchange_slots where key <> 'Bitget through address:frankfurt-1'");
  });

  test('reports no connection before a key is entered', async () => {
    expect(await stored()).toEqual(NOT_CONNECTED);
    expect((await trader.client.get(`${PATH}?exchangePlatform=Bybit`)).json()).toEqual({
      ...NOT_CONNECTED,
      exchangePlatform: 'Bybit',
    });
    expect((await trader.client.get(`${PATH}?exchangePlatform=Elsewhere`)).statusCode).toBe(400);
  });

  test('defaults to the exchange in the user’s settings', async () => {
    await trader.client.put('/api/user-settings', { exchangePlatform: 'Bybit' });
    expect(await stored()).toMatchObject({ exchangePlatform: 'Bybit' });
  });

  test.each([
    ['an unknown key', (known: SiteCredentials) => ({ ...known, apiKey: `key-${randomUUID()}` }), /^Invalid/],
    [
      'a wrong secret',
      (known: SiteCredentials) => ({ ...known, apiSecret: 'wrong' }),
      /^sign signature error/,
    ],
    [
      'a wrong passphrase',
      (known: SiteCredentials) => ({ ...known, passphrase: 'wrong' }),
      /^apikey\/password is incorrect/,
    ],
  ])('refuses %s with the exchange’s message and keeps the stored key', async (_name, spoil, words) => {
    const working = board.newKey();
    const other = board.newKey();
    await trader.client.put(PATH, bitget(working));
    const [before] = await rowsOf(trader.user.id);
    const refused = await trader.client.put(PATH, bitget(spoil(other)));
    expect(refused.statusCode).toBe(400);
    const { message } = refused.json<{ message: string }>();
    const start = 'Bitget refused the API key: ';
    expect(message.slice(0, start.length)).toBe(start);
    expect(message.slice(start.length)).toMatch(words);
    expect(await rowsOf(trader.user.id)).toEqual([before]);
    expect(await testKey()).toMatchObject({ success: true });
  });

  // Requirements: users-10
  test.each([
    [
      'may withdraw',
      { mayTrade: true, mayWithdraw: true },
      'This Bitget API key may withdraw: enter one that may trade futures and may not withdraw',
    ],
    [
      'may not trade',
      { mayTrade: false, mayWithdraw: false },
      'This Bitget API key may not trade futures: enter one that may place futures orders and read positions',
    ],
    [
      'is of a unified account in another mode',
      {
        mayTrade: true,
        mayWithdraw: false,
        accountMode: 'unified' as const,
        accountLevel: 'advanced' as const,
      },
      'This Bitget API key belongs to a unified account in advanced mode, only isolated margin mode is traded: choose isolated margin as the account mode in the settings of the unified account at Bitget',
    ],
    [
      'is of a unified account and may withdraw',
      { mayTrade: true, mayWithdraw: true, accountMode: 'unified' as const },
      'This Bitget API key may withdraw: enter one that may trade futures and may not withdraw',
    ],
  ])('refuses a key that %s, with advice, and does not store it', async (_name, key, message) => {
    const credentials = newSecrets();
    site.setKey(site.addAccount(credentials), key);
    expectAnswer(await trader.client.put(PATH, bitget(credentials)), 400, message);
    expect(await rowsOf(trader.user.id)).toEqual([]);
  });

  test('refuses a key that may not read its own permissions and names the missing right', async () => {
    site.setFaults([{ kind: 'refuse', code: '40014', on: { path: '/account/info' } }]);
    const message =
      'Bitget refused the API key: the key may not read what it may do; give it the right to read spot, too (40014)';
    expectAnswer(await trader.client.put(PATH, bitget(board.newKey())), 400, message);
  });

  test.each([
    ['its permissions', '/account/info'],
    ['its balance', '/accounts'],
  ])('stores a key as unverified until the exchange reports %s', async (_name, path) => {
    site.setFaults([{ kind: 'badGatewayBefore', on: { path } }]);
    const saved = await trader.client.put(PATH, bitget(board.newKey()));
    expect(saved.json()).toMatchObject({ connected: true, state: 'unverified', test: { success: false } });
    const [row] = await rowsOf(trader.user.id);
    expect(row).toMatchObject({ inspected_at: null, account_id: null, exchange_mode: 'demo' });
    expect(await testKey()).toMatchObject({ success: true });
    expect(await stored()).toMatchObject({ state: 'ready' });
  });

  // Requirements: users-7
  test.each(
    firstCases([
      [
        'refuses for a reason that is not the key',
        { kind: 'refuse', code: '40404', message: 'Not here', on: { path: '/accounts' } },
        { error: 'refused', message: 'Bitget refused the request: Not here (40404)' },
      ],
      [
        'is unreachable',
        { kind: 'timeout', on: { path: '/accounts' } },
        { error: 'unreachable', message: 'Bitget could not be reached: no answer within 3000 ms' },
      ],
    ]),
  )('stores a key while the exchange %s, and says so', async (_why, fault, failure) => {
    site.setFaults([fault]);
    const saved = await trader.client.put(PATH, bitget(board.newKey()));
    expect(saved.statusCode).toBe(200);
    expect(saved.json()).toMatchObject({ connected: true, test: { success: false, ...failure } });
    expect(await testKey()).toMatchObject({ success: true });
  });

  test('does not store a passphrase for Bybit', async () => {
    const credentials = newSecrets();
    const saved = await trader.client.put(PATH, {
      ...credentials,
      exchangePlatform: 'Bybit',
      apiKey: 'a-short-key',
    });
    expect(saved.json()).toMatchObject({
      exchangePlatform: 'Bybit',
      state: 'unverified',
      apiKeyHint: '••••',
      test: { success: false, error: 'unreachable' },
    });
    const account = await board.deps.findAccount(trader.user.id, 'Bybit');
    expect(account?.credentials).toEqual({
      apiKey: 'a-short-key',
      apiSecret: credentials.apiSecret,
      accountMode: 'unified',
    });
  });

  test.each([
    ['no passphrase', { passphrase: undefined }, 'passphrase', 'Passphrase is required for Bitget'],
    ['an empty passphrase', { passphrase: '' }, 'passphrase', 'Passphrase is required for Bitget'],
    ['a long passphrase', { passphrase: LONG }, 'passphrase', 'Passphrase must be at most 256 characters'],
    ['no key', { apiKey: undefined }, 'apiKey', 'API key is required'],
    ['a key of spaces', { apiKey: '  ' }, 'apiKey', 'API key is required'],
    ['a long key', { apiKey: LONG }, 'apiKey', 'API key must be at most 256 characters'],
    [
      'a key with a space',
      { apiKey: 'two words' },
      'apiKey',
      'API key must be plain letters, digits and signs without spaces',
    ],
    ['no secret', { apiSecret: undefined }, 'apiSecret', 'API secret is required'],
    ['a secret that is a number', { apiSecret: 5 }, 'apiSecret', 'Api secret must be text'],
    ['an unknown exchange', { exchangePlatform: 'Elsewhere' }, 'exchangePlatform', /Bitget/],
  ])('refuses an entry with %s and names the field', async (_name, fields, path, message) => {
    const answer = await trader.client.put(PATH, { ...bitget(board.newKey()), ...fields });
    expect(answer.statusCode).toBe(400);
    const text = message instanceof RegExp ? expect.stringMatching(message) : message;
    expect(answer.json()).toEqual({ message: text, errors: [{ path, message: text }] });
    expect(await rowsOf(trader.user.id)).toEqual([]);
  });

  test('trims pasted secrets', async () => {
    const credentials = board.newKey();
    const spaced = Object.entries(credentials).map(([name, value]) => [name, ` ${value}\n`]);
    const saved = await trader.client.put(PATH, bitget(Object.fromEntries(spaced)));
    expect(saved.json()).toMatchObject({ test: { success: true } });
  });

  test('stores one of two concurrent entries completely', async () => {
    const entered = [board.newKey(), board.newKey()];
    const answers = await Promise.all(entered.map((one) => trader.client.put(PATH, bitget(one))));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(await rowsOf(trader.user.id)).toHaveLength(1);
    expect(await testKey()).toMatchObject({ success: true });
  });
});

describe('removing credentials', () => {
  test('keeps the other exchange’s key, and then there is nothing to remove or test', async () => {
    await trader.client.put(PATH, bitget(board.newKey()));
    await trader.client.put(PATH, { ...newSecrets(), exchangePlatform: 'Bybit' });
    expectAnswer(await trader.client.delete(PATH), 200, NOT_CONNECTED);
    expect((await rowsOf(trader.user.id)).map((row) => row.exchange_platform)).toEqual(['Bybit']);
    const message = 'No exchange credentials are stored';
    for (const again of [await trader.client.delete(PATH), await trader.client.post(`${PATH}/test`)]) {
      expectAnswer(again, 404, message);
    }
  });

  testEveryCase(
    'refuses another key and a removal while a position is being sized for the user',
    async () => {
      await trader.client.put(PATH, bitget(board.newKey()));
      const before = await rowsOf(trader.user.id);
      const { db } = board.deps;
      await acquireLease({ db, key: `user:${trader.user.id}`, holder: 'a workflow of this test' });
      const [replaced, removed] = await Promise.all([
        trader.client.put(PATH, bitget(board.newKey())),
        trader.client.delete(PATH),
      ]);
      const message = 'An order of this user is still under way; try again when it is settled';
      for (const answer of [replaced, removed]) {
        expectAnswer(answer, 409, message);
      }
      expect(await rowsOf(trader.user.id)).toEqual(before);
    },
  );
});

describe('stored credentials', () => {
  // Requirements: users-8
  test('cannot be opened in another user’s row or for another exchange, and then do not count', async () => {
    const other = await board.createUser();
    await trader.client.put(PATH, bitget(board.newKey()));
    const columns = 'api_key_hint, sealed, account_mode, exchange_mode, account_id, inspected_at, updated_at';
    const move = `insert into exchange_credentials (user_id, exchange_platform, ${columns})
      select $2, $3, ${columns} from exchange_credentials where user_id = $1`;
    await board.query(move, [trader.user.id, other.user.id, 'Bitget']);
    expect(await board.deps.findAccount(trader.user.id, 'Bitget')).toMatchObject({ environment: 'demo' });
    expect(await board.deps.findAccount(other.user.id, 'Bitget')).toBeNull();
    const line = board
      .logged()
      .split('\n')
      .find((one) => one.includes('do not open') && one.includes(other.user.id));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'error', exchangePlatform: 'Bitget' });

    expect((await other.client.get(PATH)).json()).toMatchObject({
      connected: false,
      state: 'unreadable',
      problem: 'The stored Bitget credentials cannot be opened any more: enter them again',
    });
    expect((await other.client.post(`${PATH}/test`)).json()).toEqual({
      success: false,
      exchangePlatform: 'Bitget',
      error: 'credentials',
      message: 'The stored Bitget credentials cannot be opened any more: enter them again',
    });
    expectAnswer(
      await board.admin.get(`/api/admin/account-balance/${other.user.id}`),
      503,
      'The stored Bitget credentials cannot be opened any more: enter them again',
    );
    await other.client.put(PATH, bitget(board.newKey()));
    expect((await other.client.get(PATH)).json()).toMatchObject({ connected: true });

    await board.query(move, [trader.user.id, trader.user.id, 'Bybit']);
    expect(await board.deps.findAccount(trader.user.id, 'Bybit')).toBeNull();
  });

  testEveryCase('belong to the account whose balance is shown', async () => {
    await trader.client.put(PATH, bitget(board.newKey()));
    const balance = await board.admin.get(`/api/admin/account-balance/${trader.user.id}`);
    expect(balance.json()).toMatchObject({ success: true, data: { futuresBalance: '10000' } });
  });

  test('stay stored for a deactivated user', async () => {
    await trader.client.put(PATH, bitget(board.newKey()));
    await board.admin.patch(`/api/admin/users/${trader.user.id}/deactivate`);
    expect((await board.admin.get(adminPath(trader.user.id))).json()).toMatchObject({ connected: true });
  });
});

describe('an administrator', () => {
  // Requirements: users-6
  test('enters, tests, sees and removes the credentials of the user in the path only', async () => {
    const path = adminPath(trader.user.id);
    const credentials = board.newKey();
    const saved = await board.admin.put(path, bitget(credentials));
    expect(saved.json()).toMatchObject({ connected: true, test: { success: true } });
    expect(await stored()).toEqual((await board.admin.get(path)).json());
    expect((await board.admin.get(PATH)).json()).toMatchObject({ connected: false });
    expect((await board.admin.post(`${path}/test`)).json()).toMatchObject({ success: true });
    expect((await board.admin.delete(path)).json()).toMatchObject({ connected: false });
    expect(await rowsOf(trader.user.id)).toEqual([]);
  });

  test('gets 404 for an unknown user', async () => {
    const path = adminPath(UNKNOWN_ID);
    const answers = [
      await board.admin.get(path),
      await board.admin.put(path, bitget(board.newKey())),
      await board.admin.delete(path),
      await board.admin.post(`${path}/test`),
    ];
    for (const answer of answers) expectAnswer(answer, 404, 'User not found');
  });

  test('is logged with the user, the action and the result of the test', async () => {
    const admin = (await board.admin.get('/api/auth/user')).json().user.id;
    const path = adminPath(trader.user.id);
    await board.admin.put(path, bitget(board.newKey()));
    await board.admin.put(path, bitget(newSecrets()));
    await board.admin.delete(path);
    const lines = board
      .logged()
      .split('\n')
      .filter(
        (line) => line.includes(`"userId":"${trader.user.id}"`) && line.includes('exchange credentials'),
      )
      .map((line) => JSON.parse(line));
    expect(lines.map(({ msg, result }) => [msg, result])).toEqual([
      ['exchange credentials tested', 'success'],
      ['exchange credentials stored', undefined],
      ['exchange credentials tested', 'credentials'],
      ['exchange credentials removed', undefined],
    ]);
    for (const line of lines) expect(line).toMatchObject({ by: admin, exchangePlatform: 'Bitget' });
  });
});

describe('calls are limited per owner of the keys', () => {
  const TOO_MANY = { message: 'Too many requests. Try again in a minute.' };
  async function expectTooMany(call: Promise<Answer>): Promise<void> {
    const answer = await call;
    expectAnswer(answer, 429, TOO_MANY);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  }

  // Requirements: users-15
  testEveryCase('one administrator can connect twenty users in a row', async () => {
    for (let count = 1; count <= 20; count += 1) {
      const body = { username: `trader${count}@example.com`, password: 'a password of a user' };
      const { user } = (await board.admin.post('/api/admin/create-client', body)).json();
      const saved = await board.admin.put(adminPath(user.id), bitget(board.newKey()));
      expect(saved.statusCode, saved.body).toBe(200);
      const tested = await board.admin.post(`${adminPath(user.id)}/test`);
      expect(tested.statusCode, tested.body).toBe(200);
    }
  });

  // Requirements: users-15
  test(`refuses the entry after ${ENTRIES_PER_MINUTE} in a minute, also by an administrator, and stores nothing`, async () => {
    const path = adminPath(trader.user.id);
    for (let count = 1; count <= ENTRIES_PER_MINUTE; count += 1) {
      const [client, place] = count % 2 === 0 ? [trader.client, PATH] : [board.admin, path];
      expect((await client.put(place, bitget(board.newKey()))).statusCode).toBe(200);
    }
    const before = await rowsOf(trader.user.id);
    const asked = site.requests.length;
    await expectTooMany(trader.client.put(PATH, bitget(board.newKey())));
    await expectTooMany(board.admin.put(path, bitget(board.newKey())));
    expect(await rowsOf(trader.user.id)).toEqual(before);
    expect(site.requests).toHaveLength(asked);
    const other = await board.createUser();
    expect((await board.admin.put(adminPath(other.user.id), bitget(board.newKey()))).statusCode).toBe(200);
  });

  testEveryCase(
    `asks the exchange nothing more after ${CALLS_PER_MINUTE} entries and tests in a minute`,
    async () => {
      const path = adminPath(trader.user.id);
      await trader.client.put(PATH, bitget(board.newKey()));
      for (let count = 2; count <= CALLS_PER_MINUTE; count += 1) {
        const tested =
          count % 2 === 0 ? board.admin.post(`${path}/test`) : trader.client.post(`${PATH}/test`);
        expect((await tested).statusCode).toBe(200);
      }
      const asked = site.requests.length;
      await expectTooMany(trader.client.post(`${PATH}/test`));
      await expectTooMany(board.admin.post(`${path}/test`));
      await expectTooMany(trader.client.put(PATH, bitget(board.newKey())));
      expect(site.requests).toHaveLength(asked);
      expect((await trader.client.get(PATH)).statusCode).toBe(200);
      const other = await board.createUser();
      expect((await other.client.put(PATH, bitget(board.newKey()))).statusCode).toBe(200);
    },
  );
});

describe('in paper mode', () => {
  let paper: World;
  beforeAll(async () => {
    paper = await startWorld({ config: { paperBalance: '2500.5' } });
  });
  afterAll(() => paper.close());

  test('credentials are stored for later, and the test returns the balance of the paper account', async () => {
    const { client } = await paper.createUser();
    const balance = {
      success: true,
      exchangePlatform: 'Bitget',
      message: 'Paper mode needs no credentials: this is the balance of the paper account',
      futuresBalance: '2500.5',
      futuresAvailable: '2500.5',
    };
    expect((await client.post(`${PATH}/test`)).json()).toEqual(balance);
    const saved = await client.put(PATH, bitget(newSecrets()));
    expect(saved.json()).toMatchObject({ connected: true, test: null });
    expect((await client.post(`${PATH}/test`)).json()).toEqual(balance);
  });
});
