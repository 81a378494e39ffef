import type { CurrentPriceAnswer } from '#contract/position-generator.ts';
import { chooseReferencePrice } from '#domain/sizing/reference-price.ts';
import { formatDecimals } from '../../lib/format.ts';
import { fallBackToSignalPrice, type PriceComparison } from './price-comparison.ts';

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
