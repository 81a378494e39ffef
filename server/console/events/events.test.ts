import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import { signIn } from '#test/app/test-client.ts';
import { openStream, type TestStream } from '#test/app/test-events.ts';
import { startWorld } from '#test/world.ts';
import { visibleChange } from './events.routes.ts';

const streams: TestStream[] = [];

const board = await startWorld();
const origin = await board.app.listen({ host: '127.0.0.1', port: 0 });
const user = await board.createUser();
const created = await Promise.all([board.admin, user.client].map((client) => client.post('/api/hooks', {})));
const [admin = '', own = ''] = created.map((answer) => answer.json<{ hookKey: string }>().hookKey);
const keys = { admin, user: own };
afterAll(() => board.close());
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});

async function listen(cookie: string, at = origin): Promise<TestStream> {
  const stream = await openStream(at, cookie);
  streams.push(stream);
  if (stream.status === 200) await stream.wait(({ heard }) => heard.some(({ event }) => event === 'ready'));
  return stream;
}

let sent = 0;
const postSignal = (key: string) => {
  sent += 1;
  return board.anonymous.post(`/hooks/trading_view_signal?hkid=${key}`, {
    symbol: 'BTCUSDT',
    action: 'buy',
    price: String(60_000 + sent),
    timeframe: '15',
    processor: 'Tesla',
  });
};
const topics = (stream: TestStream) => new Set(stream.changes().map(({ topic }) => topic));

describe('the stream of changes', () => {
  // Requirements: live-updates-1
  test('announces a new signal and its workflow to an administrator', async () => {
    const stream = await listen(board.admin.cookie);
    const { id } = (await postSignal(keys.admin)).json<{ id: string }>();
    const workflow = await stream.wait((one) => one.changes().find(({ topic }) => topic === 'workflows'));
    expect(workflow.signalId).toBe(id);
    expect(topics(stream)).toContain('signals');
  });

  // Requirements: live-updates-1
  test('announces changes that another instance on the same database wrote', async () => {
    const other = await board.buildInstance();
    try {
      const otherOrigin = await other.app.listen({ host: '127.0.0.1', port: 0 });
      const stream = await listen(board.admin.cookie, otherOrigin);
      await postSignal(keys.admin);
      await stream.wait((one) => topics(one).has('signals'));
    } finally {
      await other.app.close();
      await other.stop();
    }
  });

  // Requirements: live-updates-5
  test('announces only their own deliveries and settings to ordinary users', async () => {
    const stream = await listen(user.client.cookie);
    await postSignal(keys.admin);
    await board.setTrading(user.user.id, true);
    await postSignal(keys.user);
    await stream.wait((one) => topics(one).has('deliveries') && topics(one).has('users'));
    for (const { topic, userId } of stream.changes()) {
      expect(['deliveries', 'hooks', 'users']).toContain(topic);
      expect(userId).toBe(user.user.id);
    }
  });

  // Requirements: live-updates-5
  test('announces other users and their webhooks to administrators, but not their deliveries', async () => {
    const stream = await listen(board.admin.cookie);
    await postSignal(keys.user);
    await board.setTrading(user.user.id, false);
    await board.query('update hooks set name = name where user_id = $1', [user.user.id]);
    await stream.wait((one) => topics(one).has('users') && topics(one).has('hooks'));
    expect(topics(stream)).not.toContain('deliveries');
  });

  test('announces a trade only to its user and administrators', () => {
    const change = { topic: 'trades', tradeId: 't', signalId: 's', userId: 'owner' } as const;
    expect(visibleChange(change, { id: 'owner', isAdmin: false })).toEqual({ topic: 'trades' });
    expect(visibleChange(change, { id: 'other', isAdmin: false })).toBeNull();
    expect(visibleChange({ topic: 'trades', tradeId: 't' }, { id: 'other', isAdmin: false })).toBeNull();
    expect(visibleChange(change, { id: 'other', isAdmin: true })).toEqual(change);
  });

  test('carries the security headers and is never stored', async () => {
    const { headers } = await listen(board.admin.cookie);
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });
});

describe('the end of a stream', () => {
  // Requirements: live-updates-6
  test('follows the sign-out of its session, while the others stay open', async () => {
    const leaving = await signIn(board.app, user.username, user.password);
    const [ending, staying] = [await listen(leaving.cookie), await listen(user.client.cookie)];
    await leaving.post('/api/auth/logout');
    await ending.ended;
    await postSignal(keys.user);
    await staying.wait((one) => topics(one).has('deliveries'));
  });

  // Requirements: live-updates-6, sign-in-and-sessions-11
  test('follows a change of the password', async () => {
    const { client, password } = await board.createUser();
    const stream = await listen(client.cookie);
    const body = { currentPassword: password, newPassword: 'the next password' };
    expect((await client.put('/api/user-settings/change-password', body)).statusCode).toBe(200);
    await stream.ended;
  });

  // Requirements: live-updates-6
  test('follows the deactivation of the user', async () => {
    const leaver = await board.createUser();
    const stream = await listen(leaver.client.cookie);
    await board.admin.put(`/api/admin/user/${leaver.user.id}/status`, { isActive: false });
    await stream.ended;
  });

  // Requirements: live-updates-6
  test('follows the loss of the role that it was opened with', async () => {
    const demoted = await board.createUser({ isAdmin: true });
    const stream = await listen(demoted.client.cookie);
    await board.query('update users set is_admin = false where id = $1', [demoted.user.id]);
    await stream.ended;
  });

  testEveryCase('happens to the oldest one when one user opens too many', async () => {
    const collector = await board.createUser();
    const first = await listen(collector.client.cookie);
    for (let count = 0; count < 20; count += 1) await listen(collector.client.cookie);
    await first.ended;
  });
});

test('reports a lost database connection as a gap and then delivers changes again', async () => {
  const stream = await listen(board.admin.cookie);
  const ended = await board.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'signal-board changes' and datname = current_database()",
  );
  expect(ended.length).toBeGreaterThan(0);
  await stream.wait(({ heard }) => heard.some(({ event }) => event === 'gap'));
  await postSignal(keys.admin);
  await stream.wait((one) => topics(one).has('signals'));
});

test('stops listening to the database when no browser is connected', async () => {
  const stream = await listen(board.admin.cookie);
  const listeners = async () => {
    const rows = await board.query(
      "select count(*) from pg_stat_activity where application_name = 'signal-board changes' and datname = current_database()",
    );
    return Number(rows[0]?.count);
  };
  expect(await listeners()).toBe(1);
  for (const open of streams) open.close();
  await stream.ended;
  await expect.poll(listeners, { timeout: 3_000 }).toBe(0);
});

test('a shutdown ends open streams', async () => {
  const other = await board.buildInstance();
  const otherOrigin = await other.app.listen({ host: '127.0.0.1', port: 0 });
  const stream = await listen(board.admin.cookie, otherOrigin);
  await other.app.close();
  await stream.ended;
  await other.stop();
});
