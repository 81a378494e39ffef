import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Batches look-ups by token into one query: thousands of prices arrive per second, and most affect nobody. A query
 * starts after all of its tokens were requested, so it sees everything stored before; the next one starts once it has
 * ended, and at least `everyMs` after its start.
 */
export function createTokenFinder<Found>(options: {
  find: (tokens: string[]) => Promise<Map<string, Found[]>>;
  everyMs: number;
}): (token: string) => Promise<Found[]> {
  const { find, everyMs } = options;
  let next: { tokens: Set<string>; found: Promise<Map<string, Found[]>> } | null = null;
  let last: Promise<unknown> = Promise.resolve();

  function begin(): NonNullable<typeof next> {
    const tokens = new Set<string>();
    const found = last.then(() => {
      next = null;
      const pause = sleep(everyMs, undefined, { ref: false });
      const finding = find([...tokens]);
      last = Promise.allSettled([finding, pause]);
      return finding;
    });
    return { tokens, found };
  }

  return async (token) => {
    next ??= begin();
    next.tokens.add(token);
    return (await next.found).get(token) ?? [];
  };
}

/**
 * Settles a token's paper orders when a price arrives. Any number of prices that arrive during a settlement trigger one
 * more run: it reads all marks since the last one, so nothing is missed, and a burst of candles costs two settlements
 * instead of one per candle.
 */
export function settleOnPrice(options: {
  settle: (token: string) => Promise<void>;
  onError: (error: unknown, token: string) => void;
}): (token: string) => void {
  const { settle, onError } = options;
  /** Tokens being settled, and whether another price arrived in the meantime. */
  const running = new Map<string, boolean>();

  async function run(token: string): Promise<void> {
    do {
      running.set(token, false);
      await settle(token).catch((error: unknown) => onError(error, token));
    } while (running.get(token) === true);
    running.delete(token);
  }

  return (token) => {
    if (running.has(token)) running.set(token, true);
    else void run(token);
  };
}
