import type { OpenPositionView } from '#contract/positions.ts';
import { formatFullPrice, formatQuantity } from '../../lib/figures.ts';
import { capitalise, plainCount } from '../../lib/format.ts';
import { Profit } from '../../ui/profit.tsx';
import { ExitProgress } from './exit-progress.tsx';
import classes from './positions.module.css';
import { StopTargetBar } from './stop-target-bar.tsx';
import { distanceText } from './stop-target-model.ts';

/** An open position on a telephone: two lines, and its way from stop to target. */
export function PositionCard({ position }: { position: OpenPositionView }) {
  const { token, side, leverage, username, quantity, entryPrice, unrealisedProfit } = position;
  const stop = distanceText(position.stopLoss, position.markPrice);
  return (
    <div className={classes.card}>
      <div>
        <span>
          {side === 'long' ? '▲' : '▼'}{' '}
          <strong>
            {token} {capitalise(side)} {plainCount(leverage)}×
          </strong>{' '}
          · {username}
        </span>
        <Profit amount={unrealisedProfit} />
      </div>
      <div>
        <span>
          {formatQuantity(quantity)} @ {formatFullPrice(entryPrice)}
        </span>
        <span>{stop === null ? null : `stop ${stop}`}</span>
      </div>
      <StopTargetBar position={position} />
      {position.exits ? <ExitProgress exits={position.exits} token={token} /> : null}
    </div>
  );
}
