import { Menu, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconLogout, IconSettings, IconUser } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useSignOut } from '../../features/auth/sign-out.ts';
import { serverMessage } from '../../lib/api-client.ts';
import { toastError } from '../../ui/toast.ts';
import classes from './header.module.css';

export function UserMenu({ username }: { username: string }) {
  const signOut = useSignOut();
  const navigate = useNavigate();
  const leave = () =>
    signOut.mutate(undefined, {
      onError: (error) => toastError({ title: 'Error', message: serverMessage(error, 'Failed to sign out') }),
    });
  return (
    <Menu position="bottom-end" width={180}>
      <Menu.Target>
        <UnstyledButton className={classes.user} title={username}>
          <IconUser size={18} className={classes.userIcon} aria-hidden />
          <span className={classes.username}>{username}</span>
          <IconChevronDown size={14} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconSettings size={16} aria-hidden />}
          onClick={() => navigate({ to: '/settings' })}
        >
          Settings
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout size={16} aria-hidden />}
          closeMenuOnClick={false}
          disabled={signOut.isPending}
          onClick={leave}
        >
          Sign Out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
