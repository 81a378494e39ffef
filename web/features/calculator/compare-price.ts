import type { CurrentPriceAnswer } from '#contract/position-generator.ts';
import { chooseReferencePrice } from '#domain/sizing/reference-price.ts';
import { formatDecimals } from '../../lib/format.ts';
import { tellsRateLimit } from './request-failures.ts';

/** The current price compared with the signal price: texts for the operator and fields for the calculation. */
export interface PriceComparison {
  title: 'Price Updated' | 'Price Current' | 'Rate Limiting Detected' | 'Using Signal Price';
  text: string;
  /** Sent with the calculation; the server verifies it against its own price. */
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

/** Also used when the price service did not answer at all. */
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
