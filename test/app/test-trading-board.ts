import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import type { User } from '#contract/users.ts';
import { paperAccount } from '#server/exchanges/paper/open-paper.ts';
import { type Clock, systemClock } from '#server/platform/clock.ts';
import { type Config, parseConfig } from '#server/platform/config/config.ts';
import { trades, userSettings, users, workflows } from '#server/platform/db/schema.ts';
import { createLog } from '#server/platform/log.ts';
import { type BackgroundPart, buildProgram, type Program } from '#server/program.ts';
import type { VenueFault } from '#test/venues/faults.ts';
import { memoryMarks } from '#test/venues/memory-marks.ts';
import { listenVenue } from '#test/venues/server.ts';
import { createVenue } from '#test/venues/venue.ts';
import { paperLedger } from '../venues/paper-ledger.ts';
import { CHEAP_PASSWORDS } from './test-app.ts';
import { signIn, type TestClient } from './test-client.ts';
import { createTestDatabase } from './test-database.ts';
import { createSender } from './test-sender.ts';

const ADMIN = { username: 'admin@example.com', password: 'correct horse battery' };
const USER_PASSWORD = 'a password of a user';
const SECRET_KEY = 'a secret key of the tests, long enough';

export type TradingBoard = Awaited<ReturnType<typeof startTradingBoard>>;

/**
 * One or several whole programs on one database, with job queues and real time, that trade at a test venue with its own
 * URL, books, prices and faults.
 */
export async function startTradingBoard(
  options: {
    instances?: number;
    config?: Partial<Config>;
    /** Further tokens that the exchange lists, each at 100: a list of contracts that was read is kept for a while. */
    tokens?: readonly string[];
    /** What also runs on timers of its own. Nothing, unless a test is about it. */
    background?: 'all' | readonly BackgroundPart[];
    /** By how many ms each instance's clock is behind the database and the exchange; negative: ahead. */
    behindMs?: readonly number[];
  } = {},
) {
  const [own, site] = [await createTestDatabase(), await createTestDatabase()];
  const marks = memoryMarks();
  const failures: unknown[] = [];
  const requests: { path: string; userId: string | null }[] = [];
  let isReachable = true;
  /** Requests by user and path that wait for an answer. */
  const held = new Map<string, Promise<void>>();
  const venue = createVenue({
    db: site.database.db,
    clock: systemClock,
    marks,
    startBalance: '10000',
    credentialsFor: (userId) => paperAccount(userId, 'classic').credentials,
    onError: (error) => failures.push(error),
  });
  const server = await listenVenue(
    {
      async handle(request) {
        const key = request.headers['access-key'] ?? request.headers['x-bapi-api-key'];
        const userId = key?.replace(/^paper-/, '') ?? null;
        requests.push({ path: request.path, userId });
        await held.get(`${userId} ${request.path}`);
        if (!isReachable) return { status: 200, headers: {}, body: '', delivery: 'cut' };
        return await venue.handle(request);
      },
    },
    { port: 0 },
  );
  const config: Config = {
    ...parseConfig({
      APP_ENV: 'production',
      ADMIN_USERNAME: ADMIN.username,
      ADMIN_PASSWORD: ADMIN.password,
      SECRET_KEY,
      BITGET_BASE_URL: server.url,
      BYBIT_BASE_URL: server.url,
      EXCHANGE_TIMEOUT_MS: '3000',
      VERIFY_FIRST_MS: '300',
      VERIFY_SECOND_MS: '300',
      CANCEL_DELAY_MS: '150',
    }),
    passwordCost: CHEAP_PASSWORDS,
    ...options.config,
  };
  const { behindMs = [] } = options;
  const clockOf = (index: number): Clock => ({
    ...systemClock,
    now: () => new Date(Date.now() - (behindMs[index] ?? 0)),
  });
  for (const token of ['BTC', 'ETH', 'SOL', ...(options.tokens ?? [])]) marks.push(token, '100');
  const programs: Program[] = [];
  for (let index = 0; index < (options.instances ?? 1); index += 1) {
    const program = await buildProgram({
      config: { ...config, instanceId: `instance-${index + 1}` },
      log: createLog({ level: process.env.TEST_LOG === '1' ? 'debug' : 'silent' }),
      clock: clockOf(index),
      database: own.database,
    });
    await program.start({ background: options.background ?? [] });
    programs.push(program);
  }
  const { db } = own.database;
  const [first] = programs;
  if (first === undefined) throw new Error('a board needs an instance');
  const { app, deps } = first;
  const admin = await signIn(app, ADMIN.username, ADMIN.password);
  const sender = await createSender({ app, client: admin });
  let count = 0;

  async function createTrader(settings: object = {}) {
    count += 1;
    const body = { username: `trader${count}@example.com`, password: USER_PASSWORD };
    const { user } = (await admin.post('/api/admin/create-client', body)).json<{ user: User }>();
    const wanted = { positionSizingMethod: 'Risk Management', ...settings };
    const saved = await admin.put(`/api/admin/user-settings/${user.id}`, wanted);
    if (saved.statusCode !== 200) throw new Error(saved.body);
    await db.update(userSettings).set({ activeTrading: true }).where(eq(userSettings.userId, user.id));
    const client = await signIn(app, body.username, body.password);
    return { id: user.id, username: body.username, client };
  }

  /** Sets a new price at the exchange. */
  async function push(token: string, price: string) {
    marks.push(token, price);
    await venue.settle(token);
  }

  /** Sends a signal through the webhook; returns its id. */
  async function signal({
    token,
    action = 'buy',
    price,
  }: {
    token: string;
    action?: 'buy' | 'sell';
    price: string;
  }) {
    const answer = await sender.signal({ symbol: `${token}USDT`, action, price });
    if (answer.statusCode !== 200) throw new Error(answer.body);
    return answer.json<{ id: string }>().id;
  }

  /** Waits until the signal's workflow has ended; returns its trades. */
  async function traded(signalId: string, { withinMs = 45_000 } = {}) {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const found = await db.select().from(workflows).where(eq(workflows.signalId, signalId));
      if (found.some(({ completedAt }) => completedAt !== null)) break;
      if (Date.now() > deadline) throw new Error(`the workflow of ${signalId} did not end`);
      await sleep(50);
    }
    return await db.select().from(trades).where(eq(trades.signalId, signalId));
  }

  /** A trader with a filled position in the token, and no other active user. */
  async function openPosition(
    token: string,
    {
      action = 'buy',
      price = '100',
      settings = {},
    }: { action?: 'buy' | 'sell'; price?: string; settings?: object } = {},
  ) {
    await db.update(users).set({ isActive: false }).where(eq(users.isAdmin, false));
    const trader = await createTrader(settings);
    await push(token, price);
    const [trade] = await traded(await signal({ token, action, price }));
    if (trade?.success !== true || trade.userId !== trader.id) throw new Error('nothing was traded');
    return { ...trader, token, trade };
  }

  return {
    programs,
    /** Of the first program. */
    deps,
    db,
    createTrader,
    push,
    signal,
    traded,
    openPosition,
    /** The administrator, signed in at the first program. */
    admin,
    /** All requests to the exchange, in order. */
    requests,
    /** Signs the administrator in at another program. */
    async adminAt(index: number): Promise<TestClient> {
      const program = programs[index];
      if (program === undefined) throw new Error(`no instance ${index}`);
      return await signIn(program.app, ADMIN.username, ADMIN.password);
    },
    setFaults: (faults: VenueFault[]) => venue.setFaults(faults),
    /** Lets the exchange answer none of the user's requests to this path until the returned function is called. */
    hold(userId: string, path: string): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      const key = `${userId} ${path}`;
      held.set(key, promise);
      return () => {
        held.delete(key);
        resolve();
      };
    },
    /** Disconnects or reconnects the exchange. */
    setReachable(reachable: boolean) {
      isReachable = reachable;
    },
    ...paperLedger(site.database.db),
    async close() {
      for (const program of programs) {
        await program.app.close();
        await program.stop();
      }
      await server.close();
      await own.close();
      await site.close();
      if (failures.length > 0) throw failures[0];
    },
  };
}
