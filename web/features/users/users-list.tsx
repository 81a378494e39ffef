import { Button } from '@mantine/core';
import { Pager } from '#web/lists/pager.tsx';
import { useLastPage } from '#web/lists/use-last-page.ts';
import { countPages } from '../../lib/format.ts';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState, ErrorBanner, ErrorState } from '../../ui/states.tsx';
import type { UserChange } from './change-user.ts';
import { USERS_PAGE_SIZE, useUsers } from './get-users.ts';
import { countText } from './user-text.ts';
import { type InactiveUsers, UsersFilters } from './users-filters.tsx';
import { orderInAddress, orderOf } from './users-order.ts';
import type { UsersSearch } from './users-search.ts';
import { UsersTable } from './users-table.tsx';

interface UsersListProps {
  search: UsersSearch;
  onSearch: (change: UsersSearch, how?: { replace: boolean }) => void;
  inactive: InactiveUsers;
  halted: ReadonlyMap<string, string>;
  onChange: (change: UserChange) => void;
}

/** All users, a page at a time. */
export function UsersList({ search, onSearch, inactive, halted, onChange }: UsersListProps) {
  const query = useUsers({ ...search, includeInactive: inactive.included });
  const { data } = query;
  const page = search.page ?? 1;
  const pageCount = countPages(data?.total, USERS_PAGE_SIZE);
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

/** The one who looks is a user: an empty list has been searched. */
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
