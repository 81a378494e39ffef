import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserEligibility } from '#contract/signals.ts';
import type { UsersAnswer } from '#contract/users.ts';
import { startServerProcess, type TestServerProcess } from '#test/app/test-server-process.ts';
import { signalMessage, unfilledMessage } from './messages.ts';
import { deliver, type ProgramClient, signIn } from './program-client.ts';
import { ensureHookKey, ensureUsers } from './set-up.ts';
import { DEMO_TOKENS, type DemoToken } from './tokens.ts';

const [token] = DEMO_TOKENS as readonly [DemoToken];
let server: TestServerProcess;
let client: ProgramClient;
let password: string;

beforeAll(async () => {
  server = await startServerProcess({ env: { AUTO_TRADE: 'disabled' } });
  password = server.adminPassword;
  client = await signIn({ url: server.url, username: server.adminUsername, password });
});

afterAll(() => server?.stop());

test('the demo brings six users of all sizing methods, and a second start leaves them alone', async () => {
  expect(await ensureUsers({ client, password, now: new Date() })).toEqual({ created: 6 });
  const { users } = await client.get<UsersAnswer>('/api/admin/users');
  const [first] = users.filter(({ isAdmin }) => !isAdmin);
  await client.put(`/api/admin/user-settings/${first?.id}`, { tradeOrderSet: 'Q' });

  expect(await ensureUsers({ client, password, now: new Date() })).toEqual({ created: 0 });
  const after = (await client.get<UsersAnswer>('/api/admin/users')).users.filter(({ isAdmin }) => !isAdmin);
  expect(after).toHaveLength(6);
  expect(after.find(({ id }) => id === first?.id)?.settings?.tradeOrderSet).toBe('Q');
  expect(new Set(after.map(({ settings }) => settings?.positionSizingMethod)).size).toBe(3);
  expect(after.filter(({ settings }) => settings?.activeTrading)).toHaveLength(5);
});

test('the webhook key is the same at the second start', async () => {
  const key = await ensureHookKey({ client, password });
  expect(key.length).toBeGreaterThan(40);
  expect(await ensureHookKey({ client, password })).toBe(key);
});

test('a signal finds users for several reasons eligible or not', async () => {
  await ensureUsers({ client, password, now: new Date() });
  const key = await ensureHookKey({ client, password });
  const crossing = { token, timeframeMinutes: 15, action: 'buy', price: token.startPrice } as const;
  const message = signalMessage(crossing, new Date());
  expect(await deliver({ url: server.url, key, message })).toMatchObject({ status: 200, duplicate: false });
  expect(await deliver({ url: server.url, key, message })).toMatchObject({ status: 200, duplicate: true });

  const { signals } = await client.get<{ signals: { id: string }[] }>('/api/signals?limit=1');
  const found = await client.get<UserEligibility[]>(`/api/signals/${signals[0]?.id}/users`);
  const reasons = found.filter(({ username }) => username !== server.adminUsername);
  expect(reasons.filter(({ status }) => status === 'eligible')).toHaveLength(3);
  expect(new Set(reasons.map(({ reason }) => reason)).size).toBe(4);
});

test('a delivery that the program refuses is answered with its reason', async () => {
  const key = await ensureHookKey({ client, password });
  const answer = await deliver({ url: server.url, key, message: unfilledMessage(token, new Date()) });
  expect(answer.status).toBe(400);
  expect(answer.message).toContain('{{close_price}}');
});
