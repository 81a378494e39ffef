import { isFresh } from '#server/platform/clock.ts';
import type { CcxtClient, Market } from './dialect.ts';

const REFRESH_MS = 3_600_000;

/** Loads the list into a client, in its own scope: the request belongs to no user's call. */
type Load = () => Promise<CcxtClient>;

export type MarketCache = ReturnType<typeof createMarketCache>;

/**
 * The exchange's contracts: loaded on first use, reloaded every hour, by one request at a time. The clients of all kinds
 * of account share them; the one that needs them loads them.
 */
export function createMarketCache(options: {
  now: () => Date;
  /** The shortest interval between reloads of the list for an unlisted token, or after `expire`. */
  missingRefreshMs: number;
}) {
  const { now, missingRefreshMs } = options;
  let client: CcxtClient | null = null;
  let loadedAt = new Date(0);
  let loading: Promise<CcxtClient> | null = null;
  let isExpired = false;

  function refresh(load: Load): Promise<CcxtClient> {
    loading ??= load()
      .then((loaded) => {
        client = loaded;
        loadedAt = now();
        isExpired = false;
        return loaded;
      })
      .finally(() => {
        loading = null;
      });
    return loading;
  }

  async function current(load: Load): Promise<CcxtClient> {
    if (!client) return refresh(load);
    const maxAgeMs = isExpired ? missingRefreshMs : REFRESH_MS;
    // An old list is better than none: steps and ticks hardly ever change.
    if (!isFresh({ at: loadedAt, maxAgeMs, now: now() }))
      return refresh(load).catch(() => client ?? refresh(load));
    return client;
  }

  const lookUp = (from: CcxtClient, token: string): Market | null => {
    const symbol = `${token}/USDT:USDT`;
    const markets = from.markets ?? {};
    return Object.hasOwn(markets, symbol) ? (markets[symbol] ?? null) : null;
  };

  return {
    /** For calls without a token: a client must know the contracts before it reads answers. */
    async ready(load: Load): Promise<void> {
      await current(load);
    },
    /** The client that loaded the list; null before that. */
    source: () => client,
    /** The exchange contradicts the list: it is read again. */
    expire(): void {
      isExpired = true;
    },
    /** The market of `<token>/USDT:USDT`; null if not listed. Throws if no list was ever loaded. */
    async marketOf(token: string, load: Load): Promise<Market | null> {
      const market = lookUp(await current(load), token);
      if (market || isFresh({ at: loadedAt, maxAgeMs: missingRefreshMs, now: now() })) return market;
      return lookUp(await refresh(load), token);
    },
  };
}
