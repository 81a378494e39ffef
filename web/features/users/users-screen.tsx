import { Button, Switch } from '@mantine/core';
import { IconArrowLeft, IconUserPlus } from '@tabler/icons-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { formatInstant } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ErrorBanner, ErrorState } from '../../ui/states.tsx';
import type { UserChange } from './change-user.ts';
import { USERS_PAGE_SIZE, useUsers } from './get-users.ts';
import { usersColumns } from './users-columns.tsx';
import { UsersInfo } from './users-info.tsx';
import type { UsersSearch } from './users-search.ts';

const CreateUserDialog = lazy(() => import('./create-user-dialog.tsx'));
const ChangeUserDialog = lazy(() => import('./change-user-dialog.tsx'));

interface UsersScreenProps {
  search: UsersSearch;
  onSearch: (change: UsersSearch) => void;
}

export function UsersScreen({ search, onSearch }: UsersScreenProps) {
  const { user: currentUser, displayTimezone } = useSession();
  const page = search.page ?? 1;
  const users = useUsers({ page, includeInactive: search.includeInactive !== 'false' });
  const [change, setChange] = useState<UserChange | null>(null);
  const columns = useMemo(
    () =>
      usersColumns({
        currentUserId: currentUser.id,
        formatInstant: (instant) => formatInstant(instant, displayTimezone),
        onChange: setChange,
      }),
    [currentUser.id, displayTimezone],
  );
  const failure = { title: 'Failed to fetch users', error: users.error, onRetry: () => void users.refetch() };

  return (
    <Page
      title="Users"
      subtitle="Who may sign in, and for whom the automation trades"
      back={
        <div>
          <ButtonLink
            to="/admin"
            variant="subtle"
            size="xs"
            leftSection={<IconArrowLeft size={14} aria-hidden />}
          >
            Back to Admin
          </ButtonLink>
        </div>
      }
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
        description={users.data ? `${users.data.total} users` : 'Loading...'}
        aside={
          <Switch
            size="sm"
            label="Include inactive"
            checked={search.includeInactive !== 'false'}
            onChange={(event) =>
              onSearch({
                includeInactive: event.currentTarget.checked ? undefined : 'false',
                page: undefined,
              })
            }
          />
        }
      >
        {users.isError && users.data ? <ErrorBanner {...failure} retrying={users.isFetching} /> : null}
        {users.isError && !users.data ? (
          <ErrorState {...failure} retrying={users.isFetching} />
        ) : (
          <DataTable
            label="Users"
            columns={columns}
            rows={users.data?.users}
            rowId={(user) => user.id}
            emptyText="No users found"
            minWidth={1080}
          />
        )}
        <Pager
          page={page}
          pageCount={Math.ceil((users.data?.total ?? 0) / USERS_PAGE_SIZE)}
          onPage={(next) => onSearch({ page: next })}
        />
      </Panel>
      <UsersInfo />
      <Suspense fallback={null}>
        {search.dialog === 'create' ? (
          <CreateUserDialog onClose={() => onSearch({ dialog: undefined })} />
        ) : null}
        {change ? <ChangeUserDialog change={change} onClose={() => setChange(null)} /> : null}
      </Suspense>
    </Page>
  );
}
