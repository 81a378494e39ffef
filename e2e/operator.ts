import { type APIRequestContext, expect } from '@playwright/test';
import type { AdminSettingsBody, SettingsBody, UserSettings } from '#contract/settings.ts';
import type { Signal, SignalsAnswer } from '#contract/signals.ts';
import type { User, UsersAnswer } from '#contract/users.ts';
import { type ChartingPlatform, chartingPlatform, webhookUrls } from './charting-platform.ts';
import type { ManagedServer } from './managed-server.ts';
import { uniqueName } from './unique.ts';

export interface NewUser {
  id: string;
  username: string;
  password: string;
}

interface UserFields {
  username?: string;
  firstName?: string;
  lastName?: string;
  countryCode?: string;
  mobileNumber?: string;
  isAdmin?: boolean;
  settings?: SettingsBody;
  activeTrading?: boolean;
}

/** The first administrator over the API: prepares the starting point of a journey without clicking. */
export interface Operator {
  createUser(fields?: UserFields): Promise<NewUser>;
  setActive(userId: string, isActive: boolean): Promise<void>;
  changeSettings(userId: string, change: AdminSettingsBody): Promise<void>;
  settingsOf(userId: string): Promise<UserSettings>;
  countUsers(): Promise<number>;
  /** The administrator's own webhook. */
  platform(): Promise<ChartingPlatform>;
  /** Posts a signal and waits until its automatic workflow has ended. */
  postSignal(fields: { symbol: string } & Record<string, unknown>): Promise<Signal>;
  /** Starts the signal's workflow manually and waits until it has ended. */
  trigger(signalId: string): Promise<Signal>;
}

export async function signInOperator(options: {
  request: APIRequestContext;
  server: ManagedServer;
}): Promise<Operator> {
  const { request, server } = options;
  let known: ChartingPlatform | null = null;

  const call = async <Answer>(method: string, path: string, data?: unknown): Promise<Answer> => {
    const answer = await request.fetch(`${server.url}${path}`, {
      method,
      headers: { origin: server.url },
      ...(data === undefined ? {} : { data }),
    });
    if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${await answer.text()}`);
    return (await answer.json()) as Answer;
  };
  const password = server.adminPassword;
  await call('POST', '/api/auth/login', { username: server.adminUsername, password });

  const platform = async () => {
    known ??= chartingPlatform(
      webhookUrls(server.url, (await call<{ hookKey: string }>('POST', '/api/hooks', {})).hookKey),
    );
    return known;
  };
  const settled = async (signalId: string): Promise<Signal> => {
    let signal: Signal | undefined;
    await expect
      .poll(
        async () => {
          const { signals } = await call<SignalsAnswer>('GET', '/api/signals?limit=1000');
          signal = signals.find(({ id }) => id === signalId);
          return signal?.workflowStatus ?? 'none';
        },
        { message: 'the workflow ends', timeout: 20_000 },
      )
      .toMatch(/^(completed|failed|aborted)$/);
    if (!signal) throw new Error(`No signal ${signalId}`);
    return signal;
  };

  return {
    platform,
    async createUser({ settings, activeTrading, ...fields } = {}) {
      const body = { username: `${uniqueName('user')}@example.com`, password: 'first password', ...fields };
      const { user } = await call<{ user: User }>('POST', '/api/admin/create-client', body);
      if (settings) await call('PUT', `/api/admin/user-settings/${user.id}`, settings);
      if (activeTrading) await call('PUT', `/api/admin/user/${user.id}/active-trading`, { activeTrading });
      return { id: user.id, username: body.username, password: body.password };
    },
    async setActive(userId, isActive) {
      await call('PUT', `/api/admin/user/${userId}/status`, { isActive });
    },
    async changeSettings(userId, change) {
      await call('PUT', `/api/admin/user-settings/${userId}`, change);
    },
    async settingsOf(userId) {
      return (await call<{ data: UserSettings }>('GET', `/api/admin/user-settings/${userId}`)).data;
    },
    async countUsers() {
      return (await call<UsersAnswer>('GET', '/api/admin/users')).total;
    },
    async postSignal(fields) {
      const answer = await (await platform()).signal(fields);
      expect(answer.status).toBe(200);
      return await settled(((await answer.json()) as { id: string }).id);
    },
    async trigger(signalId) {
      await call('POST', '/api/trigger-automation', { signalId });
      return await settled(signalId);
    },
  };
}
