import type { ExchangeEnvironment } from '#server/exchanges/exchange.ts';
import { systemClock } from '#server/platform/clock.ts';
import { startExchangeSite } from './venues/test-exchange-site.ts';
import { keysOf } from './world/keys.ts';
import { startPrograms, type World, type WorldOptions } from './world/programs.ts';
import { signalsOf } from './world/signals.ts';

export {
  ADMIN_PASSWORD,
  ADMIN_USERNAME,
  ALL_WORKERS,
  CHEAP_PASSWORDS,
  type Instance,
  type TestUser,
  TRADING,
  type World,
  type WorldOptions,
} from './world/programs.ts';

export interface ExchangeOptions extends WorldOptions {
  /** The mode in which the program trades at an exchange with an address, books, prices and faults of its own. */
  exchange: ExchangeEnvironment;
  /** What the exchange lists besides BTC, ETH and SOL, each at 100: a list of contracts is remembered for a while. */
  tokens?: readonly string[];
}

export type ExchangeWorld = Awaited<ReturnType<typeof startWithExchange>>;

/**
 * The program on a database of its own, with its first administrator: of one or several instances, and with `exchange`
 * an exchange that it knows only by its address. Without, it fills orders in its own paper books.
 */
export function startWorld(options: ExchangeOptions): Promise<ExchangeWorld>;
export function startWorld(options?: WorldOptions): Promise<World>;
export function startWorld(options: WorldOptions | ExchangeOptions = {}): Promise<World> {
  return 'exchange' in options ? startWithExchange(options) : startPrograms(options);
}

/** Waits as short as the exchange, which answers at once, allows. */
const SHORT_WAITS = { exchangeTimeoutMs: 3_000, verifyFirstMs: 300, verifySecondMs: 300, cancelDelayMs: 100 };

async function startWithExchange({ exchange, tokens = [], ...options }: ExchangeOptions) {
  const { clock = systemClock, engine = false } = options;
  const listed = ['BTC', 'ETH', 'SOL', ...tokens];
  const site = await startExchangeSite({ environment: exchange, clock, tokens: listed });
  const world = await startPrograms({
    ...options,
    config: {
      exchangeMode: exchange,
      bitgetBaseUrl: site.url,
      bybitBaseUrl: site.url,
      ...SHORT_WAITS,
      ...(engine ? { appEnv: 'production', autoTrade: { enabled: true, configured: true } } : {}),
      ...options.config,
    },
  });
  return {
    ...world,
    site,
    ...keysOf(world, site),
    ...(await signalsOf(world, site)),
    async close() {
      await world.close();
      await site.close();
    },
  };
}
