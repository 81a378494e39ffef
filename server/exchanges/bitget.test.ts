import { randomUUID } from 'node:crypto';
import { asc, eq } from 'drizzle-orm';
import { createTestDatabase } from '#test/test-database.ts';
import { type ExchangeUnderTest, exchangeSuite } from './exchange-suite.ts';
import { positionSuite } from './exchange-suite-positions.ts';
import { memoryMarks } from './paper/memory-marks.ts';
import { paperCredentials } from './paper/paper-credentials.ts';
import { createPaperExchange } from './paper/paper-exchange.ts';
import { paperAccounts, paperOrders } from './paper/paper-schema.ts';
import { listenPaperExchange } from './paper/server.ts';
import { createExchangeRegistry } from './registry.ts';

const SECRET_KEY = 'a secret key that only this test uses';

async function openBitget({ overHttp }: { overHttp: boolean }): Promise<ExchangeUnderTest> {
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
      bybitBaseUrl: null,
      exchangeProxyUrls: [],
      exchangeTimeoutMs,
      paper,
    });
  const registries = [registryWith(15_000), registryWith(1_000)] as const;
  return {
    exchange: registries[0].get('Bitget'),
    hastyExchange: registries[1].get('Bitget'),
    newAccount() {
      const userId = randomUUID();
      return { userId, environment: 'paper', credentials: paperCredentials(userId, SECRET_KEY) };
    },
    push: (token, price) => marks.push(token, price),
    setFaults: (faults) => paper.setFaults(faults),
    ordersOf: ({ userId }) =>
      db.select().from(paperOrders).where(eq(paperOrders.userId, userId)).orderBy(asc(paperOrders.id)),
    async balanceOf({ userId }) {
      const [account] = await db.select().from(paperAccounts).where(eq(paperAccounts.userId, userId));
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

exchangeSuite('Bitget on the built-in paper exchange', () => openBitget({ overHttp: false }));
exchangeSuite('Bitget over HTTP', () => openBitget({ overHttp: true }));
positionSuite('Bitget on the built-in paper exchange', () => openBitget({ overHttp: false }));
positionSuite('Bitget over HTTP', () => openBitget({ overHttp: true }));
