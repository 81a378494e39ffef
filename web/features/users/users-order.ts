import type { UserSort } from '#contract/users.ts';
import type { UsersSearch } from './users-search.ts';

type SortDirection = 'asc' | 'desc';

export interface UsersOrder {
  sort: UserSort;
  direction: SortDirection;
}

/** Initial direction of each column, and the name of each direction where there are no column headers. */
const SORTS: Record<UserSort, { first: SortDirection; asc: string; desc: string }> = {
  createdAt: { first: 'desc', asc: 'Oldest first', desc: 'Newest first' },
  username: { first: 'asc', asc: 'Username A to Z', desc: 'Username Z to A' },
  name: { first: 'asc', asc: 'Name A to Z', desc: 'Name Z to A' },
  activeTrading: { first: 'desc', asc: 'Active trading last', desc: 'Active trading first' },
  isActive: { first: 'desc', asc: 'Inactive first', desc: 'Active first' },
};

/** The server's default order. */
const NEWEST_FIRST: UsersOrder = { sort: 'createdAt', direction: 'desc' };

type OrderInAddress = Pick<UsersSearch, 'sort' | 'direction'>;

/** The order in a URL; a direction without a column is ignored. */
export function orderOf({ sort, direction }: OrderInAddress): UsersOrder {
  return sort === undefined ? NEWEST_FIRST : { sort, direction: direction ?? SORTS[sort].first };
}

/** The URL parameters of an order; none for the default. */
export function orderInAddress({ sort, direction }: UsersOrder): Required<OrderInAddress> {
  const isUsual = sort === NEWEST_FIRST.sort && direction === NEWEST_FIRST.direction;
  return isUsual ? { sort: undefined, direction: undefined } : { sort, direction };
}

/** Clicking a column's header reverses its order, or starts with its initial one. */
export function orderAfterClick(current: UsersOrder, sort: UserSort): UsersOrder {
  if (current.sort !== sort) return { sort, direction: SORTS[sort].first };
  return { sort, direction: current.direction === 'asc' ? 'desc' : 'asc' };
}

export const ORDER_CHOICES = (Object.keys(SORTS) as UserSort[]).flatMap((sort) => {
  const directions: SortDirection[] = SORTS[sort].first === 'asc' ? ['asc', 'desc'] : ['desc', 'asc'];
  return directions.map((direction) => ({
    value: `${sort} ${direction}`,
    label: SORTS[sort][direction],
    order: { sort, direction },
  }));
});
