import { useDisclosure } from '@mantine/hooks';
import { IconMenu2 } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { EnvironmentBadge } from '../../features/environment/environment-badge.tsx';
import { useSession } from '../../lib/session.ts';
import { Brand } from '../../ui/brand.tsx';
import { ButtonLink, PlainLink } from '../../ui/link.tsx';
import { PaletteButton } from '../palette/palette-button.tsx';
import { ColorSchemeToggle } from './color-scheme-toggle.tsx';
import classes from './header.module.css';
import { NavLinks } from './nav-links.tsx';
import { UserMenu } from './user-menu.tsx';

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
