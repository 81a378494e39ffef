import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Metrics } from '#server/platform/metrics.ts';
import type { Exchange, ExchangeAccount } from '../exchange.ts';
import { createSettler, openPaperBooks, type PaperBooksOptions } from './paper-books.ts';
import { createPaperExchange } from './paper-exchange.ts';

/** The exchanges of paper mode: play money in our own books, at the prices of stored signals and candles. */
export interface Paper {
  exchange(
    platform: ExchangePlatform,
    options?: { onCall?: Metrics['exchangeCalled'] | undefined },
  ): Exchange;
  /** Applies the token's new prices to every account that has a position or a resting order in it. */
  settle(token: string): Promise<void>;
}

export function openPaper(
  options: Omit<PaperBooksOptions, 'stopAtFill'> & { onError: (error: unknown) => void },
): Paper {
  const { onError } = options;
  const books = openPaperBooks(options);
  return {
    exchange: (platform, { onCall } = {}) => createPaperExchange({ books, platform, onCall, onError }),
    settle: createSettler(books, onError),
  };
}

/** In paper mode everybody has an account; it needs no key. */
export const paperAccount = (
  userId: string,
  accountMode: ExchangeAccount['credentials']['accountMode'],
): ExchangeAccount => ({
  userId,
  environment: 'paper',
  credentials: { apiKey: `paper-${userId}`, apiSecret: 'paper', passphrase: 'paper', accountMode },
});
