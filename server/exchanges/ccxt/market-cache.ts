import { isFresh } from '#server/platform/clock.ts';
import type { CcxtClient, Market } from './dialect.ts';

const REFRESH_MS = 3_600_000;

/** The exchange's contracts: loaded on first use, reloaded every hour, by one request at a time. */
export function createMarketCache(options: {
  /** Loads the list into the client, in its own scope: the request belongs to no user's call. */
  load: () => Promise<CcxtClient>;
  now: () => Date;
  /** The shortest interval between reloads of the list for an unlisted token, or after `expire`. */
  missingRefreshMs: number;
}) {
  const { load, now, missingRefreshMs } = options;
  let client: CcxtClient | null = null;
  let loadedAt = new Date(0);
  let loading: Promise<CcxtClient> | null = null;
  let isExpired = false;

  function refresh(): Promise<CcxtClient> {
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

  async function current(): Promise<CcxtClient> {
    if (!client) return refresh();
    const maxAgeMs = isExpired ? missingRefreshMs : REFRESH_MS;
    // An old list is better than none: steps and ticks hardly ever change.
    if (!isFresh({ at: loadedAt, maxAgeMs, now: now() })) return refresh().catch(() => client ?? refresh());
    return client;
  }

  const lookUp = (from: CcxtClient, token: string): Market | null => {
    const symbol = `${token}/USDT:USDT`;
    const markets = from.markets ?? {};
    return Object.hasOwn(markets, symbol) ? (markets[symbol] ?? null) : null;
  };

  return {
    /** For calls without a token: the client must know the contracts before it reads answers. */
    async ready(): Promise<void> {
      await current();
    },
    /** The exchange contradicts the list: it is read again. */
    expire(): void {
      isExpired = true;
    },
    /** The market of `<token>/USDT:USDT`; null if not listed. Throws if no list was ever loaded. */
    async marketOf(token: string): Promise<Market | null> {
      const market = lookUp(await current(), token);
      if (market || isFresh({ at: loadedAt, maxAgeMs: missingRefreshMs, now: now() })) return market;
      return lookUp(await refresh(), token);
    },
  };
}
