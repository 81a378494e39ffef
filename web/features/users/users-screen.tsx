import { Button } from '@mantine/core';
import { IconArrowLeft, IconUserPlus } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { ButtonLink } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import type { UserChange } from './change-user.ts';
import { useIncludeInactive } from './include-inactive.ts';
import { UsersInfo } from './users-info.tsx';
import { UsersList } from './users-list.tsx';
import type { UsersSearch } from './users-search.ts';

const CreateUserDialog = lazy(() => import('./create-user-dialog.tsx'));
const ChangeUserDialog = lazy(() => import('./change-user-dialog.tsx'));

interface UsersScreenProps {
  search: UsersSearch;
  onSearch: (change: UsersSearch, how?: { replace: boolean }) => void;
  /** What new users and their passwords depend on; undefined while it is not known. */
  exchangeMode: ExchangeMode | undefined;
  /** Why users open nothing, by their ids. */
  halted: ReadonlyMap<string, string>;
}

export function UsersScreen({ search, onSearch, exchangeMode, halted }: UsersScreenProps) {
  const [change, setChange] = useState<UserChange | null>(null);
  const [included, setIncluded] = useIncludeInactive();
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
      <UsersList
        search={search}
        onSearch={onSearch}
        inactive={{ included, onInclude: setIncluded }}
        halted={halted}
        onChange={setChange}
      />
      <UsersInfo />
      <Suspense fallback={null}>
        {search.dialog === 'create' ? (
          <CreateUserDialog exchangeMode={exchangeMode} onClose={() => onSearch({ dialog: undefined })} />
        ) : null}
        {change ? (
          <ChangeUserDialog change={change} staysListed={included} onClose={() => setChange(null)} />
        ) : null}
      </Suspense>
    </Page>
  );
}
