import type { PreparedOrder } from '#contract/position-maker.ts';
import { formatDecimals, formatFraction, formatLeverage, formatPrice } from '../../lib/format.ts';
import { Facts } from '../../ui/facts.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import { ExactDecimals } from './exact-decimals.tsx';
import classes from './order.module.css';
import { SideBadge } from './signal-card.tsx';

export function PreparedOrderView({ order, faded }: { order: PreparedOrder; faded: boolean }) {
  const { positionDetails: details, userSettings, inputParameters } = order;
  return (
    <div className={classes.stack} data-faded={faded || undefined} aria-busy={faded || undefined}>
      <Facts
        facts={[
          ['Token', <TokenBadge key="token" token={details.token} />],
          ['Action', <SideBadge key="action" action={details.action} />],
          ['Entry Price', <ExactDecimals key="entry" value={details.entryPrice} decimals={4} />],
          ['Leverage', formatLeverage(details.leverage)],
          ['Stop Loss', <ExactDecimals key="stop" value={details.stopLoss} decimals={4} />],
          ['Take Profit', <ExactDecimals key="target" value={details.takeProfit} decimals={4} />],
          ['Quantity (USDT)', formatPrice(details.quantity)],
          ['Asset Quantity', `${formatDecimals(details.assetQuantity, 6)} ${details.token}`],
          ['Investment', formatPrice(details.investment)],
          ['Risk %', formatFraction(details.riskPercentage, 2)],
          ['Exchange', order.exchange],
          ['Active Trading', userSettings.activeTrading ? 'On' : 'Off'],
          ['Sizing Method', inputParameters.positionSizingMethod],
          ['Market Type', inputParameters.marketType],
          ['Calculation Behavior', inputParameters.calculationBehavior],
        ]}
      />
    </div>
  );
}

/** Where it goes, and what is sent. */
export function OrderRequest({ order, faded }: { order: PreparedOrder; faded: boolean }) {
  return (
    <div className={classes.stack} data-faded={faded || undefined}>
      <div>
        <div className={classes.name}>API Endpoint</div>
        <div className={`mono ${classes.endpoint}`}>{order.apiEndpoint}</div>
      </div>
      <div>
        <div className={classes.name}>Order Payload</div>
        <JsonView value={order.orderPayload} label="Order Payload" />
      </div>
    </div>
  );
}
