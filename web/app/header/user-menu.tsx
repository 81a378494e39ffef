import { IconChevronDown, IconLogout, IconSettings, IconUser } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { confirmLeaving, hasUnsavedChanges } from '#web/forms/unsaved-changes.ts';
import { useSignOut } from '../../features/auth/sign-out.ts';
import { serverMessage } from '../../lib/api-client.ts';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { toastError } from '../../ui/toast.ts';
import classes from './header.module.css';

export function UserMenu({ username }: { username: string }) {
  const signOut = useSignOut();
  const navigate = useNavigate();
  const leave = async (close: () => void) => {
    if (hasUnsavedChanges()) {
      close();
      if (!(await confirmLeaving())) return;
    }
    signOut.mutate(undefined, {
      onError: (error) => toastError({ title: 'Error', message: serverMessage(error, 'Failed to sign out') }),
    });
  };
  return (
    <Menu
      buttonClassName={classes.user}
      tip={username}
      button={
        <>
          <IconUser size={18} className={classes.userIcon} aria-hidden />
          <span className={classes.username}>{username}</span>
          <IconChevronDown size={14} aria-hidden />
        </>
      }
    >
      {(close) => (
        <>
          <div className={classes.menuName} aria-hidden>
            {username}
          </div>
          <MenuItem
            icon={<IconSettings size={16} aria-hidden />}
            onSelect={() => {
              close();
              void navigate({ to: '/settings' });
            }}
          >
            Settings
          </MenuItem>
          <MenuItem
            icon={<IconLogout size={16} aria-hidden />}
            disabled={signOut.isPending}
            onSelect={() => void leave(close)}
          >
            Sign Out
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
