import { Button } from '@mantine/core';
import { type ComponentProps, useState } from 'react';
import { lazily } from './lazily.tsx';
import classes from './user-picker.module.css';
import type { UserSearchProps } from './user-search.tsx';

const UserSearch = lazily(() => import('./user-search.tsx'));

interface UserPickerProps<User> extends Omit<UserSearchProps<User>, 'autoFocus'> {
  /** Without a chosen user the list is open. */
  userId: string | undefined;
}

/** Picks any user, by click or by part of the name. */
export function UserPicker<User extends { id: string; username: string }>(props: UserPickerProps<User>) {
  const { users, userId, onChoose, badges } = props;
  const [changing, setChanging] = useState(false);
  if (userId === undefined) {
    const search = { users, onChoose, badges, autoFocus: changing };
    // A lazy component is not generic: each user comes back as it was given.
    return <UserSearch {...(search as unknown as ComponentProps<typeof UserSearch>)} />;
  }
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
