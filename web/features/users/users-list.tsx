import { Button, Switch } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UsersAnswer } from '#contract/users.ts';
import { Select } from '#web/forms/select.tsx';
import { Pager } from '#web/lists/pager.tsx';
import { useLastPage } from '#web/lists/use-last-page.ts';
import { countPages, formatCount } from '../../lib/format.ts';
import { usersPath } from '../../lib/user-paths.ts';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState, ErrorBanner, ErrorState } from '../../ui/states.tsx';
import type { UserChange } from './change-user-dialog.tsx';
import { SearchField } from './search-field.tsx';
import classes from './users.module.css';
import {
  MAX_SEARCH_LENGTH,
  ORDER_CHOICES,
  orderInAddress,
  orderOf,
  type UsersSearch,
} from './users-search.ts';
import { UsersTable } from './users-table.tsx';

const PAGE_SIZE = 10;

const countText = (total: number): string => (total === 1 ? '1 user' : `${formatCount(total)} users`);

interface InactiveUsers {
  included: boolean;
  onInclude: (included: boolean) => void;
}

interface UsersListProps {
  search: UsersSearch;
  onSearch: (change: UsersSearch, how?: { replace: boolean }) => void;
  inactive: InactiveUsers;
  halted: ReadonlyMap<string, string>;
  onChange: (change: UserChange) => void;
}

export function UsersList({ search, onSearch, inactive, halted, onChange }: UsersListProps) {
  const { sort, direction } = search;
  const query = useQuery<UsersAnswer>({
    queryKey: [
      usersPath,
      {
        page: search.page ?? 1,
        limit: PAGE_SIZE,
        includeInactive: inactive.included,
        search: search.search,
        ...(sort === undefined ? {} : { sort, direction }),
      },
    ],
    placeholderData: keepPreviousData,
  });
  const { data } = query;
  const page = search.page ?? 1;
  const pageCount = countPages(data?.total, PAGE_SIZE);
  const failure = {
    title: 'Failed to fetch users',
    error: query.error,
    onRetry: () => void query.refetch(),
    retrying: query.isFetching,
  };

  useLastPage({ page, pageCount: query.isPlaceholderData ? undefined : pageCount });

  return (
    <Panel
      flush
      title="All Users"
      description={
        <span aria-live="polite">{data ? countText(data.total) : query.isError ? '' : 'Loading...'}</span>
      }
      aside={<UsersFilters search={search} onSearch={onSearch} inactive={inactive} />}
    >
      {query.isError && data ? <ErrorBanner {...failure} /> : null}
      {query.isError && !data ? (
        <ErrorState {...failure} />
      ) : data?.total === 0 ? (
        <NobodyFound search={search} onSearch={onSearch} />
      ) : (
        <UsersTable
          users={data?.users}
          pageSize={PAGE_SIZE}
          faded={query.isPlaceholderData}
          fetchedAtMs={query.dataUpdatedAt}
          order={orderOf(search)}
          onOrder={(order) => onSearch({ ...orderInAddress(order), page: undefined })}
          halted={halted}
          onChange={onChange}
        />
      )}
      <Pager
        page={page}
        pageCount={pageCount}
        onPage={(next) => onSearch({ page: next > 1 ? next : undefined })}
      />
    </Panel>
  );
}

/** The viewer is a user, so the list is empty only after a search. */
function NobodyFound({ search, onSearch }: Pick<UsersListProps, 'search' | 'onSearch'>) {
  if (search.search === undefined) return <EmptyState>No users found</EmptyState>;
  return (
    <EmptyState
      action={
        <Button
          size="xs"
          variant="default"
          onClick={() => onSearch({ search: undefined, page: undefined }, { replace: true })}
        >
          Show All Users
        </Button>
      }
    >
      No users match "{search.search}"
    </EmptyState>
  );
}

/** Changing a filter returns to page 1. */
function UsersFilters({
  search,
  onSearch,
  inactive,
}: Pick<UsersListProps, 'search' | 'onSearch' | 'inactive'>) {
  const order = orderOf(search);
  return (
    <>
      <SearchField
        label="Search users"
        value={search.search ?? ''}
        maxLength={MAX_SEARCH_LENGTH}
        // Replace the history entry, so that Back leaves the search, not just its last letter.
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
