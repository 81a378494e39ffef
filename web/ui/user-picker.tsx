import { Button, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { Badge } from './badge.tsx';
import { EmptyState } from './states.tsx';
import classes from './user-picker.module.css';

export interface PickableUser {
  id: string;
  username: string;
  /** The user's status in the list, e.g. 'eligible'. */
  status: string;
}

interface UserPickerProps {
  users: readonly PickableUser[];
  /** The user in the URL; without one the list is open. */
  userId: string | undefined;
  onChoose: (userId: string | undefined) => void;
}

/** Number of users that fit without scrolling; search finds the others. */
const SHOWN = 8;

/** Picks any user, by click or by part of the name. */
export function UserPicker({ users, userId, onChoose }: UserPickerProps) {
  const [text, setText] = useState('');
  const countId = useId();
  if (userId !== undefined) {
    const chosen = users.find(({ id }) => id === userId);
    return (
      <div className={classes.chosen}>
        <strong>{chosen?.username ?? userId}</strong>
        <Button size="compact-sm" variant="default" onClick={() => onChoose(undefined)}>
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
        {found.slice(0, SHOWN).map(({ id, username, status }) => (
          <li key={id}>
            <button type="button" className={classes.user} onClick={() => onChoose(id)}>
              <span>{username}</span>
              <Badge tone={status === 'eligible' ? 'success' : 'neutral'}>{statusLabel(status)}</Badge>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** 'Eligible' or 'Not eligible'; other statuses are shown as received. */
export function statusLabel(status: string): string {
  if (status === 'eligible') return 'Eligible';
  return status === 'not eligible' ? 'Not eligible' : status;
}
