import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { User, UserSort } from '#contract/users.ts';
import tableClasses from '../../lists/data-table.module.css';
import type { UserChange } from './change-user-dialog.tsx';
import { UserRow } from './user-row.tsx';
import classes from './users.module.css';
import { orderAfterClick, type UsersOrder } from './users-search.ts';

const COLUMNS: { header: string; sort?: UserSort }[] = [
  { header: 'ID' },
  { header: 'Username', sort: 'username' },
  { header: 'Name', sort: 'name' },
  { header: 'Mobile' },
  { header: 'Role' },
  { header: 'Sizing' },
  { header: 'Active Trading', sort: 'activeTrading' },
  { header: 'Status', sort: 'isActive' },
  { header: 'Created', sort: 'createdAt' },
  { header: 'Settings' },
];

interface UsersTableProps {
  /** Undefined while the first page is fetched. */
  users: readonly User[] | undefined;
  /** Number of skeleton rows until then. */
  pageSize: number;
  /** The previous page's rows are shown while the next one loads. */
  faded: boolean;
  /** When the rows were fetched, in milliseconds. */
  fetchedAtMs: number;
  order: UsersOrder;
  onOrder: (order: UsersOrder) => void;
  /** By user id: why the user opens no positions. */
  halted: ReadonlyMap<string, string>;
  onChange: (change: UserChange) => void;
}

/** A table where it fits, else a card per user. */
export function UsersTable(props: UsersTableProps) {
  const { users, pageSize, faded, fetchedAtMs, order, onOrder, halted, onChange } = props;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className={`${tableClasses.scroll} ${classes.users}`} aria-label="Users" tabIndex={0}>
      <table
        className={tableClasses.table}
        aria-label="Users"
        aria-busy={users === undefined || faded || undefined}
        data-faded={faded || undefined}
      >
        <thead>
          <tr>
            {COLUMNS.map(({ header, sort }) =>
              sort === undefined ? (
                <th key={header} scope="col">
                  {header}
                </th>
              ) : (
                <SortableHeader key={header} header={header} sort={sort} order={order} onOrder={onOrder} />
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {users === undefined
            ? Array.from({ length: pageSize }, (_, at) => <SkeletonRow key={`skeleton-${String(at)}`} />)
            : users.map((user) => (
                <UserRow
                  key={user.id}
                  user={user}
                  fetchedAtMs={fetchedAtMs}
                  haltedBecause={halted.get(user.id)}
                  onChange={onChange}
                />
              ))}
        </tbody>
      </table>
    </section>
  );
}

interface SortableHeaderProps extends Pick<UsersTableProps, 'order' | 'onOrder'> {
  header: string;
  sort: UserSort;
}

function SortableHeader({ header, sort, order, onOrder }: SortableHeaderProps) {
  const direction = order.sort === sort ? order.direction : null;
  const Arrow = (direction ?? 'asc') === 'asc' ? IconArrowUp : IconArrowDown;
  return (
    <th scope="col" aria-sort={direction ? (direction === 'asc' ? 'ascending' : 'descending') : 'none'}>
      <button
        type="button"
        className={classes.sort}
        data-sorted={direction !== null || undefined}
        onClick={() => onOrder(orderAfterClick(order, sort))}
      >
        {header}
        <Arrow size={13} aria-hidden />
      </button>
    </th>
  );
}

function SkeletonRow() {
  return (
    <tr className={tableClasses.skeletonRow} aria-hidden>
      {COLUMNS.map(({ header }) => (
        <td key={header}>
          <span className={tableClasses.skeleton} />
        </td>
      ))}
    </tr>
  );
}
