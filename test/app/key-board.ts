import { randomUUID } from 'node:crypto';
import type { QueryResult } from 'pg';
import { expect } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config/config.ts';
import { type ExchangeSite, type SiteCredentials, startExchangeSite } from '../venues/test-exchange-site.ts';
import { startTestApp, type TestApp, type TestAppOptions, type TestUser } from './test-app.ts';
import type { Answer } from './test-client.ts';
import { createSender } from './test-sender.ts';

export const KEY_PATH = '/api/user-settings/exchange-credentials';
export const adminKeyPath = (userId: string) => `/api/admin/user-settings/${userId}/exchange-credentials`;

/** A key with its account in the exchange's books. */
export type SiteKey = SiteCredentials & { accountId: string };

export const newSecrets = (): SiteCredentials => ({
  apiKey: `key-${randomUUID()}`,
  apiSecret: `secret-${randomUUID()}`,
  passphrase: `phrase-${randomUUID()}`,
});

/** The program with users who enter API keys on their settings page, and an exchange that knows these keys. */
export interface KeyBoard {
  site: ExchangeSite;
  board: TestApp;
  /** Opens an account at the exchange. */
  newKey(): SiteKey;
  /** Enters a key; the rate limits are lifted, so a test can enter any number. */
  enter(trader: TestUser, key: SiteCredentials, platform?: string): Promise<Answer>;
  testKey(trader: TestUser): Promise<unknown>;
  shown(trader: TestUser): Promise<Record<string, unknown>>;
  /** A user with active trading. */
  createTrader(settings?: object): Promise<TestUser>;
  query(text: string, values?: unknown[]): Promise<QueryResult['rows']>;
  /** Sends a signal for the token at this price; returns its id. */
  send(token: string, price?: string): Promise<string>;
  workflowEnd(signalId: string): Promise<void>;
  /** The decision of the signal's workflow about the trader. */
  userOf(signalId: string, trader: TestUser): Promise<Record<string, string> | undefined>;
  close(): Promise<void>;
}

export async function startKeyBoard(
  options: { environment?: 'demo' | 'live'; config?: Partial<Config> } & Pick<
    TestAppOptions,
    'engine' | 'clock' | 'background' | 'readDisk'
  > = {},
): Promise<KeyBoard> {
  const { environment = 'demo', engine = false, clock = systemClock, config = {}, ...more } = options;
  const site = await startExchangeSite({ environment, clock });
  const board = await startTestApp({
    ...more,
    engine,
    clock,
    config: {
      exchangeMode: environment,
      bitgetBaseUrl: site.url,
      bybitBaseUrl: site.url,
      exchangeTimeoutMs: 3_000,
      verifyFirstMs: 300,
      verifySecondMs: 300,
      cancelDelayMs: 100,
      ...(engine ? { appEnv: 'production', autoTrade: { enabled: true, configured: true } } : {}),
      ...config,
    },
  });
  const { pool } = board.database;
  const sender = await createSender({ app: board.app, client: board.admin });
  const { query } = board;
  return {
    site,
    board,
    query,
    newKey() {
      const secrets = newSecrets();
      return { ...secrets, accountId: site.addAccount(secrets) };
    },
    async enter({ client }, { apiKey, apiSecret, passphrase }, exchangePlatform = 'Bitget') {
      await forgetCredentialCalls(pool);
      return await client.put(KEY_PATH, { exchangePlatform, apiKey, apiSecret, passphrase });
    },
    testKey: async ({ client }) => (await client.post(`${KEY_PATH}/test`)).json(),
    shown: async ({ client }) => (await client.get(KEY_PATH)).json(),
    createTrader: board.createTrader,
    async send(token, price = '100') {
      await site.push(token, price);
      const time = new Date().toISOString();
      const answer = await sender.signal({ symbol: `${token}USDT`, price, time });
      expect(answer.statusCode, answer.body).toBe(200);
      return answer.json<{ id: string }>().id;
    },
    async workflowEnd(signalId) {
      const status = async () =>
        (await query('select status from workflows where signal_id = $1', [signalId]))[0]?.status;
      await expect.poll(status, { timeout: 20_000, interval: 50 }).toMatch(/completed|failed|aborted/);
    },
    async userOf(signalId, { user }) {
      const users = (await board.admin.get(`/api/signals/${signalId}/users`)).json<
        Record<string, string>[]
      >();
      return users.find(({ id }) => id === user.id);
    },
    async close() {
      await board.close();
      await site.close();
    },
  };
}

interface Queryable {
  query(text: string): Promise<unknown>;
}

/** Resets the rate limits for entering and testing keys. */
export async function forgetCredentialCalls(database: Queryable): Promise<void> {
  await database.query(
    "delete from rate_limits where key like 'credentials-entry:%' or key like 'exchange-call:%'",
  );
}
