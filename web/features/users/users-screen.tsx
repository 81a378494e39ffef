import { Button } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { readChoice, storeChoice } from '../../lib/stored-choice.ts';
import { BackLink } from '../../ui/link.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import type { UserChange } from './change-user-dialog.tsx';
import classes from './users.module.css';
import { UsersList } from './users-list.tsx';
import type { UsersSearch } from './users-search.ts';

const CreateUserDialog = lazy(() => import('./create-user-dialog.tsx'));
const ChangeUserDialog = lazy(() => import('./change-user-dialog.tsx'));

/** Stores whether this browser's list includes inactive users; it does by default. */
const INACTIVE_KEY = 'users-include-inactive';

interface UsersScreenProps {
  search: UsersSearch;
  onSearch: (change: UsersSearch, how?: { replace: boolean }) => void;
  /** Determines the type and password rules of new users; undefined while unknown. */
  exchangeMode: ExchangeMode | undefined;
  /** By user id: why the user opens no positions. */
  halted: ReadonlyMap<string, string>;
}

export function UsersScreen({ search, onSearch, exchangeMode, halted }: UsersScreenProps) {
  const [change, setChange] = useState<UserChange | null>(null);
  const [included, setIncluded] = useState(() => readChoice(INACTIVE_KEY) !== 'false');
  const include = (next: boolean) => {
    setIncluded(next);
    storeChoice(INACTIVE_KEY, String(next));
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
      <UsersList
        search={search}
        onSearch={onSearch}
        inactive={{ included, onInclude: include }}
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
