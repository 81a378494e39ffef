import classes from './sort-head.module.css';

export type Order = 'asc' | 'desc';

/** The order of a list, and how a head changes it. */
export interface Sorting {
  sort: string;
  order: Order;
  onSort: (sort: string, order: Order) => void;
}

/** Times begin with the newest, everything else with the first. */
const FIRST: Readonly<Record<string, Order>> = { time: 'desc' };

export const ariaSort = ({ sort, order }: Sorting, column: string) =>
  sort !== column ? 'none' : order === 'asc' ? 'ascending' : 'descending';

/** The head of a column by which the server sorts; another click turns the order around. */
export function SortHead({ header, column, sorting }: { header: string; column: string; sorting: Sorting }) {
  const { sort, order, onSort } = sorting;
  const first = FIRST[column] ?? 'asc';
  const next = sort !== column ? first : order === 'asc' ? 'desc' : 'asc';
  return (
    <button
      type="button"
      className={classes.sort}
      data-order={sort === column ? order : undefined}
      onClick={() => onSort(column, next)}
    >
      {header}
    </button>
  );
}
