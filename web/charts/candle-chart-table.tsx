import { displayTimeframe } from '#domain/timeframe.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import classes from './candle-chart.module.css';
import { type CandlePicture, describeEvents } from './candle-chart-picture.ts';

const PRICES = ['open', 'high', 'low', 'close'] as const;

/** All that the picture shows, to be read: the newest candle first. */
export default function CandleTable({ picture }: { picture: CandlePicture }) {
  const formatInstant = useFormatInstant();
  const { token, timeframe, candles, fills } = picture;
  const events = describeEvents(picture, formatInstant);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={classes.tables} aria-label={`Figures of ${token}`} tabIndex={0}>
      {events.length > 0 ? (
        <ul className={classes.events}>
          {events.map((event) => (
            <li key={event}>{event}</li>
          ))}
        </ul>
      ) : null}
      {fills.length > 0 ? (
        <table className={classes.table} aria-label="Fills">
          <thead>
            <tr>
              <th scope="col">Filled</th>
              <th scope="col" data-text>
                User
              </th>
              <th scope="col" data-text>
                Side
              </th>
              <th scope="col">Quantity</th>
              <th scope="col">Average Price</th>
            </tr>
          </thead>
          <tbody>
            {fills.map((fill, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a user may fill twice at the same moment
              <tr key={index}>
                <td>{formatInstant(fill.time)}</td>
                <td data-text>{fill.username}</td>
                <td data-text className={fill.side}>
                  {fill.side}
                </td>
                <td>{fill.quantity}</td>
                <td>{fill.averagePrice}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      <table className={classes.table} aria-label={`Candles of ${token} ${displayTimeframe(timeframe)}`}>
        <thead>
          <tr>
            <th scope="col">Candle Time</th>
            {PRICES.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {candles.toReversed().map((candle) => (
            <tr key={candle.time}>
              <td>{formatInstant(candle.time)}</td>
              {PRICES.map((name) => (
                <td key={name}>{candle[name]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
