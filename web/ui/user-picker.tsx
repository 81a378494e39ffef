import { Button, TextInput } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { EmptyState } from './states.tsx';
import classes from './user-picker.module.css';

interface UserPickerProps<User> {
  users: readonly User[];
  /** Without a chosen user the list is open. */
  userId: string | undefined;
  onChoose: (userId: string | undefined) => void;
  /** Shown beside a name. */
  badges: (user: User) => ReactNode;
}

/** Number of users that fit without scrolling; search finds the others. */
const SHOWN = 8;

/** Picks any user, by click or by part of the name. */
export function UserPicker<User extends { id: string; username: string }>(props: UserPickerProps<User>) {
  const { users, userId, onChoose, badges } = props;
  const [text, setText] = useState('');
  const [changing, setChanging] = useState(false);
  const countId = useId();
  if (userId !== undefined) {
    const chosen = users.find(({ id }) => id === userId);
    const change = () => {
      setChanging(true);
      onChoose(undefined);
    };
    return (
      <div className={classes.chosen}>
        <strong>{chosen?.username ?? userId}</strong>
        {chosen ? badges(chosen) : null}
        <Button size="compact-sm" variant="default" onClick={change}>
          Choose another user
        </Button>
      </div>
    );
  }
  const wanted = text.trim().toLowerCase();
  const found = users.filter(
    ({ id, username }) => username.toLowerCase().includes(wanted) || id.startsWith(wanted),
  );
  return (
    <div className={classes.picker}>
      <TextInput
        type="search"
        label="Search users"
        placeholder="Name or id"
        autoFocus={changing}
        value={text}
        aria-describedby={countId}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <p id={countId} className={classes.count} role="status">
        {found.length > SHOWN
          ? `${SHOWN} of ${found.length} users; type more of the name to narrow them down`
          : `${found.length} of ${users.length} users`}
      </p>
      {found.length === 0 ? <EmptyState>No user matches</EmptyState> : null}
      <ul className={classes.list}>
        {found.slice(0, SHOWN).map((user) => (
          <li key={user.id}>
            <button type="button" className={classes.user} onClick={() => onChoose(user.id)}>
              <span>{user.username}</span>
              {badges(user)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
