import type { CurrentPriceAnswer } from '#contract/position-generator.ts';
import { chooseReferencePrice } from '#domain/sizing/reference-price.ts';
import { formatDecimals } from '../../lib/format.ts';
import { tellsRateLimit } from './request-failures.ts';

/** The answer of the price service compared with the signal price, for the operator and for the calculation. */
export interface PriceComparison {
  title: 'Price Updated' | 'Price Current' | 'Rate Limiting Detected' | 'Using Signal Price';
  text: string;
  /** Sent with the calculation; the server checks it against its own. */
  request: { currentMarketPrice?: string; priceUpdateRequired: boolean; priceSource: string };
}

export function comparePrice(
  answer: Pick<CurrentPriceAnswer, 'success' | 'data' | 'fallbackRequired' | 'message'>,
  { signalPrice, token }: { signalPrice: string; token: string },
): PriceComparison {
  if (!answer.success || answer.fallbackRequired || answer.data === null) {
    return fallBackToSignalPrice(answer.message ?? 'The price service has no current price', signalPrice);
  }
  const { currentPrice, source } = answer.data;
  const chosen = chooseReferencePrice({ signalPrice, livePrice: currentPrice });
  const difference = `The current ${token} price ${currentPrice} from ${source} differs from the signal price ${signalPrice} by ${formatDecimals(chosen.differencePercent, 2)}%`;
  const isUpdated = chosen.source === 'live';
  return {
    title: isUpdated ? 'Price Updated' : 'Price Current',
    text: `${difference}; the calculation uses the ${isUpdated ? 'current' : 'signal'} price.`,
    request: { currentMarketPrice: currentPrice, priceUpdateRequired: isUpdated, priceSource: source },
  };
}

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
