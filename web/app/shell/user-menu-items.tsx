import { IconLogout, IconSettings } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { confirmLeaving, hasUnsavedChanges } from '#web/forms/unsaved-changes.ts';
import type { useSignOut } from '../../features/auth/sign-out.ts';
import { MenuItem } from '../../ui/menu.tsx';
import { toastFailure } from '../../ui/toast.ts';
import classes from './user-menu.module.css';

interface UserMenuItemsProps {
  username: string;
  signOut: ReturnType<typeof useSignOut>;
  close: () => void;
}

export default function UserMenuItems({ username, signOut, close }: UserMenuItemsProps) {
  const navigate = useNavigate();
  const leave = async () => {
    if (hasUnsavedChanges()) {
      close();
      if (!(await confirmLeaving())) return;
    }
    signOut.mutate(undefined, {
      onError: (error) => toastFailure(error, 'Failed to sign out'),
    });
  };
  return (
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
        onSelect={() => void leave()}
      >
        Sign Out
      </MenuItem>
    </>
  );
}
