import type { ReactNode } from 'react';
import { displayTimeframe } from '#domain/timeframe.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';
import classes from './candle-chart.module.css';
import { type CandlePicture, describeEvents } from './candle-chart-picture.ts';

const PRICES = ['open', 'high', 'low', 'close'] as const;

/** The chart's data as tables, newest candle first. */
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
        <Table label="Fills" headers={['Filled', 'User', 'Side', 'Quantity', 'Average Price']} texts={[1, 2]}>
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
        </Table>
      ) : null}
      <Table
        label={`Candles of ${token} ${displayTimeframe(timeframe)}`}
        headers={['Candle Time', ...PRICES]}
      >
        {candles.toReversed().map((candle) => (
          <tr key={candle.time}>
            <td>{formatInstant(candle.time)}</td>
            {PRICES.map((name) => (
              <td key={name}>{candle[name]}</td>
            ))}
          </tr>
        ))}
      </Table>
    </section>
  );
}

interface TableProps {
  label: string;
  headers: readonly string[];
  /** Indexes of text columns other than the first. */
  texts?: readonly number[];
  children: ReactNode;
}

function Table({ label, headers, texts = [], children }: TableProps) {
  return (
    <table className={classes.table} aria-label={label}>
      <thead>
        <tr>
          {headers.map((header, index) => (
            <th key={header} scope="col" data-text={texts.includes(index) || undefined}>
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
