import type { Webhook } from '#contract/hooks.ts';
import type { User, UsersAnswer } from '#contract/users.ts';
import { demoUsers } from './demo-users.ts';
import type { ProgramClient } from './program-client.ts';

/** Creates the users that are not there yet. What an operator changed since stays as it is. */
export async function ensureUsers(options: {
  client: ProgramClient;
  password: string;
  now: Date;
}): Promise<{ created: number }> {
  const { client, password, now } = options;
  const { users } = await client.get<UsersAnswer>('/api/admin/users');
  const present = new Set(users.map(({ username }) => username));
  const missing = demoUsers(now).filter(({ username }) => !present.has(username));
  for (const { settings, activeTrading, ...fields } of missing) {
    const { user } = await client.post<{ user: User }>('/api/admin/create-client', { ...fields, password });
    await client.put(`/api/admin/user-settings/${user.id}`, settings);
    if (activeTrading) await client.put(`/api/admin/user/${user.id}/active-trading`, { activeTrading });
  }
  return { created: missing.length };
}

/** The administrator's webhook key; the webhook is created at the first time. */
export async function ensureHookKey(options: { client: ProgramClient; password: string }): Promise<string> {
  const { client, password } = options;
  const [hook] = await client.get<Webhook[]>('/api/hooks');
  if (hook === undefined) return (await client.post<Webhook>('/api/hooks', {})).hookKey;
  await client.post('/api/auth/verify-password', { password });
  const [revealed] = await client.get<Webhook[]>('/api/hooks');
  if (revealed === undefined || revealed.masked) throw new Error('The webhook key could not be read');
  return revealed.hookKey;
}
