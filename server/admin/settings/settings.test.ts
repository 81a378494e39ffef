import { afterAll, describe, expect, test } from 'vitest';
import type { AdminSettingsBody, UserSettings } from '#contract/settings.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { startWorld, type World } from '#test/world.ts';
import { findTradingSettings, listTradingUsers } from './settings.store.ts';

/** For tests that do not depend on earlier settings: each user costs three password hashes. */

const board = await startWorld();
const somebody = await board.createUser();
afterAll(() => board.close());

const METHODS = /Risk Management, Portfolio Allocation or Technical Analysis/;
const PORTION = /above 0 and at most 0.33/;

describe("a user's own settings", () => {
  // Requirements: accounts-fields-4, accounts-calls-9, answers-1
  test('are read and written in the same shape', async () => {
    const { client } = await board.createUser();
    const data = {
      calculationBehavior: 'Futures_Limit_Classic',
      marketType: 'Spot',
      positionSizingMethod: 'Portfolio Allocation',
      investmentPortion: '0.10',
      maximumRiskPerTrade: '0.15',
      exchangePlatform: 'Bybit',
      signalProcessor: 'UD Bot',
      signalTimeframe: '15m',
    };
    const written = await client.put('/api/user-settings', data);
    expect(written.statusCode).toBe(200);
    expect(written.json()).toMatchObject({ success: true, data });
    expect((await client.get('/api/user-settings')).json()).toEqual(written.json());
  });

  // Requirements: accounts-fields-4, answers-1
  test('keep omitted fields, and null means Auto', async () => {
    const { client } = await board.createUser();
    await client.put('/api/user-settings', { signalProcessor: 'Any' });
    const { data } = (await client.put('/api/user-settings', { investmentPortion: null })).json();
    expect(data).toMatchObject({
      signalProcessor: 'Any',
      investmentPortion: null,
      maximumRiskPerTrade: '0.05',
      positionSizingMethod: 'Technical Analysis',
    });
  });

  // Requirements: trading-validation-9, answers-1
  test.each<[object, string | RegExp]>([
    [{ positionSizingMethod: 'Scalping' }, METHODS],
    [{ positionSizingMethod: 'Smart Position' }, METHODS],
    [{ investmentPortion: '0' }, PORTION],
    [{ investmentPortion: '0.34' }, PORTION],
    [{ investmentPortion: '-0.1' }, PORTION],
    [{ investmentPortion: 'NaN' }, PORTION],
    [{ investmentPortion: '1e-1' }, PORTION],
    [{ investmentPortion: '' }, PORTION],
    [{ maximumRiskPerTrade: '0.16' }, /above 0 and at most 0.15/],
    [{ maximumRiskPerTrade: '0' }, /above 0 and at most 0.15/],
    [{ exchangePlatform: 'Elsewhere' }, /./],
    [{ marketType: 'Options' }, /./],
    [{ signalTimeframe: '' }, /./],
    [{ signalProcessor: 'a\u0007b' }, 'Signal processor may contain letters, digits, spaces and - _ . only'],
    [{ signalProcessor: 'Tesla/2' }, 'Signal processor may contain letters, digits, spaces and - _ . only'],
    [{ signalProcessor: 'a'.repeat(41) }, 'Signal processor must be at most 40 characters'],
    [{ signalProcessor: '  ' }, 'Signal processor is required'],
  ])('refuses %j and changes nothing', async (body, message) => {
    const { client } = somebody;
    const before = (await client.get('/api/user-settings')).json();
    const answer = await client.put('/api/user-settings', { signalProcessor: 'UD Bot', ...body });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().message).toMatch(message);
    expect((await client.get('/api/user-settings')).json()).toEqual(before);
  });

  test.each(['My-Bot v2.1_x', 'Été 7', 'x', 'a'.repeat(40)])('accept the processor %j', async (name) => {
    const answer = await somebody.client.put('/api/user-settings', { signalProcessor: name });
    expect(answer.json().data.signalProcessor).toBe(name);
  });
});

describe('settings edited by an administrator', () => {
  // Requirements: accounts-calls-10, trading-calls-17, users-3
  test('reach the user named in the path, including the Automation fields', async () => {
    const { client, user } = await board.createUser();
    const path = `/api/admin/user-settings/${user.id}`;
    const fields = {
      positionSizingMethod: 'Risk Management',
      isTestUser: false,
      tradeOrderSet: 'C',
      oppositeSignal: 'skip',
    };
    const answer = await board.admin.put(path, {
      ...fields,
      tradingPausedUntil: '2030-01-01T01:00:00+01:00',
    });
    const tradingPausedUntil = '2030-01-01T00:00:00.000Z';
    expect(answer.json().data).toMatchObject({ ...fields, tradingPausedUntil });
    expect((await client.get('/api/user-settings')).json()).toEqual(answer.json());
    expect((await board.admin.get(path)).json()).toEqual(answer.json());
    const resumed = await board.admin.put(path, { tradingPausedUntil: null });
    expect(resumed.json().data).toMatchObject({ tradingPausedUntil: null, tradeOrderSet: 'C' });
  });

  test('are 404 for an unknown user and do not set active trading', async () => {
    expect((await board.admin.get(`/api/admin/user-settings/${UNKNOWN_ID}`)).statusCode).toBe(404);
    const answer = await board.admin.put(`/api/admin/user-settings/${UNKNOWN_ID}`, { tradeOrderSet: 'B' });
    expect(answer.statusCode).toBe(404);
    const { user } = await board.createUser();
    const body = { activeTrading: true, tradeOrderSet: 'B' };
    const written = await board.admin.put(`/api/admin/user-settings/${user.id}`, body);
    expect(written.json().data).toMatchObject({ activeTrading: false, tradeOrderSet: 'B' });
  });

  test.each([
    { tradeOrderSet: 'AA' },
    { tradeOrderSet: 'a' },
    { oppositeSignal: 'wait' },
    { tradingPausedUntil: 'soon' },
    { tradingPausedUntil: '9999-12-31T23:59:00-14:00' },
    { tradingPausedUntil: '0000-01-01T00:00:00Z' },
  ])('refuses %j', async (body) => {
    const path = `/api/admin/user-settings/${somebody.user.id}`;
    expect((await board.admin.put(path, body)).statusCode).toBe(400);
  });
});

// Requirements: screens-user-settings-10
describe('settings that changed since they were read', () => {
  const paths = {
    'their owner': () => '/api/user-settings',
    'an administrator': (userId: string) => `/api/admin/user-settings/${userId}`,
  };

  async function openSettings(by: keyof typeof paths) {
    const { client, user } = await board.createUser();
    const path = paths[by](user.id);
    const writer = by === 'their owner' ? client : board.admin;
    return {
      user,
      read: async () => (await writer.get(path)).json<{ data: UserSettings }>().data,
      write: (body: AdminSettingsBody) => writer.put(path, body),
    };
  }

  test.each(['their owner', 'an administrator'] as const)(
    'refuses a write by %s and returns the newer values',
    async (by) => {
      const { read, write } = await openSettings(by);
      const { updatedAt } = await read();
      const theirs = (await write({ signalProcessor: 'UD Bot' })).json().data;
      const stale = await write({ signalProcessor: 'Any', signalTimeframe: '1h', updatedAt });
      expect(stale.statusCode).toBe(409);
      expect(stale.json()).toEqual({ message: 'These settings were changed elsewhere', data: theirs });
      expect(await read()).toEqual(theirs);

      const again = await write({ signalProcessor: 'Any', updatedAt: theirs.updatedAt });
      expect(again.statusCode).toBe(200);
      expect(again.json().data).toEqual({
        ...theirs,
        signalProcessor: 'Any',
        updatedAt: again.json().data.updatedAt,
      });
    },
  );

  test('refuses a stale change completely, including the test mode', async () => {
    const { read, write } = await openSettings('an administrator');
    const { updatedAt } = await read();
    await write({ isTestUser: false });
    expect((await write({ isTestUser: true, tradeOrderSet: 'A', updatedAt })).statusCode).toBe(409);
    expect(await read()).toMatchObject({ isTestUser: false, tradeOrderSet: 'M' });
  });

  test('counts switching active trading as a change', async () => {
    const { user, read, write } = await openSettings('an administrator');
    const { updatedAt } = await read();
    await board.setTrading(user.id, true);
    const stale = await write({ tradeOrderSet: 'A', updatedAt });
    expect(stale.statusCode).toBe(409);
    expect(stale.json().data.activeTrading).toBe(true);
  });

  test('accepts one of many concurrent writes based on the same settings', async () => {
    const { read, write } = await openSettings('their owner');
    const { updatedAt } = await read();
    const answers = await Promise.all(
      ['1m', '2m', '5m', '15m', '30m'].map((signalTimeframe) => write({ signalTimeframe, updatedAt })),
    );
    const written = answers.filter(({ statusCode }) => statusCode === 200);
    expect(written).toHaveLength(1);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409, 409, 409, 409]);
    expect(await read()).toEqual(written[0]?.json().data);
  });

  test('gives every change a later updatedAt, even when the clock goes back', async () => {
    const { user, read, write } = await openSettings('their owner');
    await board.query("update user_settings set updated_at = now() + interval '1 hour' where user_id = $1", [
      user.id,
    ]);
    const before = (await read()).updatedAt;
    const after = (await write({ signalProcessor: 'Any', updatedAt: before })).json().data.updatedAt;
    expect(Date.parse(after)).toBe(Date.parse(before) + 1);
  });

  test('are written without updatedAt', async () => {
    const { read, write } = await openSettings('their owner');
    await write({ signalProcessor: 'UD Bot' });
    expect((await write({ signalProcessor: 'Any' })).statusCode).toBe(200);
    expect((await read()).signalProcessor).toBe('Any');
  });

  test.each(['soon', '', null, 5])('refuses %j as updatedAt', async (updatedAt) => {
    const body = { signalProcessor: 'Any', updatedAt };
    expect((await somebody.client.put('/api/user-settings', body)).statusCode).toBe(400);
  });
});

// Requirements: accounts-fields-6, accounts-calls-12, webhook-deliveries-25
test('offers the usual timeframes and other seen ones, without other spellings', async () => {
  const { client } = await board.createUser();
  const usual = ['Any', '1m', '2m', '5m', '15m', '30m', '1h', '4h', '1d'];
  expect((await client.get('/api/user-settings/signal-timeframes')).json()).toEqual(usual);

  await board.query(`
    insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe,
      processor, received_at, source_ip, hash_value, parameters)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), true, 'BTC', 'buy', 1, 'USDT', timeframe,
      'Tesla', now(), '192.0.2.1', 'hash', '{}'
    from unnest(array['15', '60', '7m', '7m', '1d']) as timeframe`);
  await board.query(`
    insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency,
      candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
    values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), true, 'BTC', '3D', 1, 'USDT', '', now(),
      now(), '192.0.2.1', 'hash', '{}')`);
  expect((await client.get('/api/user-settings/signal-timeframes')).json()).toEqual([...usual, '7m', '3D']);
});

// Requirements: accounts-fields-6, accounts-calls-12, webhook-deliveries-25
test('offers at most fifty timeframes and processors, and only processors that settings accept', async () => {
  const { client } = await board.createUser();
  await board.query(`
    insert into signals (id, hook_id, owner_user_id, from_admin, token, action, price, currency, timeframe,
      processor, received_at, source_ip, hash_value, parameters)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), true, 'BTC', 'buy', 1, 'USDT',
      number || ' bars', name, now(), '192.0.2.1', 'hash', '{}'
    from generate_series(1, 60) as number, unnest(array['Bot ' || number, 'Bot/' || number, 'tesla']) as name`);
  const timeframes = (await client.get('/api/user-settings/signal-timeframes')).json<string[]>();
  expect(timeframes).toHaveLength(50);
  expect(timeframes.slice(0, 9)).toEqual(['Any', '1m', '2m', '5m', '15m', '30m', '1h', '4h', '1d']);
  const processors = (await client.get('/api/user-settings/signal-processors')).json<string[]>();
  expect(processors.length).toBeLessThanOrEqual(50);
  expect(processors.slice(0, 3)).toEqual(['Tesla', 'UD Bot', 'Any']);
  expect(processors.slice(3).length).toBeGreaterThan(0);
  for (const processor of processors.slice(3)) expect(processor).toMatch(/^Bot \d+$/);
});

describe('changing the password', () => {
  const change = (client: World['admin'], currentPassword: string, newPassword: string) =>
    client.put('/api/user-settings/change-password', { currentPassword, newPassword });

  // Requirements: accounts-calls-13, sign-in-and-sessions-11
  test('ends every session and returns the cookie of a new one', async () => {
    const { client, username, password } = await board.createUser();
    const others = [client, await board.signIn(username, password), await board.signIn(username, password)];
    const answer = await change(client, password, 'the next password');
    expectAnswer(answer, 200, 'Your password has been updated successfully.');
    expect(answer.headers['set-cookie']).toMatch(
      /^sid=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const cookie = `sid=${answer.cookies[0]?.value}`;
    expect((await board.anonymous.get('/api/auth/user', { headers: { cookie } })).statusCode).toBe(200);
    for (const other of others) expect((await other.get('/api/auth/user')).statusCode).toBe(401);
    await expect(board.signIn(username, password)).rejects.toThrow('401');
    await board.signIn(username, 'the next password');
  });

  // Requirements: accounts-validation-3, accounts-limits-5
  test('applies the rules of the form', async () => {
    const { client, password } = await board.createUser();
    expect((await change(client, password, '12345')).json().message).toBe(
      'Password must be at least 6 characters',
    );
    expect((await change(client, '', '123456')).json().message).toBe('Current password is required');
    const missing = await client.put('/api/user-settings/change-password', { newPassword: '123456' });
    expect(missing.json().message).toBe('Current password is required');
  });

  // Requirements: accounts-limits-5
  test('accepts a new password of the maximum length, and it signs in', async () => {
    const { client, username, password } = await board.createUser();
    const long = 'long'.repeat(250);
    const refused = await change(client, password, `${long}x`);
    expect(refused.statusCode).toBe(400);
    expect(refused.json().message).toBe('Password must be at most 1000 characters');
    expect((await change(client, password, long)).statusCode).toBe(200);
    const signedIn = await board.signIn(username, long);
    expect((await change(signedIn, `${long}x`, 'the next password')).json().message).toBe(
      'Current password must be at most 1000 characters',
    );
    expect((await change(signedIn, long, 'the next password')).statusCode).toBe(200);
  });

  test('accepts one of two concurrent changes from the same password', async () => {
    const { client, username, password } = await board.createUser();
    const answers = await Promise.all([
      change(client, password, 'first new'),
      change(client, password, 'second new'),
    ]);
    const [won, lost] = answers.map((answer) => answer.statusCode).sort();
    expect(won).toBe(200);
    // The losing request fails at its password or already at its session.
    expect([401, 403]).toContain(lost);
    const winner = answers[0]?.statusCode === 200 ? 'first new' : 'second new';
    await board.signIn(username, winner);
  });
});

test('the trading engine reads the same settings, and every user once', async () => {
  const { user, client } = await board.createUser();
  await client.put('/api/user-settings', { maximumRiskPerTrade: null, investmentPortion: '0.33' });
  await board.admin.put(`/api/admin/user-settings/${user.id}`, {
    tradingPausedUntil: '2030-01-01T00:00:00Z',
  });
  const settings = {
    calculationBehavior: 'Futures_Limit_Classic',
    marketType: 'Futures',
    positionSizingMethod: 'Technical Analysis',
    investmentPortion: '0.33',
    maximumRiskPerTrade: null,
    exchangePlatform: 'Bitget',
    signalProcessor: 'Tesla',
    signalTimeframe: 'Any',
    activeTrading: false,
    tradingPausedUntil: new Date('2030-01-01T00:00:00Z'),
    tradeOrderSet: 'M',
    oppositeSignal: 'reverse',
  };
  expect(await findTradingSettings(board.database.db, user.id)).toEqual(settings);
  expect(await findTradingSettings(board.database.db, UNKNOWN_ID)).toBeNull();
  const everyone = await listTradingUsers(board.database.db);
  const { total } = (await board.admin.get('/api/admin/users')).json();
  expect(everyone).toHaveLength(total);
  expect(everyone.find((one) => one.id === user.id)).toEqual({
    id: user.id,
    username: user.username,
    isActive: true,
    isTestUser: true,
    isAdmin: false,
    settings,
  });
});
