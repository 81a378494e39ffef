import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Exchange, ExchangeAccount } from '#server/exchanges/exchange.ts';
import type { ExchangeRegistry } from '#server/exchanges/registry.ts';
import { type ExchangeSite, type SiteCredentials, startExchangeSite } from './test-exchange-site.ts';
import { buy, inTime, testRegistry } from './test-registry.ts';

let site: ExchangeSite;
let registry: ExchangeRegistry;

beforeAll(async () => {
  site = await startExchangeSite({ environment: 'demo' });
  await site.push('BTC', '65000');
  registry = testRegistry({ exchangeMode: 'demo', bitgetBaseUrl: site.url, bybitBaseUrl: site.url });
});
afterAll(async () => {
  await registry?.close();
  await site?.close();
});

describe.each<ExchangePlatform>(['Bitget', 'Bybit'])('as %s', (platform) => {
  const credentials: SiteCredentials = {
    apiKey: `key-at-${platform}`,
    apiSecret: 'a secret of its own',
    passphrase: 'a passphrase of its own',
  };
  let exchange: Exchange;
  let account: ExchangeAccount;
  let accountId: string;
  beforeEach(() => {
    exchange = registry.get(platform);
    accountId = site.accountOf(credentials.apiKey) ?? site.addAccount(credentials);
    const { accountMode } = exchange;
    account = { userId: 'u', environment: 'demo', credentials: { ...credentials, accountMode } };
  });

  test('an order goes into the books of the platform', async () => {
    await exchange.prepareAccount(account, { token: 'BTC', leverage: 5 });
    const order = buy({ clientOrderId: 'at-the-site', leverage: 5 });
    const placed = await exchange.placeOrder(account, order, inTime());
    expect(placed.outcome).toBe('placed');
    expect(await site.exchangeOrders(accountId, platform)).toMatchObject([{ clientOrderId: 'at-the-site' }]);
    expect(await site.holding(accountId, 'BTC', platform)).toMatchObject({
      position: { size: '0.01', leverage: 5, marginMode: 'isolated' },
      stopLoss: '63000',
    });
    await site.setBalance(accountId, '1234.5');
    expect(await exchange.fetchBalance(account)).toMatchObject({
      futuresBalance: expect.stringMatching(/^1234\.5/),
    });
  });

  test('refuses an unknown key and a wrong signature', async () => {
    const wrong = (changes: Partial<SiteCredentials>) => ({
      ...account,
      credentials: { ...account.credentials, ...changes },
    });
    for (const changes of [{ apiKey: 'another' }, { apiSecret: 'another' }]) {
      await expect(exchange.fetchBalance(wrong(changes))).rejects.toMatchObject({ kind: 'credentials' });
    }
  });
});
