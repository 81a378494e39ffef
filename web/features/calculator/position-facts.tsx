import type { CalculatedPosition } from '#contract/position-generator.ts';
import { formatDecimals, formatFraction, formatLeverage, formatPrice } from '../../lib/format.ts';
import { ExactDecimals } from '../../ui/exact-decimals.tsx';
import { Facts } from '../../ui/facts.tsx';

/** Every figure of a calculated position. */
export default function PositionFacts({ position }: { position: CalculatedPosition }) {
  const trend = position.aligned ? 'aligned with' : 'opposed to';
  return (
    <Facts
      facts={[
        ['Sizing Method', position.method],
        ['Entry Price', <ExactDecimals key="entry" value={position.entryPrice} />],
        ['Stop Loss', <ExactDecimals key="stop" value={position.stopLoss} />],
        ['Take Profit', <ExactDecimals key="target" value={position.takeProfit} />],
        ['Risk %', formatFraction(position.riskPercentage, 2)],
        ['Investment', formatPrice(position.investment)],
        ['Investment Portion', formatFraction(position.investmentPortion, 1)],
        ['Leverage', `${formatLeverage(position.leverage)} (${trend} the trend)`],
        ['Quantity (USDT)', formatPrice(position.quantity)],
        ['Asset Quantity', `${formatDecimals(position.assetQuantity, 6)} ${position.token}`],
        ['Reference Price', `${position.referencePrice} (${position.priceSource})`],
        [
          'ATR',
          position.atr === null ? 'none' : <ExactDecimals key="atr" value={position.atr} decimals={2} />,
        ],
        ['Available Balance', formatPrice(position.availableBalance)],
      ]}
    />
  );
}
