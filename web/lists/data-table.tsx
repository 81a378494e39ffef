import { memo, type ReactNode, useMemo } from 'react';
import classes from './data-table.module.css';
import { isHidden } from './hidden-columns.ts';

interface TableColumn<Row> {
  id: string;
  header: string;
  align?: 'right';
  /** Keeps the column in view when a wide table scrolls; for the last column. */
  pinned?: true;
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
  skeletonRows?: number;
  /** The previous page's rows are shown while the next one loads. */
  faded?: boolean;
}

function DataTableView<Row extends { id: string }>(props: DataTableProps<Row>) {
  const { label, rows, emptyText, skeletonRows = 10, faded = false, hidden = NO_ROWS } = props;
  const columns = useMemo(
    () => props.columns.filter(({ id }, index) => !isHidden(hidden, id, index)),
    [props.columns, hidden],
  );
  const columnCount = columns.length;
  const minWidth = Math.round((props.minWidth * columnCount) / props.columns.length);

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
      <tr key={row.id}>
        {columns.map(({ id, align, pinned, cell }) => (
          <td key={id} data-align={align} data-pinned={pinned}>
            {cell(row)}
          </td>
        ))}
      </tr>
    ));
  }

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={classes.scroll} data-scroll-region aria-label={label} tabIndex={0}>
      <table
        className={classes.table}
        style={{ minWidth }}
        aria-label={label}
        aria-busy={rows === undefined || faded || undefined}
        data-faded={faded || undefined}
      >
        <thead>
          <tr>
            {columns.map(({ id, align, pinned, header }) => (
              <th key={id} scope="col" data-align={align} data-pinned={pinned}>
                {header}
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
