import { randomUUID } from 'node:crypto';
import { and, asc, eq } from 'drizzle-orm';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { memoryMarks } from '#server/exchanges/paper/memory-marks.ts';
import { paperCredentials } from '#server/exchanges/paper/paper-credentials.ts';
import { createPaperExchange } from '#server/exchanges/paper/paper-exchange.ts';
import { paperAccounts, paperOrders, paperTokenSettings } from '#server/exchanges/paper/paper-schema.ts';
import { listenPaperExchange } from '#server/exchanges/paper/server.ts';
import { createExchangeRegistry } from '#server/exchanges/registry.ts';
import { createTestDatabase } from '../app/test-database.ts';
import type { ExchangeUnderTest } from './exchange-suite.ts';

const SECRET_KEY = 'a secret key that only this test uses';

/** The paper exchange behind the real client: in process, or over loopback HTTP. */
export async function openOnPaper(
  platform: ExchangePlatform,
  { overHttp }: { overHttp: boolean },
): Promise<ExchangeUnderTest> {
  const { database, close } = await createTestDatabase();
  const { db } = database;
  const marks = memoryMarks();
  const failures: unknown[] = [];
  const paper = createPaperExchange({
    db,
    clock: { now: () => new Date() },
    marks,
    startBalance: '10000',
    credentialsFor: (userId) => paperCredentials(userId, SECRET_KEY),
    onError: (error) => failures.push(error),
  });
  const server = overHttp ? await listenPaperExchange(paper, { port: 0 }) : null;
  const registryWith = (exchangeTimeoutMs: number) =>
    createExchangeRegistry({
      exchangeMode: 'paper',
      bitgetBaseUrl: server?.url ?? null,
      bybitBaseUrl: server?.url ?? null,
      exchangeProxyUrls: [],
      exchangeTimeoutMs,
      paper,
    });
  const registries = [registryWith(15_000), registryWith(600)] as const;
  const exchange = registries[0].get(platform);
  return {
    exchange,
    hastyExchange: registries[1].get(platform),
    newAccount() {
      const userId = randomUUID();
      const credentials = { ...paperCredentials(userId, SECRET_KEY), accountMode: exchange.accountMode };
      return { userId, environment: 'paper', credentials };
    },
    push: (token, price) => marks.push(token, price),
    setFaults: (faults) => paper.setFaults(faults),
    async setHedgeMode(account, token) {
      const ofUser = eq(paperAccounts.userId, account.userId);
      // It exists from its first request on.
      await exchange.fetchBalance(account);
      await db
        .update(paperAccounts)
        .set({ positionMode: 'hedge_mode' })
        .where(and(ofUser, eq(paperAccounts.platform, platform)));
      await db
        .update(paperTokenSettings)
        .set({ positionMode: null })
        .where(and(eq(paperTokenSettings.userId, account.userId), eq(paperTokenSettings.token, token)));
    },
    ordersOf: ({ userId }) =>
      db
        .select()
        .from(paperOrders)
        .where(and(eq(paperOrders.userId, userId), eq(paperOrders.platform, platform)))
        .orderBy(asc(paperOrders.id)),
    async balanceOf({ userId }) {
      const [account] = await db
        .select()
        .from(paperAccounts)
        .where(and(eq(paperAccounts.userId, userId), eq(paperAccounts.platform, platform)));
      return account?.balance ?? 'none';
    },
    async close() {
      await Promise.all(registries.map((registry) => registry.close()));
      await server?.close();
      await close();
      if (failures.length > 0) throw failures[0];
    },
  };
}
