import { TextInput } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { EmptyState } from './states.tsx';
import classes from './user-picker.module.css';

/** Number of users that fit without scrolling; search finds the others. */
const SHOWN = 8;

export interface UserSearchProps<User> {
  users: readonly User[];
  onChoose: (userId: string | undefined) => void;
  /** Shown beside a name. */
  badges: (user: User) => ReactNode;
  autoFocus: boolean;
}

/** The users whose name or id contains a text. */
export default function UserSearch({
  users,
  onChoose,
  badges,
  autoFocus,
}: UserSearchProps<{ id: string; username: string }>) {
  const [text, setText] = useState('');
  const countId = useId();
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
        autoFocus={autoFocus}
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
