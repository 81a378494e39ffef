import type { PreparedOrder } from '#contract/position-maker.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { formatFullPrice, formatMoney, formatQuantity } from '../../lib/figures.ts';
import { capitalise, formatFraction, formatLeverage } from '../../lib/format.ts';
import { outcomesOf } from './order-outcomes.ts';
import classes from './order-summary.module.css';

interface OrderSummaryProps {
  order: PreparedOrder;
  username: string;
  /** Undefined while unknown. */
  mode: ExchangeMode | undefined;
}

/** Who trades what, and what is lost at the stop and won at the target, before fees. */
export function OrderSummary({ order, username, mode }: OrderSummaryProps) {
  const { token, action, assetQuantity, entryPrice, leverage } = order.positionDetails;
  const venue = mode === undefined ? order.exchange : `${order.exchange} (${mode})`;
  const { loss, win, inR, lossShare, winShare } = outcomesOf(order.positionDetails);
  return (
    <div className={classes.summary}>
      <p className={classes.what}>
        {capitalise(action)} {formatQuantity(assetQuantity)} {token} for {username}
      </p>
      <p className={classes.where}>
        on {venue}, limit at {formatFullPrice(entryPrice)}, {formatLeverage(leverage)}
      </p>
      <dl className={classes.ends}>
        <div data-end="stop">
          <dt>Loses at the stop</dt>
          <dd>−{formatMoney(loss)}</dd>
          <dd>{formatFraction(lossShare, 2)} of the balance</dd>
        </div>
        <div data-end="target">
          <dt>Wins at the target</dt>
          <dd>+{formatMoney(win)}</dd>
          <dd>
            {formatFraction(winShare, 2)} of the balance, {inR} R
          </dd>
        </div>
      </dl>
    </div>
  );
}
