import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UserEligibility } from '#contract/signals.ts';
import type { UsersAnswer } from '#contract/users.ts';
import {
  ADMIN_PASSWORD as password,
  startWorld,
  ADMIN_USERNAME as username,
  type World,
} from '#test/world.ts';
import { signalMessage } from './messages.ts';
import { deliver, ensureHookKey, type ProgramClient, signIn } from './program-client.ts';
import { DEMO_TOKENS, type DemoToken } from './tokens.ts';
import { ensureUsers } from './users.ts';

const [token] = DEMO_TOKENS as readonly [DemoToken];
const signal = { token, timeframe: 15, action: 'buy', price: '65000' } as const;
let program: World;
let url: string;
let client: ProgramClient;

beforeAll(async () => {
  program = await startWorld();
  url = await program.app.listen({ host: '127.0.0.1', port: 0 });
  client = await signIn({ url, username, password });
});

afterAll(() => program?.close());

test('creates six users with all sizing methods and keeps them on the next start', async () => {
  expect(await ensureUsers({ client, password })).toEqual({ created: 6 });
  const traders = async () => {
    const { users } = await client.get<UsersAnswer>('/api/admin/users');
    return users.filter(({ isAdmin }) => !isAdmin);
  };
  const [first] = await traders();
  await client.put(`/api/admin/user-settings/${first?.id}`, { tradeOrderSet: 'Q' });

  expect(await ensureUsers({ client, password })).toEqual({ created: 0 });
  const after = await traders();
  expect(after).toHaveLength(6);
  expect(after.find(({ id }) => id === first?.id)?.settings?.tradeOrderSet).toBe('Q');
  expect(new Set(after.map(({ settings }) => settings?.positionSizingMethod)).size).toBe(3);
  expect(after.filter(({ settings }) => settings?.activeTrading)).toHaveLength(5);
});

test('a signal finds three users eligible and the others ineligible for different reasons', async () => {
  await ensureUsers({ client, password });
  const key = await ensureHookKey({ client, password });
  expect(await ensureHookKey({ client, password })).toBe(key);
  const delivery = { url, key, message: signalMessage(signal, new Date()) };
  expect(await deliver(delivery)).toMatchObject({ status: 200, duplicate: false });
  expect(await deliver(delivery)).toMatchObject({ status: 200, duplicate: true });

  const { signals } = await client.get<{ signals: { id: string }[] }>('/api/signals?limit=1');
  const found = await client.get<UserEligibility[]>(`/api/signals/${signals[0]?.id}/users`);
  const reasons = found.filter((user) => user.username !== username);
  expect(reasons.filter(({ status }) => status === 'eligible')).toHaveLength(3);
  expect(new Set(reasons.map(({ reason }) => reason)).size).toBe(4);
});

test('a refused delivery is answered with the reason', async () => {
  const key = await ensureHookKey({ client, password });
  const message = signalMessage({ ...signal, price: '{{close_price}}' }, new Date());
  const answer = await deliver({ url, key, message });
  expect(answer).toMatchObject({ status: 400, message: expect.stringContaining('{{close_price}}') });
});
