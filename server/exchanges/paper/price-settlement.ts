import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Finds what belongs to a token, many tokens by one query: prices come in by the thousand a second, and most concern
 * nobody. A query begins after each of its tokens was asked for, so that it sees what was stored before; the next one
 * begins when it has ended, and `everyMs` after its begin.
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
 * Settles a token's paper orders when a price arrives. While one settlement runs, any number of further prices ask for
 * one more: it reads all marks since the last one, so nothing is left out, and a burst of candles costs two settlements
 * instead of one each.
 */
export function settleOnPrice(options: {
  settle: (token: string) => Promise<void>;
  onError: (error: unknown, token: string) => void;
}): (token: string) => void {
  const { settle, onError } = options;
  /** Tokens being settled, and whether another price came meanwhile. */
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
