import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import type { GenerateAnswer } from '#contract/position-generator.ts';
import type { TradingSettings } from '#domain/user-settings.ts';
import { type Deps, OPEN_TO_ALL } from '#server/deps.ts';
import type { ExchangeAccount } from '#server/exchanges/exchange.ts';
import { systemClock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config/config.ts';
import { workflows } from '#server/platform/db/schema.ts';
import { createLog } from '#server/platform/log.ts';
import { buildProgram } from '#server/program.ts';
import { startExchangeSite } from '../venues/test-exchange-site.ts';
import { startTestApp } from './test-app.ts';
import { type TestClient, testClient } from './test-client.ts';
import { testEngineRows } from './test-engine-rows.ts';

export interface Trader {
  userId: string;
  /** The trader's account in the exchange's books. */
  accountId: string;
}

export interface HandSignal {
  token: string;
  price: string;
  action?: 'buy' | 'sell';
  /** Stores a candle with this ATR before the signal. */
  atr?: string;
  matureTrend?: string;
  /** The exchange's price; the signal's by default. */
  livePrice?: string;
}

/** An instance of the program on the shared database. */
export interface Instance {
  admin: TestClient;
  deps: Deps;
  /** Stops the instance; its work in progress stays unfinished. */
  stop(): Promise<void>;
}

export type Calculated = Extract<GenerateAnswer, { success: true }>;

const TOKENS = 40;
/** Longer than the one second for which a price is cached for all callers. */
const PRICE_AGE_MS = 1_050;

export type HandTrading = Awaited<ReturnType<typeof startHandTrading>>;

/**
 * Manual orders: the whole program in demo mode against an exchange with its own URL and faults. Nothing is traded
 * automatically.
 */
export async function startHandTrading(options: { engine?: boolean; config?: Partial<Config> } = {}) {
  const site = await startExchangeSite({ environment: 'demo' });
  const config: Partial<Config> = {
    exchangeMode: 'demo',
    bitgetBaseUrl: site.url,
    bybitBaseUrl: site.url,
    exchangeTimeoutMs: 3_000,
    verifyFirstMs: 400,
    verifySecondMs: 400,
    cancelDelayMs: 100,
    ...options.config,
  };
  const board = await startTestApp({ engine: options.engine ?? true, config });
  const { db } = board.database;
  const accounts = new Map<string, ExchangeAccount>();
  const findAccount: Deps['findAccount'] = async (userId, platform) =>
    platform === 'Bitget' ? (accounts.get(userId) ?? null) : null;
  board.deps.findAccount = findAccount;
  board.deps.accountGuard = OPEN_TO_ALL;
  const rows = testEngineRows({ db, clock: systemClock, settle: async () => {} });
  const instances: Instance[] = [];
  // The list of contracts is read only once, so it must contain every token from the start.
  const tokens = Array.from({ length: TOKENS }, (_, index) => `HAND${index + 1}`);
  for (const token of tokens) await site.push(token, '100');

  async function countPrices(requests: number): Promise<void> {
    await board.database.pool.query(
      `insert into rate_limits (key, points, expire) values ('current-price:all', $1, $2)
        on conflict (key) do update set points = excluded.points, expire = excluded.expire`,
      [requests, Date.now() + 60_000],
    );
  }

  /** A token with a contract that no other test uses. */
  function nextToken(): string {
    const token = tokens.shift();
    if (token === undefined) throw new Error('more tokens are needed');
    return token;
  }

  async function createTrader(settings: Partial<TradingSettings> = {}): Promise<Trader> {
    const userId = await rows.createUser({
      positionSizingMethod: 'Risk Management',
      investmentPortion: null,
      ...settings,
    });
    const secrets = {
      apiKey: `key-${randomUUID()}`,
      apiSecret: `secret-${randomUUID()}`,
      passphrase: `phrase-${randomUUID()}`,
    };
    const accountId = site.addAccount(secrets);
    const credentials = { ...secrets, accountMode: 'classic' as const };
    accounts.set(userId, { userId, environment: 'demo', credentials });
    return { userId, accountId };
  }

  async function storeSignal(signal: HandSignal): Promise<string> {
    const { token, price, action = 'buy', atr, matureTrend, livePrice = price } = signal;
    await site.push(token, livePrice);
    if (atr !== undefined) {
      await rows.storeCandle({ token, price, atr, ...(matureTrend === undefined ? {} : { matureTrend }) });
    }
    const { signalId, workflowId } = await rows.storeSignal({ token, price, action });
    // Only the test trades the signal.
    await db.delete(workflows).where(eq(workflows.id, workflowId));
    return signalId;
  }

  /** Resets the limit of the price service, so it accepts requests immediately. */
  async function clearPriceLimit(): Promise<void> {
    await board.database.pool.query(`delete from rate_limits where key like 'current-price%'`);
  }

  async function generate(body: Record<string, unknown>): Promise<GenerateAnswer> {
    await clearPriceLimit();
    const answer = await board.admin.post('/api/internal/position-generator/generate', body);
    if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}: ${answer.body}`);
    return answer.json<GenerateAnswer>();
  }

  return {
    site,
    board,
    nextToken,
    createTrader,
    storeSignal,
    generate,
    clearPriceLimit,
    /** Makes a successful calculation of a new trader for a new signal. */
    async calculate(signal: Partial<HandSignal> = {}, settings: Partial<TradingSettings> = {}) {
      const token = signal.token ?? nextToken();
      const trader = await createTrader(settings);
      const signalId = await storeSignal({ price: '100', ...signal, token });
      const answer = await generate({ signalId, userId: trader.userId });
      if (!answer.success) throw new Error(answer.message);
      return { ...trader, token, signalId, logId: answer.positionGeneratorLogId, answer };
    },
    /** Starts another instance on the same database. */
    async startInstance(more: { engine?: boolean; config?: Partial<Config> } = {}): Promise<Instance> {
      const program = await buildProgram({
        config: { ...board.config, ...more.config, instanceId: `instance-${instances.length + 2}` },
        log: createLog({ level: 'silent' }),
        clock: systemClock,
        database: board.database,
      });
      program.deps.findAccount = findAccount;
      program.deps.accountGuard = OPEN_TO_ALL;
      if (more.engine ?? true) await program.start({ background: [] });
      let stopping: Promise<void> | null = null;
      const instance: Instance = {
        admin: testClient(program.app, board.admin.cookie),
        deps: program.deps,
        stop() {
          stopping ??= program.app.close().then(() => program.stop());
          return stopping;
        },
      };
      instances.push(instance);
      return instance;
    },
    /** Lets the price service accept any number of requests for a minute. */
    liftPriceLimit: () => countPrices(-1_000_000),
    /** Uses up this many requests of the price service's limit, whose one-second window is stretched to a minute. */
    async usePriceLimit(requests: number) {
      await clearPriceLimit();
      await countPrices(requests);
    },
    /** Waits until cached prices have expired. */
    outlivePrices: () => sleep(PRICE_AGE_MS),
    async close() {
      await Promise.all(instances.map((instance) => instance.stop()));
      await board.close();
      await site.close();
    },
  };
}
