import { expect } from '@playwright/test';
import type { AdminSettingsBody, SettingsBody, UserSettings } from '#contract/settings.ts';
import type { Signal, SignalsAnswer } from '#contract/signals.ts';
import type { User } from '#contract/users.ts';
import type { ProgramClient } from '#demo/program-client.ts';
import { type ChartingPlatform, chartingPlatform, webhookUrls } from './charting-platform.ts';
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
  /** The administrator's own webhook. */
  platform(): Promise<ChartingPlatform>;
  /** Posts a signal and waits until its automatic workflow has ended. */
  postSignal(fields: { symbol: string } & Record<string, unknown>): Promise<Signal>;
  /** Starts the signal's workflow manually and waits until it has ended. */
  trigger(signalId: string): Promise<Signal>;
}

/** `client` is signed in as the administrator. */
export function createOperator({ client, origin }: { client: ProgramClient; origin: string }): Operator {
  let known: ChartingPlatform | null = null;

  const platform = async () => {
    known ??= chartingPlatform(
      webhookUrls(origin, (await client.post<{ hookKey: string }>('/api/hooks', {})).hookKey),
    );
    return known;
  };
  const settled = async (signalId: string): Promise<Signal> => {
    let signal: Signal | undefined;
    await expect
      .poll(
        async () => {
          const { signals } = await client.get<SignalsAnswer>('/api/signals?limit=1000');
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
      const { user } = await client.post<{ user: User }>('/api/admin/create-client', body);
      if (settings) await client.put(`/api/admin/user-settings/${user.id}`, settings);
      if (activeTrading) await client.put(`/api/admin/user/${user.id}/active-trading`, { activeTrading });
      return { id: user.id, username: body.username, password: body.password };
    },
    async setActive(userId, isActive) {
      await client.put(`/api/admin/user/${userId}/status`, { isActive });
    },
    async changeSettings(userId, change) {
      await client.put(`/api/admin/user-settings/${userId}`, change);
    },
    async settingsOf(userId) {
      return (await client.get<{ data: UserSettings }>(`/api/admin/user-settings/${userId}`)).data;
    },
    async postSignal(fields) {
      const answer = await (await platform()).signal(fields);
      expect(answer.status).toBe(200);
      return await settled(((await answer.json()) as { id: string }).id);
    },
    async trigger(signalId) {
      await client.post('/api/trigger-automation', { signalId });
      return await settled(signalId);
    },
  };
}
