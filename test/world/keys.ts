import { randomUUID } from 'node:crypto';
import type { ExchangeSite, SiteCredentials } from '../venues/test-exchange-site.ts';
import type { TestUser, World } from './programs.ts';

export const KEY_PATH = '/api/user-settings/exchange-credentials';
export const adminKeyPath = (userId: string) => `/api/admin/user-settings/${userId}/exchange-credentials`;

/** A key with its account in the exchange's books. */
export type SiteKey = SiteCredentials & { accountId: string };

export const newSecrets = (): SiteCredentials => ({
  apiKey: `key-${randomUUID()}`,
  apiSecret: `secret-${randomUUID()}`,
  passphrase: `phrase-${randomUUID()}`,
});

/** Users who enter API keys on their settings page, and an exchange that knows these keys. */
export function keysOf(world: World, site: ExchangeSite) {
  return {
    /** Opens an account at the exchange. */
    newKey(): SiteKey {
      const secrets = newSecrets();
      return { ...secrets, accountId: site.addAccount(secrets) };
    },
    /** Enters a key; the rate limits are lifted, so a test can enter any number. */
    async enter({ client }: TestUser, key: SiteCredentials, exchangePlatform = 'Bitget') {
      const { apiKey, apiSecret, passphrase } = key;
      await forgetCredentialCalls(world);
      return await client.put(KEY_PATH, { exchangePlatform, apiKey, apiSecret, passphrase });
    },
    testKey: async ({ client }: TestUser): Promise<unknown> => (await client.post(`${KEY_PATH}/test`)).json(),
    shown: async ({ client }: TestUser): Promise<Record<string, unknown>> =>
      (await client.get(KEY_PATH)).json(),
  };
}

/** Resets the rate limits for entering and testing keys. */
export async function forgetCredentialCalls(database: {
  query(text: string): Promise<unknown>;
}): Promise<void> {
  await database.query(
    "delete from rate_limits where key like 'credentials-entry:%' or key like 'exchange-call:%'",
  );
}
