import { Button } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { type TradingUser, useTradingUsers } from './calculator-data.ts';
import classes from './trading-user.module.css';

const loadSearch = () => import('./trading-user-search.tsx');
const TradingUserSearch = lazy(loadSearch);
const prepareSearch = () => void loadSearch().catch(() => {});

interface TradingUserCardProps {
  /** The user in the URL, or the operator. */
  userId: string;
  ownId: string;
  onChoose: (userId: string) => void;
}

export function TradingUserCard({ userId, ownId, onChoose }: TradingUserCardProps) {
  return (
    <Panel title="Trading User">
      <QueryView query={useTradingUsers()} errorTitle="Failed to fetch users">
        {(users) => <Choice users={users} userId={userId} ownId={ownId} onChoose={onChoose} />}
      </QueryView>
    </Panel>
  );
}

function Choice({ users, userId, ownId, onChoose }: TradingUserCardProps & { users: TradingUser[] }) {
  const [opened, setOpened] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const chosen = users.find(({ id }) => id === userId);
  const close = () => {
    setOpened(false);
    button.current?.focus();
  };
  return (
    <div className={classes.choice}>
      <Button
        ref={button}
        fullWidth
        variant="default"
        className={classes.button}
        rightSection={<IconSelector size={16} aria-hidden />}
        aria-expanded={opened}
        onPointerEnter={prepareSearch}
        onFocus={prepareSearch}
        onClick={() => setOpened(!opened)}
        onKeyDown={({ key }) => key === 'Escape' && setOpened(false)}
      >
        <span className="visually-hidden">Trading User: </span>
        {chosen ? <UserEntry user={chosen} ownId={ownId} /> : 'Select a user'}
      </Button>
      {opened ? (
        <Suspense fallback={null}>
          <TradingUserSearch
            users={users.toSorted((a, b) => Number(b.id === ownId) - Number(a.id === ownId))}
            chosenId={chosen?.id}
            renderUser={(user) => <UserEntry user={user} ownId={ownId} />}
            onClose={close}
            onLeave={() => setOpened(false)}
            onChoose={(id) => {
              close();
              onChoose(id);
            }}
          />
        </Suspense>
      ) : null}
      {chosen ? null : <p className={classes.unknown}>The address names a user who does not exist.</p>}
    </div>
  );
}

function UserEntry({ user, ownId }: { user: TradingUser; ownId: string }) {
  return (
    <span className={classes.entry}>
      <span className={classes.name}>
        {user.username}
        {user.id === ownId ? ' (You)' : ''}
      </span>
      <span className={classes.badges}>
        <Badge tone={user.userActive ? 'success' : 'failure'}>
          {user.userActive ? 'Active' : 'Inactive'}
        </Badge>
        <Badge tone={user.activeTradingEnabled ? 'accent' : 'neutral'}>
          {user.activeTradingEnabled ? 'Trading On' : 'Trading Off'}
        </Badge>
      </span>
    </span>
  );
}
