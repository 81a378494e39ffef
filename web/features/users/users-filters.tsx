import { Switch } from '@mantine/core';
import { Select } from '#web/forms/select.tsx';
import { SearchField } from './search-field.tsx';
import { ORDER_CHOICES, orderInAddress, orderOf } from './users-order.ts';
import { MAX_SEARCH_LENGTH, type UsersSearch } from './users-search.ts';
import classes from './users-table.module.css';

export interface InactiveUsers {
  included: boolean;
  onInclude: (included: boolean) => void;
}

interface UsersFiltersProps {
  search: UsersSearch;
  onSearch: (change: UsersSearch, how?: { replace: boolean }) => void;
  inactive: InactiveUsers;
}

/** Changing what is listed goes back to page 1. */
export function UsersFilters({ search, onSearch, inactive }: UsersFiltersProps) {
  const order = orderOf(search);
  return (
    <>
      <SearchField
        label="Search users"
        value={search.search ?? ''}
        maxLength={MAX_SEARCH_LENGTH}
        // One step back leaves the search, not its last letter.
        onSearch={(text) =>
          onSearch({ search: text || undefined, page: undefined }, { replace: search.search !== undefined })
        }
      />
      <Select
        className={classes.order}
        size="xs"
        aria-label="Order"
        data={ORDER_CHOICES.map(({ label }, at) => ({ value: String(at), label }))}
        value={String(
          ORDER_CHOICES.findIndex(
            ({ sort, direction }) => sort === order.sort && direction === order.direction,
          ),
        )}
        onChange={(event) => {
          const choice = ORDER_CHOICES[Number(event.currentTarget.value)];
          if (choice) {
            const { sort, direction } = choice;
            onSearch({ ...orderInAddress({ sort, direction }), page: undefined });
          }
        }}
      />
      <Switch
        size="sm"
        label="Include inactive"
        checked={inactive.included}
        onChange={(event) => {
          inactive.onInclude(event.currentTarget.checked);
          onSearch({ page: undefined });
        }}
      />
    </>
  );
}
