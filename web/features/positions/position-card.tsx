import type { ClosedPositionView, OpenPositionView } from '#contract/positions.ts';
import { CardLines } from '#web/lists/card-lines.tsx';
import { formatFullPrice, formatQuantity } from '../../lib/figures.ts';
import { capitalise, plainCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { CellButton } from '../../ui/cell-button.tsx';
import { Profit } from '../../ui/profit.tsx';
import { netProfit } from './net-profit.ts';
import { StopTargetBar } from './stop-target-bar.tsx';
import { distanceText } from './stop-target-model.ts';

const arrow = (side: 'long' | 'short') => (side === 'long' ? '▲' : '▼');

/** An open position on a telephone: two lines, and its way from stop to target. */
export function PositionCard({ position, onPanel }: { position: OpenPositionView; onPanel: () => void }) {
  const { token, side, leverage, username, quantity, entryPrice, unrealisedProfit } = position;
  const distances = [
    ['stop', distanceText(position.stopLoss, position.markPrice)],
    ['target', distanceText(position.takeProfit, position.markPrice)],
  ].flatMap(([name, distance]) => (distance === null ? [] : [`${name} ${distance}`]));
  return (
    <>
      <CardLines
        lines={[
          [
            <CellButton
              key="title"
              text={`${token} ${capitalise(side)} of ${username}`}
              opens="panel of the position"
              onClick={onPanel}
            >
              {arrow(side)}{' '}
              <strong>
                {token} {capitalise(side)} {plainCount(leverage)}×
              </strong>{' '}
              · {username}
            </CellButton>,
            <Profit key="profit" amount={unrealisedProfit} />,
          ],
          [`${formatQuantity(quantity)} @ ${formatFullPrice(entryPrice)}`, distances.join(', ')],
        ]}
      />
      <StopTargetBar position={position} />
    </>
  );
}

/** A closed position on a telephone. */
export function ClosedPositionCard({ position }: { position: ClosedPositionView }) {
  const formatInstant = useFormatInstant();
  const { token, side, username, quantity, entryPrice, closePrice, realisedProfit, fees } = position;
  const net = realisedProfit === null ? null : netProfit(realisedProfit, fees);
  return (
    <CardLines
      lines={[
        [
          <>
            {arrow(side)}{' '}
            <strong>
              {token} {capitalise(side)}
            </strong>{' '}
            · {username}
          </>,
          net === null ? '–' : <Profit key="profit" amount={net} />,
        ],
        [
          `${formatQuantity(quantity)} @ ${formatFullPrice(entryPrice)} → ${formatFullPrice(closePrice)}`,
          capitalise(position.closedBy),
        ],
        [formatInstant(position.closedAt)],
      ]}
    />
  );
}
