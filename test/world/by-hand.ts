import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import type { GenerateAnswer } from '#contract/position-generator.ts';
import type { TradingSettings } from '#domain/user-settings.ts';
import { systemClock } from '#server/platform/clock.ts';
import { workflows } from '#server/platform/db/schema.ts';
import { testEngineRows } from '../app/test-engine-rows.ts';
import { type ExchangeOptions, startWorld } from '../world.ts';

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

export type Calculated = Extract<GenerateAnswer, { success: true }>;

const TOKENS = 40;
/** Longer than the one second for which a price is cached for all callers. */
const PRICE_AGE_MS = 1_050;

export type WorldByHand = Awaited<ReturnType<typeof startWorldByHand>>;

/** A world of manual orders in demo mode. Nothing is traded automatically. */
export async function startWorldByHand(options: Partial<ExchangeOptions> = {}) {
  const tokens = Array.from({ length: TOKENS }, (_, index) => `HAND${index + 1}`);
  const world = await startWorld({
    exchange: 'demo',
    engine: true,
    tokens,
    ...options,
    config: {
      appEnv: 'development',
      autoTrade: { enabled: false, configured: true },
      verifyFirstMs: 400,
      verifySecondMs: 400,
      ...options.config,
    },
  });
  const { db, site, query } = world;
  const rows = testEngineRows({ db, clock: systemClock, settle: async () => {} });

  async function countPrices(requests: number): Promise<void> {
    await query(
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

  /** A trader with a key of a new account at Bitget. */
  async function createTrader(settings: Partial<TradingSettings> = {}): Promise<Trader> {
    const trader = await world.createTrader({ investmentPortion: null, ...settings });
    const { accountId, ...key } = world.newKey();
    const entered = await world.enter(trader, key);
    if (entered.statusCode !== 200) throw new Error(entered.body);
    return { userId: trader.id, accountId };
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
    await query(`delete from rate_limits where key like 'current-price%'`);
  }

  async function generate(body: Record<string, unknown>): Promise<GenerateAnswer> {
    await clearPriceLimit();
    const answer = await world.admin.post('/api/internal/position-generator/generate', body);
    if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}: ${answer.body}`);
    return answer.json<GenerateAnswer>();
  }

  return {
    ...world,
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
    /** Lets the price service accept any number of requests for a minute. */
    liftPriceLimit: () => countPrices(-1_000_000),
    /** Uses up this many requests of the price service's limit, whose one-second window is stretched to a minute. */
    async usePriceLimit(requests: number) {
      await clearPriceLimit();
      await countPrices(requests);
    },
    /** Waits until cached prices have expired. */
    outlivePrices: () => sleep(PRICE_AGE_MS),
  };
}
