import { randomUUID } from 'node:crypto';
import { and, eq, sql } from 'drizzle-orm';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { ExchangeAccount } from '#server/exchanges/exchange.ts';
import type { MarkSource } from '#server/exchanges/paper/mark-source.ts';
import { openPaper, paperAccount } from '#server/exchanges/paper/open-paper.ts';
import {
  paperAccounts,
  paperFills,
  paperOrders,
  paperTokenSettings,
  paperTriggerOrders,
} from '#server/exchanges/paper/paper-schema.ts';
import { systemClock } from '#server/platform/clock.ts';
import type { Db } from '#server/platform/db/database.ts';
import { createTestDatabase } from '../app/test-database.ts';
import { accountModeOf, platformOf, type SuiteDialect } from './exchange-suite-words.ts';
import { memoryMarks } from './memory-marks.ts';
import { paperLedger } from './paper-ledger.ts';
import { listenVenue } from './server.ts';
import { type ExchangeUnderTest, testRegistry, type WiredExchange } from './test-registry.ts';
import { createVenue } from './venue.ts';
import { TRADING_KEY, venueCredentials } from './venue-credentials.ts';

const SECRET_KEY = 'a secret key that only this test uses';

const clock = systemClock;

async function open(ownMarks: Partial<MarkSource> = {}) {
  const { database, close } = await createTestDatabase();
  const marks = { ...memoryMarks(), ...ownMarks };
  const failures: unknown[] = [];
  const books = {
    db: database.db,
    clock,
    marks,
    startBalance: '10000',
    onError: (error: unknown) => void failures.push(error),
  };
  return {
    books,
    async close() {
      await close();
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** The real client against the test venue: in process, or over loopback HTTP. */
export async function openOnVenue(
  dialect: SuiteDialect,
  { overHttp }: { overHttp: boolean },
): Promise<WiredExchange> {
  const { books, close } = await open();
  const venue = createVenue({
    ...books,
    credentialsFor: (userId) => venueCredentials(userId, SECRET_KEY),
    keyOf: () => (dialect === 'Bitget unified' ? { ...TRADING_KEY, accountMode: 'unified' } : TRADING_KEY),
  });
  const server = overHttp ? await listenVenue(venue, { port: 0 }) : null;
  const url = server?.url ?? null;
  const waiting = (exchangeTimeoutMs: number) =>
    testRegistry({ bitgetBaseUrl: url, bybitBaseUrl: url, exchangeTimeoutMs, venue });
  const [patient, hasty] = [waiting(15_000), waiting(600)];
  const exchange = patient.get(platformOf(dialect));
  return {
    exchange,
    hastyExchange: hasty.get(platformOf(dialect)),
    // Bybit sets the margin mode per account and does not report it per position.
    marginModeOfPosition: dialect === 'Bybit' ? null : 'isolated',
    newAccount() {
      const userId = randomUUID();
      const credentials = { ...venueCredentials(userId, SECRET_KEY), accountMode: accountModeOf(dialect) };
      return { userId, environment: 'paper', credentials };
    },
    push: (token, price) => books.marks.push(token, price),
    setFaults: (faults) => venue.setFaults(faults),
    move: (movement) => venue.move(movement),
    ...pastThePort(books.db, exchange),
    async close() {
      await patient.close();
      await hasty.close();
      await server?.close();
      await close();
    },
  };
}

export interface PaperUnderTest extends ExchangeUnderTest {
  /** Locks the account as another process would; returns a function that releases it. */
  holdAccount(account: ExchangeAccount): Promise<() => Promise<void>>;
}

/** Paper mode as in production. */
export async function openInPaperMode(
  platform: ExchangePlatform,
  ownMarks?: Partial<MarkSource>,
): Promise<PaperUnderTest> {
  const { books, close } = await open(ownMarks);
  const registry = testRegistry({ paper: openPaper(books) });
  const exchange = registry.get(platform);
  return {
    exchange,
    marginModeOfPosition: 'isolated',
    newAccount: () => paperAccount(randomUUID(), exchange.accountMode),
    push: (token, price) => books.marks.push(token, price),
    ...pastThePort(books.db, exchange),
    async holdAccount({ userId }) {
      const client = await books.db.$client.connect();
      await client.query('begin');
      await client.query('select from paper_accounts where user_id = $1 and platform = $2 for update', [
        userId,
        platform,
      ]);
      return async () => {
        await client.query('rollback');
        client.release();
      };
    },
    async close() {
      await registry.close();
      await close();
    },
  };
}

function pastThePort(
  db: Db,
  { platform, fetchBalance }: ExchangeUnderTest['exchange'],
): Pick<ExchangeUnderTest, 'setHedgeMode' | 'loseStop' | 'repeatTrades' | 'ordersOf' | 'balanceOf'> {
  return {
    async setHedgeMode(account, token) {
      const { userId } = account;
      // The account exists only after its first request.
      await fetchBalance(account);
      await db
        .update(paperAccounts)
        .set({ positionMode: 'hedge_mode' })
        .where(and(eq(paperAccounts.userId, userId), eq(paperAccounts.platform, platform)));
      await db
        .update(paperTokenSettings)
        .set({ positionMode: null })
        .where(and(eq(paperTokenSettings.userId, userId), eq(paperTokenSettings.token, token)));
    },
    async loseStop({ userId }, token) {
      await db
        .update(paperTriggerOrders)
        .set({ state: 'cancelled' })
        .where(
          and(
            eq(paperTriggerOrders.userId, userId),
            eq(paperTriggerOrders.token, token),
            eq(paperTriggerOrders.planType, 'pos_loss'),
          ),
        );
    },
    async repeatTrades({ userId }, times) {
      const orders = await db.select().from(paperOrders).where(eq(paperOrders.userId, userId));
      const fills = await db.select().from(paperFills).where(eq(paperFills.userId, userId));
      const byId = (one: { id: bigint }, other: { id: bigint }) => (one.id < other.id ? -1 : 1);
      orders.sort(byId);
      fills.sort(byId);
      const copies = Array.from({ length: times }, (_, index) => index);
      const made = [...orders, ...fills].map(({ createdAt }) => createdAt.getTime());
      const periodMs = Math.max(...made) - Math.min(...made) + 1;
      // The originals become the oldest: ids and times ascend together, and nothing is in the future.
      for (const table of [paperOrders, paperFills])
        await db
          .update(table)
          .set({ createdAt: sql`created_at - make_interval(secs => ${(times * periodMs) / 1_000})` })
          .where(eq(table.userId, userId));
      const at = (time: Date, copy: number) => new Date(time.getTime() - (times - 1 - copy) * periodMs);
      const added = await db
        .insert(paperOrders)
        .values(
          copies.flatMap((copy) =>
            orders.map(({ id: _id, ...order }) => ({
              ...order,
              createdAt: at(order.createdAt, copy),
              updatedAt: at(order.updatedAt, copy),
            })),
          ),
        )
        .returning({ id: paperOrders.id });
      added.sort(byId);
      const copyOf = (orderId: bigint, copy: number) =>
        added[copy * orders.length + orders.findIndex(({ id }) => id === orderId)]?.id ?? orderId;
      await db.insert(paperFills).values(
        copies.flatMap((copy) =>
          fills.map(({ id: _id, ...fill }) => ({
            ...fill,
            orderId: copyOf(fill.orderId, copy),
            createdAt: at(fill.createdAt, copy),
          })),
        ),
      );
    },
    ordersOf: ({ userId }) => paperLedger(db).exchangeOrders(userId, platform),
    async balanceOf({ userId }) {
      const [account] = await db
        .select()
        .from(paperAccounts)
        .where(and(eq(paperAccounts.userId, userId), eq(paperAccounts.platform, platform)));
      return account?.balance ?? 'none';
    },
  };
}
