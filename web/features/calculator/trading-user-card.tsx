import { useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { UserPicker } from '../../ui/user-picker.tsx';
import classes from './calculator.module.css';
import { useTradingUsers } from './calculator-data.ts';

interface TradingUserCardProps {
  /** The user in the URL, or the operator. */
  userId: string;
  ownId: string;
  onChoose: (userId: string) => void;
}

export function TradingUserCard({ userId, ownId, onChoose }: TradingUserCardProps) {
  const [choosing, setChoosing] = useState(false);
  return (
    <Panel title="Trading User">
      <QueryView query={useTradingUsers()} errorTitle="Failed to fetch users">
        {(users) => (
          <>
            <UserPicker
              users={users
                .map((user) => (user.id === ownId ? { ...user, username: `${user.username} (You)` } : user))
                .toSorted((a, b) => Number(b.id === ownId) - Number(a.id === ownId))}
              userId={choosing ? undefined : userId}
              onChoose={(id) => {
                setChoosing(id === undefined);
                if (id !== undefined) onChoose(id);
              }}
              badges={({ userActive, activeTradingEnabled }) => (
                <span className={classes.badges}>
                  <Badge tone={userActive ? 'success' : 'failure'}>
                    {userActive ? 'Active' : 'Inactive'}
                  </Badge>
                  <Badge tone={activeTradingEnabled ? 'accent' : 'neutral'}>
                    {activeTradingEnabled ? 'Trading On' : 'Trading Off'}
                  </Badge>
                </span>
              )}
            />
            {users.some(({ id }) => id === userId) ? null : (
              <p className={classes.quiet}>The address names a user who does not exist.</p>
            )}
          </>
        )}
      </QueryView>
    </Panel>
  );
}
