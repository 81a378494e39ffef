import { MantineContext } from '@mantine/core';
import { useColorScheme, useDisclosure } from '@mantine/hooks';
import {
  IconChevronDown,
  IconDeviceDesktop,
  IconHome,
  IconLogout,
  IconMenu2,
  IconMoon,
  IconRefresh,
  IconSettings,
  IconSun,
  IconUser,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, use } from 'react';
import { confirmLeaving, hasUnsavedChanges } from '#web/forms/unsaved-changes.ts';
import { useSignOut } from '../../features/auth/sign-out.ts';
import { EnvironmentBadge } from '../../features/environment/environment-badge.tsx';
import { useSession } from '../../lib/session.ts';
import { Brand } from '../../ui/brand.tsx';
import { ButtonLink, PlainLink } from '../../ui/link.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { toastFailure } from '../../ui/toast.ts';
import { isScreen, useNavigationPages } from '../navigation.ts';
import { PaletteButton } from '../palette/palette-button.tsx';
import classes from './header.module.css';

const NavigationDrawer = lazy(() => import('./navigation-drawer.tsx'));

export function Header() {
  const { user } = useSession();
  const [drawerOpened, drawer] = useDisclosure(false);
  const adminLink = (
    <ButtonLink to="/admin" variant="default" size="xs" onClick={drawer.close}>
      Admin
    </ButtonLink>
  );

  return (
    <header className={classes.header}>
      <button
        type="button"
        className={classes.burger}
        onClick={drawer.toggle}
        aria-label="Open navigation"
        aria-expanded={drawerOpened}
      >
        <IconMenu2 size={22} aria-hidden />
      </button>
      <PlainLink to="/" className={classes.logo} aria-label="Signal Board">
        <Brand />
      </PlainLink>
      <div className={classes.bar}>
        <nav className={classes.nav} aria-label="Main">
          <NavLinks />
        </nav>
        <div className={classes.right}>
          {user.isAdmin ? (
            <>
              <EnvironmentBadge />
              <span className={classes.wide}>{adminLink}</span>
            </>
          ) : null}
          <PaletteButton />
          <ColorSchemeToggle />
          <UserMenu username={user.username} />
        </div>
      </div>
      {drawerOpened ? (
        <Suspense fallback={null}>
          <NavigationDrawer onClose={drawer.close}>
            <NavLinks onFollow={drawer.close} />
            {user.isAdmin ? adminLink : null}
          </NavigationDrawer>
        </Suspense>
      ) : null}
    </header>
  );
}

/** The pages listed by the server, except Settings, which is in the user menu. */
function NavLinks({ onFollow }: { onFollow?: () => void }) {
  const pages = useNavigationPages();
  if (pages.isError && !pages.data) {
    return (
      <button type="button" className={classes.navRetry} onClick={() => void pages.refetch()}>
        <IconRefresh size={16} stroke={1.8} aria-hidden />
        Failed to fetch pages. Try again
      </button>
    );
  }
  return pages.data?.map(({ pageName, path, displayName, icon }) =>
    pageName === 'Settings' || !isScreen(path) ? null : (
      <PlainLink
        key={path}
        to={path}
        className={classes.navLink}
        activeOptions={{ exact: true, includeSearch: false }}
        activeProps={{ 'data-active': true }}
        {...(onFollow ? { onClick: onFollow } : {})}
      >
        {icon === 'Home' ? <IconHome size={16} stroke={1.8} aria-hidden /> : null}
        {displayName}
      </PlainLink>
    ),
  );
}

const COLOR_SCHEMES = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
] as const;

function ColorSchemeToggle() {
  // Mantine's own hook also disables transitions, through an inline <style>.
  const mantine = use(MantineContext);
  const ofSystem = useColorScheme('light', { getInitialValueInEffect: false });
  const chosen = mantine?.colorScheme;
  const shown = chosen === 'auto' ? ofSystem : chosen;
  return (
    <Menu
      label="Colour scheme"
      tip="Colour scheme"
      buttonClassName={classes.iconButton}
      button={shown === 'dark' ? <IconSun size={16} aria-hidden /> : <IconMoon size={16} aria-hidden />}
    >
      {(close) =>
        COLOR_SCHEMES.map(({ value, label, icon: Icon }) => (
          <MenuItem
            key={value}
            icon={<Icon size={16} aria-hidden />}
            checked={chosen === value}
            onSelect={() => {
              mantine?.setColorScheme(value);
              close();
            }}
          >
            {label}
          </MenuItem>
        ))
      }
    </Menu>
  );
}

function UserMenu({ username }: { username: string }) {
  const signOut = useSignOut();
  const navigate = useNavigate();
  const leave = async (close: () => void) => {
    if (hasUnsavedChanges()) {
      close();
      if (!(await confirmLeaving())) return;
    }
    signOut.mutate(undefined, {
      onError: (error) => toastFailure(error, 'Failed to sign out'),
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
