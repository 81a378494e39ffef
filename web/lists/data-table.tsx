import { useMediaQuery } from '@mantine/hooks';
import { type CSSProperties, memo, type ReactNode, useMemo } from 'react';
import cardClasses from './card-table.module.css';
import classes from './data-table.module.css';
import foldClasses from './fold-columns.module.css';
import { isHidden } from './hidden-columns.ts';
import { RowCards } from './row-cards.tsx';
import { AT_ONCE, isOnRow, PHONE, type RowPanel } from './row-panel.ts';
import { ariaSort, SortHead, type Sorting } from './sort-head.tsx';

interface TableColumn<Row> {
  id: string;
  header: string;
  align?: 'right';
  /** What the server calls the order by this column, if it can sort by it. */
  sort?: string;
  /** Narrow tables leave the column out: 1 goes first, 3 last. */
  fold?: 1 | 2 | 3;
  /** Keeps the column in view when a wide table scrolls; for the last column. */
  pinned?: true;
  /** The title of a row's card, without its header. */
  place?: 'title';
  cell: (row: Row) => ReactNode;
}

export type TableColumns<Row> = readonly TableColumn<Row>[];

export interface DataTableProps<Row> {
  /** Accessible name of the table. */
  label: string;
  columns: TableColumns<Row>;
  rows: readonly Row[] | undefined;
  emptyText: string;
  /** Width with all columns. */
  minWidth: number;
  /** Ids of hidden columns; the first column always stays. */
  hidden?: readonly string[];
  /** On a phone, a card per row. An empty cell (null) is a dash in the table and left out on its card. */
  cards?: boolean;
  /** The order of the rows, where heads can change it. */
  sorting?: Sorting | undefined;
  rowPanel?: RowPanel<Row> | undefined;
  /** On a phone, a card of two lines per row instead of the table. */
  card?: ((row: Row) => ReactNode) | undefined;
  skeletonRows?: number;
  /** The previous page's rows are shown while the next one loads. */
  faded?: boolean;
}

function DataTableView<Row extends { id: string }>(props: DataTableProps<Row>) {
  const { label, rows, emptyText, skeletonRows = 10, faded = false, hidden = NO_ROWS, cards = false } = props;
  const { sorting, rowPanel } = props;
  const columns = useMemo(
    () => props.columns.filter(({ id }, index) => !isHidden(hidden, id, index)),
    [props.columns, hidden],
  );
  const columnCount = columns.length;
  const minWidth = Math.round((props.minWidth * columnCount) / props.columns.length);

  const isPhone = useMediaQuery(PHONE, false, AT_ONCE);
  if (isPhone && props.card) {
    return <RowCards {...{ label, rows, emptyText, skeletonRows, faded, rowPanel }} card={props.card} />;
  }

  let body: ReactNode;
  if (rows === undefined) body = <SkeletonRows rows={skeletonRows} columns={columnCount} />;
  else if (rows.length === 0) {
    body = (
      <tr>
        <td colSpan={columnCount} className={classes.empty}>
          <span>{emptyText}</span>
        </td>
      </tr>
    );
  } else {
    body = rows.map((row) => (
      <tr
        key={row.id}
        data-opens={rowPanel ? true : undefined}
        data-selected={rowPanel?.opened === row.id || undefined}
        onClick={rowPanel && ((event) => isOnRow(event) && rowPanel.onOpen(row))}
      >
        {columns.map(({ id, header, align, pinned, place, fold, cell }) => {
          const content = cell(row);
          const onCard = cards
            ? {
                'data-label': place === undefined ? header : undefined,
                'data-place': place,
                'data-empty': content === null || undefined,
              }
            : {};
          return (
            <td key={id} data-align={align} data-pinned={pinned} data-fold={fold} {...onCard}>
              {cards ? (content ?? '–') : content}
            </td>
          );
        })}
      </tr>
    ));
  }

  return (
    <section
      className={[
        classes.scroll,
        foldClasses.table,
        cards ? cardClasses.cards : '',
        sorting ? foldClasses.sticky : '',
      ].join(' ')}
      data-scroll-region
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
    >
      <table
        className={classes.table}
        style={cards ? ({ '--min-width': `${minWidth}px` } as CSSProperties) : { minWidth }}
        aria-label={label}
        aria-busy={rows === undefined || faded || undefined}
        data-faded={faded || undefined}
      >
        <thead>
          <tr>
            {columns.map(({ id, align, pinned, header, sort, fold }) => (
              <th
                key={id}
                scope="col"
                data-align={align}
                data-pinned={pinned}
                data-fold={fold}
                aria-sort={sort && sorting ? ariaSort(sorting, sort) : undefined}
              >
                {sort && sorting ? <SortHead header={header} column={sort} sorting={sorting} /> : header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{body}</tbody>
      </table>
    </section>
  );
}

/**
 * Shows skeletons until there are rows. A wide table scrolls inside its own region. Memoised, so that opening a dialog
 * does not render a hundred rows again; pass stable props.
 */
export const DataTable = memo(DataTableView) as typeof DataTableView;

const NO_ROWS: readonly never[] = [];

function SkeletonRows({ rows, columns }: { rows: number; columns: number }) {
  return Array.from({ length: rows }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: skeleton rows have no identity
    <tr key={row} className={classes.skeletonRow} aria-hidden>
      {Array.from({ length: columns }, (_, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: skeleton cells have no identity
        <td key={column}>
          <span className={classes.skeleton} />
        </td>
      ))}
    </tr>
  ));
}
