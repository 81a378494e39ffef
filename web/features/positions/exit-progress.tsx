import type { ExitProgress as Progress } from '#contract/positions.ts';
import { formatFullPrice, formatQuantity } from '../../lib/figures.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import classes from './positions.module.css';

/** How far the exit plan of a position is: what is done, and what is still to come. */
export function ExitProgress({ exits, token }: { exits: Progress; token: string }) {
  const formatInstant = useFormatInstant();
  const { parts, breakEven, trail, until, problem, ended } = exits;
  return (
    <ul className={classes.exits} aria-label={`Exit plan of the ${token} position`}>
      {parts.map(({ price, quantity, atR, isDone }) => (
        <li key={price} data-done={isDone || undefined}>
          {isDone ? '✓ Closed' : 'Closes'} {formatQuantity(quantity)} at {formatFullPrice(price)} ({atR} R)
        </li>
      ))}
      {breakEven === null ? null : (
        <li data-done={breakEven.isDone || undefined}>
          {breakEven.isDone
            ? `✓ Stop moved to ${formatFullPrice(breakEven.stopLoss)}`
            : `Stop to ${formatFullPrice(breakEven.stopLoss)} at ${formatFullPrice(breakEven.atPrice)}`}
        </li>
      )}
      {trail === null ? null : (
        <li>Stop trails by {'distance' in trail ? formatFullPrice(trail.distance) : `${trail.percent} %`}</li>
      )}
      {until === null ? null : <li>Closes {formatInstant(until)}</li>}
      {problem === null ? null : <li data-failed>Not done yet, tried again: {problem}</li>}
      {ended === null ? null : <li data-failed>Ended: {ended}</li>}
    </ul>
  );
}
