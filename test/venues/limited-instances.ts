import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Exchange, ExchangeAccount } from '#server/exchanges/exchange.ts';
import { openPool } from '#server/platform/db/pool.ts';
import { createLog } from '#server/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../app/test-database.ts';
import { type StrictExchange, startStrictExchange } from './strict-exchange.ts';
import { buy, testRegistry } from './test-registry.ts';

export const INSTANCES = 3;
const PER_SECOND = (endpoint: string) =>
  endpoint === 'set-leverage' || endpoint === 'all-position' ? 5 : 10;

/** Complete registries on one database, against an exchange that counts requests; the hooks close them. */
export function limitedInstances() {
  let shared: TestDatabase;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    shared = await createTestDatabase();
  });
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
    await shared.database.pool.query('delete from exchange_slots; delete from exchange_preparations');
  });
  afterAll(() => shared.close());

  return {
    pool: () => shared.database.pool,
    /** `addresses`: the operator's names for those of the instances. */
    async start(addresses: readonly string[] = []): Promise<{ site: StrictExchange; instances: Exchange[] }> {
      const site = await startStrictExchange({ perSecondOfKey: PER_SECOND, perTwoSecondsOfAddress: 200 });
      const log = createLog({ level: 'silent' });
      const { connection } = shared.database;
      const pools = Array.from({ length: INSTANCES }, () => openPool({ connection, log, maxConnections: 4 }));
      const registries = pools.map(({ pool }, index) =>
        testRegistry({
          exchangeMode: 'live',
          bitgetBaseUrl: site.url,
          exchangeAddress: addresses[index] ?? null,
          exchangeTimeoutMs: 10_000,
          shared: { pool, log },
        }),
      );
      open.push(...registries, ...pools, site);
      const instances = registries.map((registry) => registry.get('Bitget'));
      await Promise.all(instances.map((exchange) => exchange.fetchContract('BTC')));
      return { site, instances };
    },
  };
}

export const accountOf = (user: number): ExchangeAccount => ({
  userId: `user-${user}`,
  environment: 'live',
  credentials: { apiKey: `key-${user}`, apiSecret: 's', passphrase: 'p', accountMode: 'classic' },
});

export const orderOf = (clientOrderId: string) => buy({ clientOrderId, quantity: '0.001' });

export const within = (ms: number) => ({ notAfter: new Date(Date.now() + ms) });
