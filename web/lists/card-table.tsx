import { type CSSProperties, Fragment, type ReactNode } from 'react';
import classes from './card-table.module.css';
import tableClasses from './data-table.module.css';
import { isOnRow, type RowPanel } from './row-panel.ts';

export interface CardColumn<Row> {
  header: string;
  align?: 'right';
  /** Shown in the table instead of the header's text, such as a button that sorts. */
  head?: ReactNode;
  sorted?: 'ascending' | 'descending' | 'none';
  /**
   * Place on a card: the title at the top without its header, the action in the corner beside it. `card`: shown only on
   * cards, instead of all columns but `select` and `action`.
   */
  place?: 'title' | 'action' | 'card' | 'select';
  /** Left out of a table that has little space; a card shows it. */
  isSpare?: boolean;
  /** Null shows a dash in the table and nothing on a card. */
  cell: (row: Row) => ReactNode;
}

interface CardTableProps<Row> {
  /** Accessible name of the table. */
  label: string;
  columns: readonly CardColumn<Row>[];
  rows: readonly Row[];
  rowId: (row: Row) => string;
  emptyText: string;
  /** Minimum width of the table; in less space it scrolls inside its own region. */
  minWidth: number;
  /** Rows of one group stand together, below its head. */
  groups?: { of: (row: Row) => string; head: (name: string, rows: readonly Row[]) => ReactNode } | undefined;
  /** Shown below the row. */
  note?: (row: Row) => ReactNode;
  rowPanel?: RowPanel<Row>;
  /** Rows of the previous filters are shown while the next ones load. */
  faded?: boolean;
}

/** A table where it fits, else a card per row. */
export function CardTable<Row>(props: CardTableProps<Row>) {
  const { label, columns, rows, rowId, emptyText, minWidth, groups, note, rowPanel, faded = false } = props;
  const grouped = groups === undefined ? [['', rows] as const] : [...Map.groupBy(rows, groups.of)];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={`${tableClasses.scroll} ${classes.cards}`} aria-label={label} tabIndex={0}>
      <table
        className={tableClasses.table}
        style={{ '--min-width': `${minWidth}px` } as CSSProperties}
        aria-label={label}
        aria-busy={faded || undefined}
        data-faded={faded || undefined}
      >
        <thead>
          <tr>
            {columns.map(({ header, head = header, align, sorted, place, isSpare }) => (
              <th
                key={header}
                scope="col"
                data-align={align}
                data-place={place}
                data-spare={isSpare}
                aria-sort={sorted}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.length === 0 ? (
            <tr>
              <td colSpan={columns.length} className={tableClasses.empty}>
                {emptyText}
              </td>
            </tr>
          ) : null}
          {grouped.map(([name, members]) => (
            <Fragment key={name}>
              {groups === undefined ? null : (
                <tr className={classes.group}>
                  <th colSpan={columns.length} scope="rowgroup">
                    {groups.head(name, members)}
                  </th>
                </tr>
              )}
              {members.map((row) => (
                <Row
                  key={rowId(row)}
                  columns={columns}
                  row={row}
                  note={note?.(row) ?? null}
                  isOpened={rowPanel !== undefined && rowPanel.opened === rowId(row)}
                  onOpen={rowPanel && (() => rowPanel.onOpen(row))}
                />
              ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row<Item>(props: {
  columns: readonly CardColumn<Item>[];
  row: Item;
  note: ReactNode;
  isOpened: boolean;
  onOpen: (() => void) | undefined;
}) {
  const { columns, row, note, isOpened, onOpen } = props;
  return (
    <>
      <tr
        data-noted={note === null ? undefined : true}
        data-opens={onOpen ? true : undefined}
        data-selected={isOpened || undefined}
        onClick={onOpen && ((event) => isOnRow(event) && onOpen())}
      >
        {columns.map((column) => (
          <Cell key={column.header} column={column} row={row} />
        ))}
      </tr>
      {note === null ? null : (
        <tr className={classes.note}>
          <td colSpan={columns.length}>{note}</td>
        </tr>
      )}
    </>
  );
}

function Cell<Row>({ column, row }: { column: CardColumn<Row>; row: Row }) {
  const { header, align, place, isSpare, cell } = column;
  const content = cell(row);
  return (
    <td
      data-align={align}
      data-label={place === undefined ? header : undefined}
      data-place={place}
      data-spare={isSpare}
      data-empty={content === null || undefined}
    >
      {content ?? '–'}
    </td>
  );
}
