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
