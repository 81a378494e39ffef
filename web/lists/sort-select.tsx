import { FilterSelect } from './filter-select.tsx';
import type { Order, Sorting } from './sort-head.tsx';

const ORDERS = [
  { value: 'time asc', label: 'Oldest first' },
  { value: 'token asc', label: 'By token' },
  { value: 'outcome asc', label: 'By outcome' },
];

/** The order of a list where there are no heads to choose it. */
export function SortSelect({ sorting: { sort, order, onSort } }: { sorting: Sorting }) {
  const value = `${sort} ${order}`;
  return (
    <FilterSelect
      label="Order"
      allLabel="Newest first"
      value={value === 'time desc' ? undefined : value}
      options={ORDERS}
      onChange={(chosen = 'time desc') => {
        const [by = 'time', direction] = chosen.split(' ');
        onSort(by, direction as Order);
      }}
    />
  );
}
