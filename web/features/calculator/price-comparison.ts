import { isStatus } from '../../lib/api-client.ts';

/** What the price service said beside the signal price, for the operator and for the calculation. */
export interface PriceComparison {
  title: 'Price Updated' | 'Price Current' | 'Rate Limiting Detected' | 'Using Signal Price';
  text: string;
  /** What the calculation is told; the server checks it against its own. */
  request: { currentMarketPrice?: string; priceUpdateRequired: boolean; priceSource: string };
}

const RATE_LIMIT_TEXTS = ['maximum 2 requests per second', 'rate limit', 'api integration failed'];

export const tellsRateLimit = (text: string): boolean =>
  RATE_LIMIT_TEXTS.some((part) => text.toLowerCase().includes(part));

/** A refusal by a limit, by its status or by its words. */
export const isRateLimit = (error: unknown): boolean =>
  isStatus(error, 429) || (error instanceof Error && tellsRateLimit(error.message));

/** Also for a price service that did not answer at all. */
export function fallBackToSignalPrice(
  problem: string,
  signalPrice: string,
  isLimited = tellsRateLimit(problem),
): PriceComparison {
  const reason = problem.replace(/\.$/, '');
  return {
    title: isLimited ? 'Rate Limiting Detected' : 'Using Signal Price',
    text: `${reason}. The calculation uses the signal price ${signalPrice}.`,
    request: { priceUpdateRequired: false, priceSource: 'signal' },
  };
}
