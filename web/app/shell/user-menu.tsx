import { IconChevronDown } from '@tabler/icons-react';
import { lazy } from 'react';
import { useSignOut } from '../../features/auth/sign-out.ts';
import { Menu } from '../../ui/menu.tsx';
import classes from './user-menu.module.css';

const UserMenuItems = lazy(() => import('./user-menu-items.tsx'));

/** Where the bar is narrow, an initial stands for the name; the menu has it whole. */
export function UserMenu({ username }: { username: string }) {
  const signOut = useSignOut();
  return (
    <Menu
      buttonClassName={classes.button}
      tip={username}
      button={
        <>
          <span className={classes.initial} aria-hidden>
            {username.slice(0, 1)}
          </span>
          <span className={classes.name}>{username}</span>
          <IconChevronDown size={14} aria-hidden />
        </>
      }
    >
      {(close) => <UserMenuItems username={username} signOut={signOut} close={close} />}
    </Menu>
  );
}
