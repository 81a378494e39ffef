import type { ReactNode } from 'react';
import classes from './row-cards.module.css';
import { isOnRow, type RowPanel } from './row-panel.ts';

interface RowCardsProps<Row> {
  label: string;
  rows: readonly Row[] | undefined;
  card: (row: Row) => ReactNode;
  rowPanel: RowPanel<Row> | undefined;
  emptyText: string;
  skeletonRows: number;
  faded: boolean;
}

/** On a phone, a card of two lines per row. */
export function RowCards<Row extends { id: string }>(props: RowCardsProps<Row>) {
  const { label, rows, card, rowPanel, emptyText, skeletonRows, faded } = props;
  if (rows?.length === 0) return <p className={classes.empty}>{emptyText}</p>;
  return (
    <ul
      className={classes.list}
      aria-label={label}
      aria-busy={rows === undefined || faded || undefined}
      data-faded={faded || undefined}
    >
      {rows === undefined
        ? Array.from({ length: skeletonRows }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: skeleton rows have no identity
            <li key={row} className={classes.card} aria-hidden>
              <span className={classes.bone} />
              <span className={classes.bone} />
            </li>
          ))
        : rows.map((row) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: a button on the card does the same
            <li
              key={row.id}
              className={classes.card}
              data-opens={rowPanel ? true : undefined}
              data-selected={rowPanel?.opened === row.id || undefined}
              onClick={rowPanel && ((event) => isOnRow(event) && rowPanel.onOpen(row))}
            >
              {card(row)}
            </li>
          ))}
    </ul>
  );
}
