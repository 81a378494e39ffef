import { Button, Switch } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ListedTradingState } from '#contract/overview.ts';
import type { TradingStopView } from '#contract/trading-stops.ts';
import type { UsersAnswer } from '#contract/users.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { Select } from '#web/forms/select.tsx';
import { CardTable } from '#web/lists/card-table.tsx';
import { Pager } from '#web/lists/pager.tsx';
import { SearchField } from '#web/lists/search-field.tsx';
import { useLastPage } from '#web/lists/use-last-page.ts';
import { countPages, formatCount } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { readChoice, storeChoice } from '../../lib/stored-choice.ts';
import { useTradingStops } from '../../lib/trading-stops.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { usersPath } from '../../lib/user-paths.ts';
import { lazily } from '../../ui/lazily.tsx';
import { BackLink } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { EmptyState } from '../../ui/states.tsx';
import type { UserChange } from './change-user-dialog.tsx';

import classes from './users.module.css';
import { usersColumns } from './users-columns.tsx';
import { ORDER_CHOICES, orderInAddress, orderOf, type UsersOrder } from './users-order.ts';
import { MAX_SEARCH_LENGTH, type UsersSearch } from './users-search.ts';

const CreateUserDialog = lazily(() => import('./create-user-dialog.tsx'));
const DecisionsDialog = lazily(() => import('#web/lists/decisions-dialog.tsx'));
const ChangeUserDialog = lazily(() => import('./change-user-dialog.tsx'));

/** Stores whether this browser's list includes inactive users; it does by default. */
const INACTIVE_KEY = 'users-include-inactive';
const PAGE_SIZE = 10;

interface UsersScreenProps {
  search: UsersSearch;
  onSearch: (change: UsersSearch, how?: { replace: boolean }) => void;
  /** Determines the type and password rules of new users; undefined while unknown. */
  exchangeMode: ExchangeMode | undefined;
  /** By user id: whether new positions are opened for the user. */
  states: ReadonlyMap<string, ListedTradingState>;
}

export function UsersScreen({ search, onSearch, exchangeMode, states }: UsersScreenProps) {
  const [change, setChange] = useState<UserChange | null>(null);
  const [includeInactive, setIncludeInactive] = useState(() => readChoice(INACTIVE_KEY) !== 'false');
  const { user } = useSession();
  const formatInstant = useFormatInstant();
  const { page = 1, sort, direction } = search;
  const paging = { page, limit: PAGE_SIZE, includeInactive, search: search.search };
  const query = useQuery<UsersAnswer>({
    queryKey: [usersPath, sort === undefined ? paging : { ...paging, sort, direction }],
    placeholderData: keepPreviousData,
  });
  const stops = useTradingStops();
  const { data, isPlaceholderData } = query;
  const pageCount = countPages(data?.total, PAGE_SIZE);
  useLastPage({ page, pageCount: isPlaceholderData ? undefined : pageCount });

  // A filter or another order returns to page 1.
  const order = orderOf(search);
  const onOrder = (next: UsersOrder) => onSearch({ ...orderInAddress(next), page: undefined });
  const include = (next: boolean) => {
    setIncludeInactive(next);
    storeChoice(INACTIVE_KEY, String(next));
    onSearch({ page: undefined });
  };

  return (
    <Page
      title="Users"
      subtitle="Who may sign in, and for whom the automation trades"
      back={<BackLink to="/admin">Back to Admin</BackLink>}
      actions={
        <Button
          leftSection={<IconUserPlus size={16} aria-hidden />}
          onClick={() => onSearch({ dialog: 'create' })}
        >
          Create New User
        </Button>
      }
    >
      <Panel
        flush
        title="All Users"
        description={<span aria-live="polite">{countText(data?.total, query.isError)}</span>}
        aside={
          <>
            <SearchField
              label="Search users"
              value={search.search ?? ''}
              maxLength={MAX_SEARCH_LENGTH}
              // Replace the history entry, so that Back leaves the search, not just its last letter.
              onSearch={(text) =>
                onSearch(
                  { search: text || undefined, page: undefined },
                  { replace: search.search !== undefined },
                )
              }
            />
            <Select
              className={classes.order}
              size="xs"
              aria-label="Order"
              data={ORDER_CHOICES}
              value={`${order.sort} ${order.direction}`}
              onChange={({ currentTarget: { value } }) => {
                const choice = ORDER_CHOICES.find((one) => one.value === value);
                if (choice) onOrder(choice.order);
              }}
            />
            <Switch
              size="sm"
              classNames={{ label: classes.switchLabel ?? '' }}
              label="Include inactive"
              checked={includeInactive}
              onChange={(event) => include(event.currentTarget.checked)}
            />
          </>
        }
      >
        <QueryView query={query} errorTitle="Failed to fetch users">
          {({ users, total }) =>
            total === 0 ? (
              <NobodyFound search={search} onSearch={onSearch} />
            ) : (
              <div className={classes.users}>
                <CardTable
                  label="Users"
                  columns={usersColumns({
                    ownId: user.id,
                    formatInstant,
                    order,
                    stopped: stoppedUsers(stops.data ?? []),
                    onOrder,
                    states,
                    onDecisions: (id) => onSearch({ dialog: 'decisions', user: id }),
                    onChange: setChange,
                  })}
                  rows={users}
                  rowId={({ id }) => id}
                  emptyText="No users found"
                  minWidth={860}
                  faded={isPlaceholderData}
                />
              </div>
            )
          }
        </QueryView>
        <Pager
          page={page}
          pageCount={pageCount}
          onPage={(next) => onSearch({ page: next > 1 ? next : undefined })}
        />
      </Panel>
      <UsersInfo />
      {search.dialog === 'create' ? (
        <CreateUserDialog exchangeMode={exchangeMode} onClose={() => onSearch({ dialog: undefined })} />
      ) : null}
      {search.dialog === 'decisions' && search.user !== undefined ? (
        <DecisionsDialog
          userId={search.user}
          username={data?.users.find(({ id }) => id === search.user)?.username ?? 'user'}
          onClose={() => onSearch({ dialog: undefined, user: undefined })}
        />
      ) : null}
      {change ? (
        <ChangeUserDialog change={change} staysListed={includeInactive} onClose={() => setChange(null)} />
      ) : null}
    </Page>
  );
}

function countText(total: number | undefined, failed: boolean): string {
  if (total === undefined) return failed ? '' : 'Loading...';
  return total === 1 ? '1 user' : `${formatCount(total)} users`;
}

/** The viewer is a user, so the list is empty only after a search. */
function NobodyFound({ search, onSearch }: Pick<UsersScreenProps, 'search' | 'onSearch'>) {
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

function UsersInfo() {
  return (
    <Panel title="About users">
      <ul className={classes.info}>
        <li>The username is an e-mail address; it is what the user signs in with.</li>
        <li>
          Active trading decides whether the system executes positions automatically for a user when signals
          arrive. It is off for a new user.
        </li>
        <li>
          Inactive users cannot log in, but their data is kept. Switch 'Include inactive' off to hide them in
          the table; this browser remembers it. Nobody can deactivate the own account.
        </li>
        <li>
          The automation trades for test users in paper and demo mode, and for regular users in live mode.
        </li>
        <li>
          A new user starts with default trading settings; open Settings in the user's row to change them.
        </li>
      </ul>
    </Panel>
  );
}

/** Pauses are shown from the settings. */
const stoppedUsers = (stops: readonly TradingStopView[]): ReadonlyMap<string, string> =>
  new Map(
    stops.flatMap(({ scope, createdBy, reason }) =>
      scope.kind !== 'user' || scope.value === null || createdBy === null
        ? []
        : [[scope.value, `New entries stopped by ${createdBy}${reason === null ? '' : `: ${reason}`}`]],
    ),
  );
