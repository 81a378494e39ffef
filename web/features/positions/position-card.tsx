import type { ClosedPositionView, OpenPositionView } from '#contract/positions.ts';
import { formatFullPrice, formatQuantity } from '../../lib/figures.ts';
import { capitalise, plainCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Profit } from '../../ui/profit.tsx';
import { netProfit } from './net-profit.ts';
import classes from './positions.module.css';
import { StopTargetBar } from './stop-target-bar.tsx';
import { distanceText } from './stop-target-model.ts';

/** An open position on a telephone: two lines, and its way from stop to target. */
export function PositionCard({ position }: { position: OpenPositionView }) {
  const { token, side, leverage, username, quantity, entryPrice, unrealisedProfit } = position;
  const distances = [
    ['stop', distanceText(position.stopLoss, position.markPrice)],
    ['target', distanceText(position.takeProfit, position.markPrice)],
  ].flatMap(([name, distance]) => (distance === null ? [] : [`${name} ${distance}`]));
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
        <span>{distances.join(', ')}</span>
      </div>
      <StopTargetBar position={position} />
    </div>
  );
}

/** A closed position on a telephone. */
export function ClosedPositionCard({ position }: { position: ClosedPositionView }) {
  const formatInstant = useFormatInstant();
  const { token, side, username, quantity, entryPrice, closePrice, realisedProfit, fees } = position;
  return (
    <div className={classes.card}>
      <div>
        <span>
          {side === 'long' ? '▲' : '▼'}{' '}
          <strong>
            {token} {capitalise(side)}
          </strong>{' '}
          · {username}
        </span>
        {realisedProfit === null ? <span>–</span> : <Profit amount={netProfit(realisedProfit, fees)} />}
      </div>
      <div>
        <span>
          {formatQuantity(quantity)} @ {formatFullPrice(entryPrice)} → {formatFullPrice(closePrice)}
        </span>
        <span>{capitalise(position.closedBy)}</span>
      </div>
      <div>
        <span>{formatInstant(position.closedAt)}</span>
      </div>
    </div>
  );
}
